from tests.routing.engine.conftest import gateway

__all__ = ["gateway"]
