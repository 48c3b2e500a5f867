"""What operators can do to a circuit: one table, read by the buttons, the forms and the view that acts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from omniroute_site.dashboard.forms import AskForm, HoldForm, LockForm
from omniroute_site.dashboard.rows import dom_id, slashed
from resilience import actions
from resilience.core.permit import Pair
from routing import edits


class Scope(StrEnum):
    """What a button belongs to."""

    PROVIDER = "provider"
    CONNECTION = "connection"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Target:
    """The thing acted upon; what does not apply is empty."""

    provider: str
    connection: str = ""
    model: str = ""

    @property
    def key(self) -> str:
        """The element id its controls are known by."""
        return dom_id(*filter(None, (self.provider, self.connection, self.model)))

    @property
    def scope(self) -> Scope:
        """Whose controls these are."""
        if self.model:
            return Scope.PAIR
        return Scope.CONNECTION if self.connection else Scope.PROVIDER

    def __str__(self) -> str:
        return slashed(self.provider, self.connection, self.model)


Run = Callable[[Target, str, Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to do: its button, what the form says and asks, and what it calls."""

    name: str
    button: str
    submit: str
    scope: Scope
    form: type[AskForm]
    says: str
    run: Run
    when: str = ""
    """`open`, `forced`, `unforced`, `cooling`, `enabled` or `disabled`: when the button is of use; empty, always."""
    configures: bool = False
    """Whether it changes the configuration, which is a permission of its own."""


def _lock(target: Target, actor: str, given: Mapping[str, Any]) -> object:
    pair = Pair(target.provider, given["connection"], given["model"])
    return actions.lock(pair, actor=actor, reason=given["reason"], duration=given["duration"])


_TABLE = (
    Act(
        name="unforce",
        button="Release…",
        submit="Release",
        scope=Scope.PROVIDER,
        form=AskForm,
        says="is released: closed, with zero counts, deciding by itself again.",
        when="forced",
        run=lambda target, actor, given: actions.unforce(target.provider, actor=actor, reason=given["reason"]),
    ),
    Act(
        name="reset",
        button="Reset…",
        submit="Reset",
        scope=Scope.PROVIDER,
        form=AskForm,
        says="is closed with zero counts and takes calls at once.",
        when="unforced",
        run=lambda target, actor, given: actions.reset(target.provider, actor=actor, reason=given["reason"]),
    ),
    Act(
        name="probe",
        button="Probe now…",
        submit="Probe now",
        scope=Scope.PROVIDER,
        form=AskForm,
        says="waits no longer: the next request for it is the probe.",
        when="open",
        run=lambda target, actor, given: actions.probe_now(target.provider, actor=actor, reason=given["reason"]),
    ),
    Act(
        name="force-open",
        button="Hold open…",
        submit="Hold open",
        scope=Scope.PROVIDER,
        form=HoldForm,
        says="gets no call until it is released.",
        run=lambda target, actor, given: actions.force_open(
            target.provider, actor=actor, reason=given["reason"], duration=given["duration"]
        ),
    ),
    Act(
        name="force-close",
        button="Hold closed…",
        submit="Hold closed",
        scope=Scope.PROVIDER,
        form=HoldForm,
        says="gets every call, whatever fails, until it is released.",
        run=lambda target, actor, given: actions.force_close(
            target.provider, actor=actor, reason=given["reason"], duration=given["duration"]
        ),
    ),
    Act(
        name="lock",
        button="Lock…",
        submit="Lock",
        scope=Scope.PROVIDER,
        form=LockForm,
        says="is not asked for this model on this connection.",
        run=_lock,
    ),
    Act(
        name="clear-cooldown",
        button="Clear cooldown…",
        submit="Clear cooldown",
        scope=Scope.CONNECTION,
        form=AskForm,
        says="is used again at once.",
        when="cooling",
        run=lambda target, actor, given: actions.clear_cooldown(
            target.provider, target.connection, actor=actor, reason=given["reason"]
        ),
    ),
    Act(
        name="disable",
        button="Disable…",
        submit="Disable",
        scope=Scope.CONNECTION,
        form=AskForm,
        says="gets no call until it is enabled again.",
        when="enabled",
        configures=True,
        run=lambda target, actor, given: edits.switch_connection(
            target.provider, target.connection, enabled=False, actor=actor, reason=given["reason"]
        ),
    ),
    Act(
        name="enable",
        button="Enable…",
        submit="Enable",
        scope=Scope.CONNECTION,
        form=AskForm,
        says="is called again.",
        when="disabled",
        configures=True,
        run=lambda target, actor, given: edits.switch_connection(
            target.provider, target.connection, enabled=True, actor=actor, reason=given["reason"]
        ),
    ),
    Act(
        name="unlock",
        button="Unlock…",
        submit="Unlock",
        scope=Scope.PAIR,
        form=AskForm,
        says="is used again at once, its failures forgotten.",
        run=lambda target, actor, given: actions.unlock(
            Pair(target.provider, target.connection, target.model), actor=actor, reason=given["reason"]
        ),
    ),
)

ACTS: Mapping[str, Act] = MappingProxyType({act.name: act for act in _TABLE})


def acts_of(scope: Scope) -> tuple[Act, ...]:
    """The buttons of a provider, a connection or a pair, in order."""
    return tuple(act for act in _TABLE if act.scope is scope)
