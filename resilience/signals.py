"""The one signal of this floor, for code that embeds the app."""

from django.dispatch import Signal

resilience_event = Signal()
"""Sent after the commit of each event with `event` (a dataclass of `resilience.core.events`) and `row` (its
`ResilienceEvent`). Receivers run in the thread that wrote the state and must be quick; what they raise is logged."""
