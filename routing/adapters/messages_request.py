"""A request of Anthropic's Messages API as chat completions. docs/formats.md tells what becomes of each member."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from routing.adapters.composed import ChatBody
from routing.adapters.limits import number
from routing.adapters.messages_content import MessageReader
from routing.adapters.openai_hosts import length_member, only_reasons, takes_effort
from routing.adapters.parameters import object_member
from routing.chains import Target
from routing.errors import invalid_request

TRANSLATED = frozenset(
    {
        *("model", "messages", "system", "stream", "max_tokens", "stop_sequences", "temperature", "top_p", "top_k"),
        *("tools", "tool_choice", "thinking", "output_config", "metadata"),
    }
)
REFUSED = ("container", "mcp_servers")  # the answer would lack what they do; everything else is dropped
CHOICES = {"auto": "auto", "any": "required", "none": "none"}
EFFORTS = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
BUDGETS = ((16384, "high"), (4096, "medium"), (0, "low"))  # tokens of thinking from which an effort is meant
MAX_USER = 64  # characters, at OpenAI


class MessagesAsChat(ChatBody):
    """Builds `body` for one target. Raises GatewayError 400."""

    def __init__(self, asked: Mapping[str, Any], target: Target) -> None:
        super().__init__({"model": asked["model"], "messages": []})
        self._asked = asked
        self._target = target
        self._openai = target.provider.format in ("openai", "azure")
        self._sift()
        self._add_messages()
        self._add_length()
        self._add_sampling()
        self._add_tools()
        self._add_effort()
        self._add_format()
        self._add_user()
        if asked.get("stream"):
            self.body["stream"] = True

    def _sift(self) -> None:
        for name, value in self._asked.items():
            if name in TRANSLATED or value is None:
                continue
            if name in REFUSED and value:
                raise invalid_request(f"`{name}` is known to Anthropic only.", name)
            self.drop(name)

    def _add_messages(self) -> None:
        reader = MessageReader(self._target.provider.format)
        self.body["messages"] = reader.read(self._asked.get("system"), self._asked["messages"])
        if not self.body["messages"]:
            raise invalid_request("`messages` are all empty.", "messages")
        for name in sorted(reader.left_out):
            self.drop(name)

    def _add_length(self) -> None:
        """At most what the model can do: agents ask for the most that Claude can, and OpenAI answers 400 to more."""
        limit, most = self._asked["max_tokens"], self._target.facts.max_output_tokens
        if limit < 1:
            raise invalid_request("`max_tokens` must be at least 1.", "max_tokens")
        self.body[length_member(self._target)] = min(limit, most) if most else limit

    def _add_sampling(self) -> None:
        for name in ("temperature", "top_p", "top_k"):
            value = number(self._asked, name)
            if value is None:
                continue
            if self._openai and (name == "top_k" or (value != 1 and only_reasons(self._target))):
                self.drop(name)
            else:
                self.body[name] = value
        if sequences := self._stops():
            self.body["stop"] = sequences

    def _stops(self) -> list[str]:
        given = self._asked.get("stop_sequences") or []
        if not isinstance(given, list) or not all(isinstance(sequence, str) for sequence in given):
            raise invalid_request("`stop_sequences` must be a list of strings.", "stop_sequences")
        return given

    def _add_tools(self) -> None:
        tools = self._asked.get("tools")
        if not tools:
            return
        if not isinstance(tools, list):
            raise invalid_request("`tools` must be a list.", "tools")
        self.body["tools"] = [self._tool(tool, f"tools[{number}]") for number, tool in enumerate(tools)]
        choice = object_member(self._asked, "tool_choice")
        if not choice:
            return
        kind = choice.get("type")
        if kind == "tool":
            self.body["tool_choice"] = self._named(choice.get("name"))
        elif isinstance(kind, str) and kind in CHOICES:
            self.body["tool_choice"] = CHOICES[kind]
        else:
            raise invalid_request("`tool_choice.type` must be auto, any, tool or none.", "tool_choice")
        if choice.get("disable_parallel_tool_use"):
            self.body["parallel_tool_calls"] = False

    def _named(self, name: Any) -> dict[str, Any]:
        if all(tool["function"]["name"] != name for tool in self.body["tools"]):
            raise invalid_request(f"`tool_choice` names {name!r}, which is not among `tools`.", "tool_choice")
        return {"type": "function", "function": {"name": name}}

    def _tool(self, tool: Any, where: str) -> dict[str, Any]:
        kind = tool.get("type") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or kind not in (None, "custom"):
            raise invalid_request(f"`{where}` is Anthropic's own tool {kind!r}; this target has only yours.", where)
        name, schema = tool.get("name"), tool.get("input_schema")
        if not isinstance(name, str) or not name:
            raise invalid_request(f"`{where}.name` is missing.", f"{where}.name")
        if not isinstance(schema, dict):
            raise invalid_request(f"`{where}.input_schema` must be an object.", f"{where}.input_schema")
        function: dict[str, Any] = {"name": name, "parameters": schema}
        if tool.get("description"):
            function["description"] = tool["description"]
        if tool.get("strict") is not None:
            function["strict"] = tool["strict"]
        if tool.get("cache_control") is not None:
            self.drop("cache_control")
        return {"type": "function", "function": function}

    def _add_effort(self) -> None:
        effort = self._effort()
        if effort is None:
            return
        if self._openai and (effort == "none" or not takes_effort(self._target)):
            if effort != "none":
                self.drop("thinking")
            return
        self.body["reasoning_effort"] = effort

    def _effort(self) -> str | None:
        """How hard to think: an effort that was named, else what a budget stands for."""
        thinking = object_member(self._asked, "thinking")
        kind = thinking.get("type")
        if kind == "disabled":
            return "none"
        named = object_member(self._asked, "output_config").get("effort")
        if isinstance(named, str) and named in EFFORTS:
            return EFFORTS[named]
        if kind == "adaptive":
            return "medium"
        if kind != "enabled":
            return None
        budget = thinking.get("budget_tokens")
        if type(budget) is not int or budget < 0:
            raise invalid_request("`thinking.budget_tokens` must be a whole number.", "thinking.budget_tokens")
        return next(effort for least, effort in BUDGETS if budget >= least)

    def _add_format(self) -> None:
        wanted = object_member(self._asked, "output_config").get("format")
        if wanted is None:
            return
        if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
            raise invalid_request("`output_config.format.type` must be json_schema.", "output_config.format")
        if not isinstance(wanted.get("schema"), dict):
            raise invalid_request("`output_config.format.schema` must be an object.", "output_config.format")
        described = {"name": "answer", "schema": wanted["schema"]}
        self.body["response_format"] = {"type": "json_schema", "json_schema": described}

    def _add_user(self) -> None:
        user = object_member(self._asked, "metadata").get("user_id")
        if isinstance(user, str) and user:
            self.body["user"] = user if len(user) <= MAX_USER else sha256(user.encode()).hexdigest()
