"""The addresses of the state API. Thin: who may ask, what is asked, which function below answers."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, JsonResponse
from django.utils import timezone
from ninja import Body, NinjaAPI, Query

from omniroute_site.api import errors, schemas
from omniroute_site.api.access import Access, asker, operator, reader
from omniroute_site.api.requestlog import request_detail
from resilience import actions, shapes, status
from resilience.registry import get_registry
from routing import table
from routing.explain import explain
from routing.live import live
from routing.models import Connection, Provider

View = TypeVar("View", bound=Callable[..., Any])

api = NinjaAPI(
    title="OmniRoute state API",
    version="1",
    description="What the circuit breakers, cooldowns and lockouts hold, and the operator's actions on them.",
    urls_namespace="api",
    docs_url="/docs",
)
errors.install(api)


def endpoint(method: str, path: str, access: Access, answer: Any, *, tags: str) -> Callable[[View], View]:
    """Register a view under `path` and, undocumented, under the same without its last slash."""

    def register(view: View) -> View:
        answers = {200: answer, frozenset({401, 403, 404, 422, 429}): schemas.Error}
        api.api_operation([method], path, auth=access, response=answers, tags=[tags])(view)
        api.api_operation([method], path.rstrip("/"), auth=access, include_in_schema=False)(view)
        return view

    return register


@endpoint("GET", "/resilience/", reader, shapes.Snapshot, tags="state")
def state(request: HttpRequest) -> JsonResponse:
    """Every breaker, and the cooldowns and lockouts in force. A read never changes anything."""
    return JsonResponse(status.snapshot(timezone.now()))


@endpoint("GET", "/resilience/breakers/{provider}/", reader, shapes.BreakerDetail, tags="state")
def breaker(request: HttpRequest, provider: str) -> JsonResponse:
    """One breaker with its last 50 transitions."""
    return _breaker(provider)


@endpoint("POST", "/resilience/breakers/{provider}/reset/", operator, shapes.BreakerDetail, tags="actions")
def reset(request: HttpRequest, provider: str, payload: schemas.BreakerAction) -> JsonResponse:
    """Close the breaker with zero counts."""
    actions.reset(_known(provider), actor=asker(request), reason=payload.reason)
    return _breaker(provider)


@endpoint("POST", "/resilience/breakers/{provider}/force-open/", operator, shapes.BreakerDetail, tags="actions")
def force_open(request: HttpRequest, provider: str, payload: schemas.BreakerAction) -> JsonResponse:
    """Hold the breaker open: every request skips the provider."""
    actions.force_open(_known(provider), actor=asker(request), reason=payload.reason, duration=_span(payload.duration))
    return _breaker(provider)


@endpoint("POST", "/resilience/breakers/{provider}/force-close/", operator, shapes.BreakerDetail, tags="actions")
def force_close(request: HttpRequest, provider: str, payload: schemas.BreakerAction) -> JsonResponse:
    """Hold the breaker closed: requests go to the provider whatever it answers."""
    actions.force_close(_known(provider), actor=asker(request), reason=payload.reason, duration=_span(payload.duration))
    return _breaker(provider)


@endpoint("POST", "/resilience/breakers/{provider}/unforce/", operator, shapes.BreakerDetail, tags="actions")
def unforce(request: HttpRequest, provider: str, payload: schemas.BreakerAction) -> JsonResponse:
    """End a hold; the breaker is then CLOSED with zero counts."""
    actions.unforce(_known(provider), actor=asker(request), reason=payload.reason)
    return _breaker(provider)


@endpoint("POST", "/resilience/cooldowns/clear/", operator, shapes.Snapshot, tags="actions")
def clear_cooldown(request: HttpRequest, payload: schemas.CooldownAction) -> JsonResponse:
    """End a connection's cooldown now; answers the state."""
    _known(payload.provider, payload.connection)
    actions.clear_cooldown(payload.provider, payload.connection, actor=asker(request), reason=payload.reason)
    return state(request)


@endpoint("POST", "/resilience/lockouts/unlock/", operator, shapes.Snapshot, tags="actions")
def unlock(request: HttpRequest, payload: schemas.PairAction) -> JsonResponse:
    """End the lockout of a (connection, model) now; answers the state."""
    _known(payload.provider, payload.connection)
    actions.unlock(payload.pair, actor=asker(request), reason=payload.reason)
    return state(request)


@endpoint("POST", "/resilience/lockouts/lock/", operator, shapes.Snapshot, tags="actions")
def lock(request: HttpRequest, payload: schemas.LockAction) -> JsonResponse:
    """Lock a (connection, model); answers the state."""
    _known(payload.provider, payload.connection)
    actions.lock(payload.pair, actor=asker(request), reason=payload.reason, duration=_span(payload.duration))
    return state(request)


@endpoint("GET", "/events/", reader, list[shapes.EventData], tags="history")
def events(request: HttpRequest, page: Query[schemas.EventsPage]) -> JsonResponse:
    """Every transition, cooldown, lockout and operator action after an id, oldest first."""
    return JsonResponse(status.events_after(page.after, page.limit), safe=False)


@endpoint("GET", "/requests/{request_id}/", reader, dict[str, Any], tags="history")
def one_request(request: HttpRequest, request_id: str) -> JsonResponse:
    """One request with all its attempts and skips. Rows are written in batches, within a second."""
    return JsonResponse(request_detail(request_id))


@endpoint("POST", "/explain/", reader, schemas.Explanation, tags="state")
def explain_request(request: HttpRequest, payload: Body[dict[str, Any]]) -> JsonResponse:
    """The ordered targets of a chat body and what would stop each. Nothing is called, nothing changes."""

    async def on_the_loop() -> dict[str, Any]:
        # the registry and the live counters belong to the event loop; this view runs in a thread beside it
        return explain(payload, table.current(), get_registry(), live, timezone.now())

    return JsonResponse(async_to_sync(on_the_loop)())


def _breaker(provider: str) -> JsonResponse:
    try:
        return JsonResponse(status.breaker_detail(provider, timezone.now()))
    except status.UnknownProviderError:
        raise Http404(f"There is no provider {provider!r}.") from None


def _known(provider: str, connection: str | None = None) -> str:
    """The provider's slug; raises Http404 for names that are not configured, so that a typo is not obeyed."""
    if not Provider.objects.filter(slug=provider).exists():
        raise Http404(f"There is no provider {provider!r}.")
    if connection is not None and not Connection.objects.filter(provider__slug=provider, slug=connection).exists():
        raise Http404(f"Provider {provider!r} has no connection {connection!r}.")
    return provider


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
