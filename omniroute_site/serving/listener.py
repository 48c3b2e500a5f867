"""Binding the address, before anything else is started, so that a taken port is one clear line."""

import socket

BACKLOG = 2048
UNREAD_FOR = 60.0  # s that a client may take no byte of what it is sent; RESILIENCE section 8's write deadline


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
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # Accepted sockets inherit it. Without it a client that stops reading keeps its socket for as long as it
            # likes: closing waits until the last byte is taken.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_FOR * 1000))
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
