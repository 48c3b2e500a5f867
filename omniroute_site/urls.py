"""Pages, state API and admin; `/v1` never comes here (see asgi.py)."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

urlpatterns: list[URLPattern | URLResolver] = [path("admin/", admin.site.urls)]
