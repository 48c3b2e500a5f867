"""A chat completions request as one for Anthropic's Messages API."""

from collections.abc import Sequence
from typing import Any

from resilience.core.error_rules import ErrorFormat
from routing.adapters import anthropic_blocks as blocks
from routing.adapters.anthropic_models import Generation, generation
from routing.adapters.anthropic_schema import closed_schema
from routing.adapters.base import ClientRequest
from routing.adapters.conversation import Call, Conversation, read_conversation
from routing.adapters.limits import number, output_limit, stops
from routing.adapters.parameters import Sifted, sift
from routing.adapters.parts import Text
from routing.adapters.response_format import JSON_OBJECT, ResponseFormat, read_response_format
from routing.adapters.thinking import budget_within, effort, effort_member
from routing.adapters.tools import Tool, ToolUse, read_tools
from routing.chains import Target
from routing.errors import invalid_request

# Anthropic wants a number. Every Claude since 3 can do the first; those that think unasked need the second, as
# thoughts count, and can do more still
DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS_THINKING = 4096, 16384
MAX_USER_ID = 256  # characters
JSON_INSTRUCTION = "Answer with one JSON object and nothing else."
BUDGETS = {"minimal": 1024, "low": 1024, "medium": 4096, "high": 16384, "xhigh": 32000, "max": 32000}  # tokens
TOOL_CHOICES = {"auto": "auto", "required": "any", "named": "tool", "none": "none"}


class MessagesRequest(Sifted):
    """Builds `document` for one target; what did not fit is in `dropped`. Raises GatewayError 400."""

    def __init__(self, client: ClientRequest, target: Target, output_cap: int | None) -> None:
        self.dropped = sift(client.body, ErrorFormat.ANTHROPIC)
        self._client = client.body
        self._target = target
        self._generation = generation(target.model, target.facts)
        conversation = read_conversation(client.body["messages"])
        use = read_tools(client.body)
        limit = output_limit(client.body, target.facts, output_cap)
        self.document: dict[str, Any] = {
            "model": target.model,
            "max_tokens": limit or target.facts.max_output_tokens or self._default_limit,
            "messages": blocks.messages(conversation.turns),
        }
        if client.stream:
            self.document["stream"] = True
        self._add_format(conversation.system)
        self._add_tools(use, conversation)
        self._add_thinking(limit, use, conversation)
        self._add_sampling()
        self._add_stops()
        self._add_user()

    @property
    def _default_limit(self) -> int:
        return DEFAULT_MAX_TOKENS_THINKING if self._generation.adaptive else DEFAULT_MAX_TOKENS

    def _add_format(self, system: Sequence[Text]) -> None:
        wanted: ResponseFormat | None = read_response_format(self._client)
        if wanted is JSON_OBJECT:
            system = [*system, Text(JSON_INSTRUCTION)]
            self.drop("response_format")
        elif wanted is not None:
            schema = closed_schema(wanted.schema)
            self.document["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if system:
            self.document["system"] = [blocks.text_block(text) for text in system]

    def _add_tools(self, use: ToolUse, conversation: Conversation) -> None:
        tools, mode = use.tools, use.mode
        if not tools:
            tools, mode = _tools_called(conversation), "none"
        if not tools:
            return
        self.document["tools"] = [_tool(tool) for tool in tools]
        choice: dict[str, Any] = {"type": TOOL_CHOICES[mode]}
        if mode == "named":
            choice["name"] = use.name
        if mode != "none" and self._client.get("parallel_tool_calls") is False:
            choice["disable_parallel_tool_use"] = True
        if len(choice) > 1 or mode != "auto":
            self.document["tool_choice"] = choice
        if use.strict:
            self.drop("tools.function.strict")

    def _add_thinking(self, limit: int | None, use: ToolUse, conversation: Conversation) -> None:
        wanted = effort(self._client)
        if wanted is None:
            return
        if wanted == "none":
            self._think_not()
            return
        forced = use.mode in ("required", "named")  # Anthropic refuses to think before a tool it must call
        if not self._generation.thinks:
            self.drop(effort_member(self._client))
        elif self._generation.adaptive:
            self._think_adaptively(wanted, forced=forced)
        elif forced or conversation.in_tool_loop or conversation.turns[-1].role == "assistant":
            self.drop(
                effort_member(self._client)
            )  # going on after a call needs the thoughts before it, which chat completions lose
        else:
            self._think_within(BUDGETS[wanted], limit)

    def _think_not(self) -> None:
        """Who thinks unasked is told not to, if that is possible."""
        if self._generation.always_thinks:
            self.drop(effort_member(self._client))
        elif self._generation.thinks_unasked:
            self.document["thinking"] = {"type": "disabled"}

    def _think_adaptively(self, wanted: str, *, forced: bool) -> None:
        levels = {"minimal": "low", "xhigh": "xhigh" if self._generation.effort_xhigh else "max"}
        self.document.setdefault("output_config", {})["effort"] = levels.get(wanted, wanted)
        if forced:
            self.drop(effort_member(self._client))
            return
        shown = {"display": "summarized"} if self._generation.hides_thoughts else {}
        self.document["thinking"] = {"type": "adaptive", **shown}

    def _think_within(self, wanted: int, limit: int | None) -> None:
        limit = limit or self._target.facts.max_output_tokens
        budget = budget_within(wanted, limit)
        if budget is None:
            self.drop(effort_member(self._client))
            return
        self.document["thinking"] = {"type": "enabled", "budget_tokens": budget}
        if limit is None:
            self.document["max_tokens"] += budget

    def _add_sampling(self) -> None:
        given = {name: number(self._client, name) for name in ("temperature", "top_p", "top_k")}
        wanted = {name: value for name, value in given.items() if value is not None}
        if "thinking" in self.document or not self._generation.samples:
            for name, value in wanted.items():
                if value != 1:  # 1 is the default of both
                    self.drop(name)
            return
        _one_sampler(self._generation, wanted)
        if wanted.get("temperature", 0) > 1:
            wanted["temperature"] = 1.0
            self.drop("temperature")
        if "top_p" not in wanted and given["top_p"] not in (None, 1):
            self.drop("top_p")
        self.document.update(wanted)

    def _add_stops(self) -> None:
        sequences = stops(self._client)
        if not all(map(str.strip, sequences)):
            raise invalid_request("This target cannot stop at white space only.", "stop")
        if sequences:
            self.document["stop_sequences"] = sequences

    def _add_user(self) -> None:
        user = self._client.get("user")
        if isinstance(user, str) and 0 < len(user) <= MAX_USER_ID:
            self.document["metadata"] = {"user_id": user}
        elif user:
            self.drop("user")


def _one_sampler(known: Generation, wanted: dict[str, int | float]) -> None:
    """Leave the one of `temperature` and `top_p` that says something, where only one may be given."""
    if not known.one_sampler or "temperature" not in wanted or "top_p" not in wanted:
        return
    del wanted["temperature" if wanted["temperature"] == 1 and wanted["top_p"] != 1 else "top_p"]


def _tool(tool: Tool) -> dict[str, Any]:
    schema = tool.parameters or {"properties": {}}
    document: dict[str, Any] = {
        "name": tool.name,
        "input_schema": schema if "type" in schema else {"type": "object", **schema},
    }
    if tool.description:
        document["description"] = tool.description
    if isinstance(tool.cache, dict):
        document["cache_control"] = tool.cache
    return document


def _tools_called(conversation: Conversation) -> list[Tool]:
    """Tools that earlier turns called but this request does not offer: Anthropic wants to know them all the same."""
    names = {part.name: None for turn in conversation.turns for part in turn.parts if isinstance(part, Call)}
    return [Tool(name, "", None) for name in names]
