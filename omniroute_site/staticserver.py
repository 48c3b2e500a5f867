"""Static files straight from the apps' folders, under ASGI, with no collectstatic and no web server in front."""

from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from servestatic import ServeStaticASGI

MAX_AGE = 60  # s; names carry no hash, so a deployed change must show soon


def with_static_files(application: Any) -> Any:
    """Answer `STATIC_URL` from what Django's finders find; pass everything else to `application`.

    With DEBUG on, files are looked up at each request, so that an edit shows without a restart.
    """
    server = ServeStaticASGI(
        application,
        autorefresh=settings.DEBUG,
        max_age=0 if settings.DEBUG else MAX_AGE,
        allow_all_origins=False,
        add_headers_function=_add_headers,
    )
    locations = dict.fromkeys(
        storage.location for finder in finders.get_finders() for _, storage in finder.list([]) if storage is not None
    )
    for location in reversed(locations):  # the last one added wins; the first finder should
        server.add_files(location, prefix=settings.STATIC_URL)
    return server


def _add_headers(headers: Any, path: str, url: str) -> None:
    del path, url
    headers["X-Content-Type-Options"] = "nosniff"
