"""The last resort: one target, tried once, with capped output, when the chain is exhausted by infrastructure."""

from resilience.core.kinds import Kind
from routing.chains import NO_FACTS, Target
from routing.job import Job

NOT_INFRASTRUCTURE = frozenset({Kind.INVALID_REQUEST, Kind.CONTENT_FILTER, Kind.CONTEXT_LENGTH})


def emergency_target(job: Job) -> Target | None:
    """The emergency target, if this request may have it."""
    settings = job.table.settings.emergency
    provider = job.table.providers.get(settings.provider)
    if not settings.enabled or provider is None or job.route.direct:
        return None
    if settings.skip_tool_requests and job.request.has_tools:
        return None
    if any(failure.kind in NOT_INFRASTRUCTURE for _, failure in job.journal.failures):
        return None
    connection = next((connection for connection in provider.connections if connection.usable), None)
    if connection is None:
        return None
    return Target(
        provider=provider,
        connection=connection,
        model=settings.model,
        facts=job.table.facts.get((provider.slug, settings.model), NO_FACTS),
        enabled=provider.enabled,
        emergency=True,
    )
