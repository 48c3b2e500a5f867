"""The ASGI application: `/v1` and health go to the proxy, everything else to Django.

    http ──► Front ──┬─ /v1/…  /healthz  /readyz ──► routing.proxy     no middleware, no thread, no ORM
                     ├─ /static/…               ──► files
                     └─ the rest                ──► Django             pages, admin, state API, metrics
    websocket ──► allowed origin ──► session ──► consumers
    lifespan ──► background

uvicorn (`manage.py serve`) and daphne (`runserver`, `daphne omniroute_site.asgi:application`) both run it.
"""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omniroute_site.settings")
django_application = get_asgi_application()

# Django must be set up before anything that imports models
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from omniroute_site import background
from omniroute_site.dashboard.consumers import websocket_urlpatterns
from omniroute_site.front import Front, Lifespan, WebSocketFront
from omniroute_site.roles import Role
from omniroute_site.staticserver import with_static_files
from routing import proxy


def build_application(role: Role) -> ProtocolTypeRouter:
    """The whole application as far as a process of this role serves it."""
    background.serve_as(role)
    pages: Any = ProxyHeadersMiddleware(with_static_files(django_application), settings.FORWARDED_ALLOW_IPS)
    sockets: Any = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
    return ProtocolTypeRouter(
        {
            "http": Front(role, proxy=proxy.application, pages=pages),
            "websocket": WebSocketFront(role, sockets),
            "lifespan": Lifespan(),
        }
    )


application = build_application(Role.ALL)
