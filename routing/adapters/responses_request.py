"""A request of OpenAI's Responses API as chat completions. docs/formats.md tells what becomes of each member."""

from collections.abc import Mapping
from typing import Any

from routing.adapters.composed import ChatBody
from routing.adapters.limits import number
from routing.adapters.openai_hosts import length_member, takes_effort
from routing.adapters.responses_input import InputReader
from routing.adapters.responses_parameters import sift
from routing.adapters.thinking import EFFORTS
from routing.chains import Target
from routing.errors import invalid_request

Json = dict[str, Any]

MODES = ("auto", "none", "required")
FUNCTION_MEMBERS = ("name", "description", "parameters", "strict")
LOGPROBS = "message.output_text.logprobs"
KNOWN_EFFORTS = {"minimal": "low", "xhigh": "high", "max": "high"}  # as far as others than OpenAI know them


class ResponsesAsChat(ChatBody):
    """Builds `body` for one target. Raises GatewayError 400."""

    def __init__(self, asked: Mapping[str, Any], target: Target) -> None:
        super().__init__({"model": asked["model"], "messages": []}, sift(asked))
        self._asked = asked
        self._target = target
        self._openai = target.provider.format in ("openai", "azure")
        if asked.get("store") is None:
            self.drop("store")  # it is kept unless the client says otherwise
        self._check_include()
        self._add_messages()
        self._add_length()
        for name in ("temperature", "top_p"):
            if (value := number(asked, name)) is not None:
                self.body[name] = value
        if asked.get("user") is not None:
            self.body["user"] = asked["user"]
        self._add_tools()
        self._add_effort()
        self._add_format()
        if asked.get("stream"):
            self.body["stream"] = True

    def _check_include(self) -> None:
        include = self._asked.get("include")
        if not isinstance(include, list | None):
            raise invalid_request("`include` must be a list.", "include")
        if include and LOGPROBS in include:
            raise invalid_request(f"`{LOGPROBS}` cannot be had from this target.", "include")

    def _add_messages(self) -> None:
        reader = InputReader(self._target.provider.format)
        reader.read(self._asked.get("instructions"), self._asked["input"])
        if not reader.messages:
            raise invalid_request("`input` says nothing.", "input")
        self.body["messages"] = reader.messages
        if reader.has_thoughts:
            self.drop("input.reasoning")

    def _add_length(self) -> None:
        limit, most = self._asked.get("max_output_tokens"), self._target.facts.max_output_tokens
        if limit is None:
            return
        if type(limit) is not int or limit < 1:
            raise invalid_request("`max_output_tokens` must be a whole number above 0.", "max_output_tokens")
        self.body[length_member(self._target)] = min(limit, most) if most else limit

    def _add_tools(self) -> None:
        """`tool_choice` and `parallel_tool_calls` come only with tools: chat completions refuse them alone."""
        given = self._asked.get("tools") or []
        if not isinstance(given, list):
            raise invalid_request("`tools` must be a list.", "tools")
        tools = [_function(tool, f"tools[{number}]") for number, tool in enumerate(given)]
        choice, allowed = _choice(self._asked.get("tool_choice"))
        if allowed is not None:
            tools = [tool for tool in tools if tool["function"]["name"] in allowed]
        if not tools:
            if choice not in ("auto", "none"):
                raise invalid_request("`tool_choice` forces a tool, but there are none.", "tool_choice")
            return
        self.body["tools"] = tools
        if isinstance(choice, dict) and all(tool["function"]["name"] != choice["function"]["name"] for tool in tools):
            raise invalid_request("`tool_choice` names a function that is not among `tools`.", "tool_choice")
        if choice != "auto":
            self.body["tool_choice"] = choice
        if self._asked.get("parallel_tool_calls") is False:
            self.body["parallel_tool_calls"] = False

    def _add_effort(self) -> None:
        reasoning = self._asked.get("reasoning") or {}
        effort = reasoning.get("effort")
        if effort is None:
            return
        if effort not in EFFORTS:
            raise invalid_request(f"`reasoning.effort` must be one of {', '.join(EFFORTS)}.", "reasoning.effort")
        if not self._openai:
            self.body["reasoning_effort"] = effort
        elif takes_effort(self._target) and effort != "none":
            self.body["reasoning_effort"] = KNOWN_EFFORTS.get(effort, effort)
        elif effort != "none":
            self.drop("reasoning")

    def _add_format(self) -> None:
        text = self._asked.get("text") or {}
        if text.get("verbosity") is not None:
            self.drop("text.verbosity")
        wanted = text.get("format")
        kind = wanted.get("type") if isinstance(wanted, dict) else None
        if wanted is None or kind == "text":
            return
        if kind == "json_object":
            self.body["response_format"] = {"type": "json_object"}
        elif isinstance(wanted, dict) and kind == "json_schema":
            if not isinstance(wanted.get("schema"), dict):
                raise invalid_request("`text.format.schema` must be an object.", "text.format")
            described = {name: value for name, value in wanted.items() if name != "type"}
            self.body["response_format"] = {"type": "json_schema", "json_schema": described}
        else:
            raise invalid_request("`text.format.type` must be text, json_object or json_schema.", "text.format")


def _function(tool: Any, where: str) -> Json:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if not isinstance(tool, dict) or kind != "function":
        raise invalid_request(f"`{where}` is OpenAI's own tool {kind!r}; this target has only yours.", where)
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise invalid_request(f"`{where}.name` is missing.", f"{where}.name")
    if not isinstance(tool.get("parameters"), dict | None):
        raise invalid_request(f"`{where}.parameters` must be an object.", f"{where}.parameters")
    return {
        "type": "function",
        "function": {member: tool[member] for member in FUNCTION_MEMBERS if tool.get(member) is not None},
    }


def _choice(choice: Any) -> tuple[Any, set[str] | None]:
    """`tool_choice` for chat completions, and the names it allows where it allows only some."""
    if choice is None or (isinstance(choice, str) and choice in MODES):
        return choice or "auto", None
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}, None
    if kind == "allowed_tools" and isinstance(allowed := choice.get("tools"), list):
        tools = [tool for tool in allowed if isinstance(tool, dict)]
        names = {tool["name"] for tool in tools if isinstance(tool.get("name"), str)}
        return "required" if choice.get("mode") == "required" else "auto", names
    raise invalid_request("`tool_choice` must be auto, none, required, a function or allowed tools.", "tool_choice")
