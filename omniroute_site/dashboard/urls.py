"""Addresses of the console's pages. The account pages keep Django's names, which settings and admin refer to."""

from django.contrib.auth import views as account
from django.urls import URLPattern, URLResolver, include, path

from omniroute_site.dashboard.views import (
    acts,
    board,
    chain_editor,
    chains,
    events,
    explain,
    keys,
    lockouts,
    patterns,
    processes,
    requests,
)

pages = [
    path("", board.board, name="board"),
    path("live/<slug:page>/", board.live, name="live"),
    path("acts/", acts.acts, name="acts"),
    path("act/", acts.act, name="act"),
    path("chains/", chains.chains, name="chains"),
    path("chains/new/", chain_editor.new_chain, name="new-chain"),
    path("chains/<int:chain_id>/", chain_editor.chain, name="chain"),
    path("requests/", requests.requests, name="requests"),
    path("requests/newer/", requests.newer, name="requests-newer"),
    path("requests/<uuid:request_id>/", requests.one_request, name="request"),
    path("explain/", explain.explain, name="explain"),
    path("lockouts/", lockouts.lockouts, name="lockouts"),
    path("lockouts/lock/", lockouts.lock, name="lock"),
    path("events/", events.events, name="events"),
    path("events/csv/", events.events_csv, name="events-csv"),
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", keys.create, name="create-key"),
    path("keys/<int:key_id>/", keys.act, name="key"),
    path("processes/", processes.processes, name="processes"),
    path("patterns/", patterns.patterns, name="patterns"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include((pages, "dashboard"))),
    path(
        "login/",
        account.LoginView.as_view(template_name="dashboard/account/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", account.LogoutView.as_view(), name="logout"),
    path(
        "password/",
        account.PasswordChangeView.as_view(template_name="dashboard/account/password.html"),
        name="password_change",
    ),
    path(
        "password/done/",
        account.PasswordChangeDoneView.as_view(template_name="dashboard/account/password_done.html"),
        name="password_change_done",
    ),
]
