"""The rows of the routing floor: what to call, who may call us, what happened."""

from routing.models.chain import FallbackChain, FallbackEntry, Strategy
from routing.models.key import ClientKey, Scope
from routing.models.log import Outcome, RequestLog
from routing.models.process import ServingProcess
from routing.models.provider import RULE_KINDS, Connection, ErrorRule, Format, Provider, StreamRescue, UpstreamModel
from routing.models.settings import GatewaySettings, OnContentFilter, TableVersion
from routing.models.unmatched import UnmatchedError

__all__ = [
    "RULE_KINDS",
    "ClientKey",
    "Connection",
    "ErrorRule",
    "FallbackChain",
    "FallbackEntry",
    "Format",
    "GatewaySettings",
    "OnContentFilter",
    "Outcome",
    "Provider",
    "RequestLog",
    "Scope",
    "ServingProcess",
    "Strategy",
    "StreamRescue",
    "TableVersion",
    "UnmatchedError",
    "UpstreamModel",
]
