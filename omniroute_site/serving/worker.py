"""One of several workers: `python -m omniroute_site.serving.worker ROLE LISTENER TETHER`.

LISTENER is the inherited listening socket. TETHER is a socket pair to the supervisor: one byte says "ready", and its
closing means that the supervisor is gone, however it died, and that this worker must go too.
"""

import asyncio
import socket
import sys

from omniroute_site.roles import Role
from omniroute_site.serving.server import DrainingServer, run


def main(role: str, listener: str, tether: str) -> int:
    """Serve until told to stop or left alone."""
    from omniroute_site.asgi import build_application  # sets Django up, which an import of this module should not

    leash = socket.socket(fileno=int(tether))
    leash.setblocking(False)  # noqa: FBT003 (the standard library's signature)

    def ready(server: DrainingServer) -> None:
        def left_alone() -> None:
            asyncio.get_running_loop().remove_reader(leash)
            server.should_exit = True

        asyncio.get_running_loop().add_reader(leash, left_alone)
        leash.send(b"r")

    ok = run(build_application(Role(role)), socket.socket(fileno=int(listener)), on_ready=ready)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
