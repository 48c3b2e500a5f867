"""Binding the address, before anything else is started, so that a taken port is one clear line."""

import socket

BACKLOG = 2048


class CannotListenError(Exception):
    """The address cannot be had; the message is for people."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on host and port (0: any free one).

    Raises CannotListenError. Listening at once and not only binding: two processes may bind the same address, and
    only the second `listen` would tell.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CannotListenError(f"cannot listen on {host}:{port}: {reason}") from error
    sock.setblocking(False)  # noqa: FBT003 (the standard library's signature)
    return sock


def url(host: str, sock: socket.socket) -> str:
    """`http://host:port` as clients would write it."""
    port = sock.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
