"""Who may see a page and who may act: checked inside every view, since a partial can be fetched alone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from omniroute_site import people

P = ParamSpec("P")
User = AbstractBaseUser | AnonymousUser


class ConsoleRequest(HttpRequest):
    """A request that passed the middleware of this site; its user is logged in behind the decorators below."""

    htmx: HtmxDetails
    user: User  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a page. Templates draw controls for a viewer, and empty places for them without one."""

    name: str
    may_operate: bool
    may_configure: bool
    may_issue_keys: bool


View = Callable[Concatenate[ConsoleRequest, P], HttpResponseBase]
Guarded = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def viewer_of(user: User) -> Viewer:
    """What this person may do."""
    return Viewer(
        name=user.get_username(),
        may_operate=people.may_operate(user),
        may_configure=people.may_configure(user),
        may_issue_keys=people.may_issue_keys(user),
    )


def may_see(user: User) -> bool:
    """Whether this person may look at the console at all."""
    return user.is_authenticated and bool(user.is_active) and people.may_read(user)


def for_viewers(view: View[P]) -> Guarded[P]:
    """Let in who may see; others to the login page, or away."""
    return _only(may_see, view)


def for_operators(view: View[P]) -> Guarded[P]:
    """Let in who may act on circuits."""
    return _only(lambda user: may_see(user) and people.may_operate(user), view)


def for_configurers(view: View[P]) -> Guarded[P]:
    """Let in who may edit chains."""
    return _only(lambda user: may_see(user) and people.may_configure(user), view)


def for_key_issuers(view: View[P]) -> Guarded[P]:
    """Let in who may make, switch and delete client keys."""
    return _only(lambda user: may_see(user) and people.may_issue_keys(user), view)


def for_staff(view: View[P]) -> Guarded[P]:
    """Let in who may use the admin."""
    return _only(lambda user: may_see(user) and bool(getattr(user, "is_staff", False)), view)


def _only(allowed: Callable[[User], bool], view: View[P]) -> Guarded[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        console: ConsoleRequest = request  # type: ignore[assignment]
        if not console.user.is_authenticated:
            return _to_login(console)
        if not allowed(console.user):
            raise PermissionDenied
        return view(console, *args, **kwargs)

    return guarded


def _to_login(request: ConsoleRequest) -> HttpResponse:
    """To the login page and back; an expired login on an open page moves the whole page, not the part asked for."""
    if not request.htmx:
        return redirect_to_login(request.get_full_path())
    here = urlsplit(request.htmx.current_url_abs_path or "/")
    login = redirect_to_login(here.path, resolve_url(settings.LOGIN_URL))
    return HttpResponseClientRedirect(login["Location"])
