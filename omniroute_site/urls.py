"""Pages, state API and admin; `/v1` never comes here (see asgi.py)."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from omniroute_site.api.routes import api
from omniroute_site.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("metrics", metrics, name="metrics"),
    path("", include("omniroute_site.dashboard.urls")),
]
