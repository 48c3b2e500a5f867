"""What a process serves: everything, only traffic, or only people."""

from enum import StrEnum


class Role(StrEnum):
    """`serve --role`: proxies and dashboards apart, so that pages never compete with traffic."""

    ALL = "all"
    PROXY = "proxy"  # /v1, health, metrics, state API
    DASHBOARD = "dashboard"  # everything but /v1

    def serves(self, path: str) -> bool:
        """Whether a process of this role answers this path itself."""
        if is_traffic(path):
            return self is not Role.DASHBOARD
        if self is Role.PROXY:
            # the state API's documentation page needs its script and style
            return path.startswith(("/api/", "/metrics", "/static/ninja/"))
        return True


def is_traffic(path: str) -> bool:
    """Whether this is what apps call."""
    return path.startswith("/v1/") or path == "/v1"
