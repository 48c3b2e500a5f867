"""The stock admin of the routing rows. Secrets go in and never come out."""

from routing.admin import chain, key, log, provider, settings, unmatched

__all__ = ["chain", "key", "log", "provider", "settings", "unmatched"]
