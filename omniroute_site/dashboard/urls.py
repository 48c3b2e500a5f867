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
    kinds,
    lockouts,
    patterns,
    processes,
    provider_editor,
    providers,
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
    path("providers/", providers.providers, name="providers"),
    path("providers/_new/", provider_editor.new_provider, name="new-provider"),  # no slug has an underscore
    path("providers/<slug:slug>/", providers.provider, name="provider"),
    path("providers/<slug:slug>/settings/", provider_editor.settings, name="provider-settings"),
    path("providers/<slug:slug>/switch/", providers.switch, name="provider-switch"),
    path("providers/<slug:slug>/connections/_new/", provider_editor.new_connection, name="new-connection"),
    path("providers/<slug:slug>/connections/<slug:connection>/", provider_editor.connection, name="connection"),
    path("providers/<slug:slug>/connections/<slug:connection>/trial/", providers.trial, name="trial"),
    path("providers/<slug:slug>/rules/_new/", kinds.new_rule, name="new-rule"),
    path("providers/<slug:slug>/rules/<int:number>/", kinds.rule, name="rule"),
    path("kinds/", kinds.kinds, name="kinds"),
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
