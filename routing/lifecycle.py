"""Whether this process still takes requests. One flag per process, set once, on SIGTERM."""

_draining = False


def begin_drain() -> None:
    """From now on new requests are refused with 503 `draining`; running ones go on."""
    global _draining  # noqa: PLW0603 (the process has one life)
    _draining = True


def draining() -> bool:
    """True between SIGTERM and the end."""
    return _draining


def reset() -> None:
    """Undo `begin_drain`, for a process that serves again (tests)."""
    global _draining  # noqa: PLW0603 (as above)
    _draining = False
