"""The tools of a chat completions request, read and checked once for all other formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from routing.errors import invalid_request


@dataclass(slots=True)
class Tool:
    """A function the model may call. `cache` is Anthropic's `cache_control`, which some clients send along."""

    name: str
    description: str
    parameters: dict[str, Any] | None
    cache: Any = None


class ToolUse(NamedTuple):
    """The tools on offer and how to use them: mode auto, none, required or named (then `name`)."""

    tools: list[Tool]
    mode: str = "auto"
    name: str = ""
    strict: bool = False  # some function asked for `strict`, which is not passed on


def read_tools(body: Mapping[str, Any]) -> ToolUse:
    """Raises GatewayError 400 with `param` for what is not a function."""
    tools, strict = _tools(body.get("tools"))
    choice = body.get("tool_choice")
    if choice is None or choice == "auto":
        return ToolUse(tools, strict=strict)
    if choice == "required" and not tools:
        raise invalid_request("`tool_choice` is required, but there are no `tools`.", "tool_choice")
    if choice in ("none", "required"):
        return ToolUse(tools, choice, strict=strict)
    if isinstance(choice, dict) and choice.get("type") == "function":
        return ToolUse(tools, "named", _named(choice, tools), strict)
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        return _allowed(choice, tools, strict=strict)
    raise invalid_request("`tool_choice` must be auto, none, required, a function or allowed tools.", "tool_choice")


def _tools(given: Any) -> tuple[list[Tool], bool]:
    if given is None:
        return [], False
    if not isinstance(given, list):
        raise invalid_request("`tools` must be a list.", "tools")
    tools, strict = [], False
    for number, tool in enumerate(given):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            where = f"tools[{number}]"
            raise invalid_request(f"`{where}` is not a function, and this target knows no other tools.", where)
        function = tool.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            where = f"tools[{number}].function.name"
            raise invalid_request(f"`{where}` is missing.", where)
        parameters = function.get("parameters")
        if parameters is not None and not isinstance(parameters, dict):
            where = f"tools[{number}].function.parameters"
            raise invalid_request(f"`{where}` must be an object.", where)
        description = function.get("description")
        description = description if isinstance(description, str) else ""
        tools.append(Tool(function["name"], description, parameters, tool.get("cache_control")))
        strict = strict or function.get("strict") is True
    return tools, strict


def _named(choice: Mapping[str, Any], tools: list[Tool]) -> str:
    function = choice.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not any(tool.name == name for tool in tools):
        raise invalid_request(f"`tool_choice` names {name!r}, which is not among `tools`.", "tool_choice")
    return str(name)


def _allowed(choice: Mapping[str, Any], tools: list[Tool], *, strict: bool) -> ToolUse:
    """Only the allowed ones are offered, which comes to the same."""
    allowed = choice.get("allowed_tools")
    allowed = allowed if isinstance(allowed, dict) else choice
    listed = allowed.get("tools")
    if not isinstance(listed, list):
        raise invalid_request("`tool_choice.allowed_tools.tools` must be a list.", "tool_choice")
    names = {
        name
        for tool in listed
        if isinstance(tool, dict) and isinstance(function := tool.get("function"), dict)
        if isinstance(name := function.get("name"), str)
    }
    mode = "required" if allowed.get("mode") == "required" else "auto"
    offered = [tool for tool in tools if tool.name in names]
    if mode == "required" and not offered:
        raise invalid_request(
            "`tool_choice` requires one of its tools, but none of them is among `tools`.", "tool_choice"
        )
    return ToolUse(offered, mode, strict=strict)
