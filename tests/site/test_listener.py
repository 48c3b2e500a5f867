"""The listening socket."""

import socket

from omniroute_site.serving.listener import UNREAD_FOR, listen


def test_the_kernel_drops_clients_that_stop_reading() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        listening.setblocking(True)
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNREAD_FOR * 1000
