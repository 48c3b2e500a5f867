"""Who would be asked, and why not the others: the serving code itself, with nothing called and nothing changed."""

import random
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from resilience.core.permit import NEEDS_LEASE, Refusal
from resilience.livecopy import LiveCopy
from routing import gate
from routing.adapters.base import ClientRequest
from routing.chains import Target, resolve, targets
from routing.dialects.chat import ChatCompletions
from routing.errors import GatewayError, invalid_request
from routing.journal import seconds_until
from routing.live import Live
from routing.strategies import Surroundings
from routing.table import RoutingTable


def explain(
    body: Mapping[str, Any],
    table: RoutingTable,
    registry: LiveCopy,
    traffic: Live,
    now: datetime,
    *,
    seed: int | None = None,
    request: ClientRequest | None = None,
) -> dict[str, Any]:
    """The targets for `body["model"]` in order, each admitted or with the gate that is shut.

    Runs on the event loop, which owns the registry; of a copy (`routing.what_if`) anywhere. The same `seed` draws the
    same order again, where a strategy draws one. Raises GatewayError 400 without a model, 404 `model_not_found`.
    """
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise invalid_request("`model` must name a chain or `provider/model`.", "model")
    route = resolve(table, model)
    untouched = traffic.looked_at()
    around = Surroundings(route.name, registry, untouched, table.facts, random.Random(seed), time.monotonic())  # noqa: S311
    return {
        "model": model,
        "chain": None if route.direct else route.name,
        "strategy": route.strategy,
        "targets": [
            _target(target, registry, untouched, now) | (_translated(target, request) if request else {})
            for target in targets(route, table, around)
        ],
    }


def _target(target: Target, registry: LiveCopy, traffic: Live, now: datetime) -> dict[str, Any]:
    verdict = gate.check(target, registry, traffic, now)
    until = verdict.until if isinstance(verdict, Refusal) else None
    return {
        "provider": target.provider.slug,
        "connection": target.connection.slug,
        "model": target.model,
        "admitted": not isinstance(verdict, Refusal),
        "probe": verdict is NEEDS_LEASE,
        "reason": verdict.reason.value if isinstance(verdict, Refusal) else None,
        "problem": target.connection.problem or None,
        "until": until.isoformat() if until else None,
        "retry_after": seconds_until(until, now) if until else None,
    }


def _translated(target: Target, request: ClientRequest) -> dict[str, Any]:
    """What the translation leaves out, and why it refuses: then the request ends there, with 400."""
    try:
        exchange = ChatCompletions().pair(request, target, None)
        exchange.request()
    except GatewayError as error:
        return {"dropped": (), "refused": error.message}
    return {"dropped": tuple(exchange.dropped_params), "refused": ""}
