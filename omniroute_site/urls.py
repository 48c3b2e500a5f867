"""Pages, state API and admin; `/v1` never comes here (see asgi.py)."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [path("admin/", admin.site.urls)]
# temporary, until the other floors are there
if find_spec("resilience.status") and find_spec("routing.explain") and find_spec("routing.telemetry"):
    from omniroute_site.api.routes import api
    from omniroute_site.metrics import metrics

    urlpatterns += [path("api/", api.urls), path("metrics", metrics, name="metrics")]
if find_spec("omniroute_site.dashboard.urls"):
    urlpatterns += [path("", include("omniroute_site.dashboard.urls"))]
