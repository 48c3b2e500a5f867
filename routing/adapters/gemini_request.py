"""A chat completions request as one for Gemini's generateContent."""

from typing import Any

from resilience.core.error_rules import ErrorFormat
from routing.adapters.base import ClientRequest
from routing.adapters.conversation import read_conversation
from routing.adapters.gemini_contents import contents
from routing.adapters.gemini_models import generation
from routing.adapters.gemini_schema import schema_members
from routing.adapters.limits import number, output_limit, stops
from routing.adapters.parameters import Sifted, sift
from routing.adapters.response_format import read_response_format
from routing.adapters.thinking import budget_within, effort, effort_member
from routing.adapters.tools import Tool, ToolUse, read_tools
from routing.chains import Target
from routing.errors import invalid_request

MAX_STOPS = 5
SAMPLING = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
BUDGETS = {
    "minimal": 512,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}  # as Google maps efforts
LEAST_BUDGET_OF_PRO = 128  # tokens
MODES = {"none": "NONE", "required": "ANY", "named": "ANY"}


class GenerateRequest(Sifted):
    """Builds `document` for one target; what did not fit is in `dropped`. Raises GatewayError 400."""

    def __init__(self, client: ClientRequest, target: Target, output_cap: int | None) -> None:
        self.dropped = sift(client.body, ErrorFormat.GEMINI)
        self._client = client.body
        self._target = target
        self._generation = generation(target.model, target.facts)
        self._limit = output_limit(client.body, target.facts, output_cap)
        conversation = read_conversation(client.body["messages"])
        signatures = self._generation.wants_signatures
        self.document: dict[str, Any] = {"contents": contents(conversation.turns, signatures=signatures)}
        if conversation.system:
            self.document["systemInstruction"] = {"parts": [{"text": text.text} for text in conversation.system]}
        self._add_tools(read_tools(client.body))
        config = self._sampling(client.choices) | self._format() | self._thinking()
        if config:
            self.document["generationConfig"] = config

    def _add_tools(self, use: ToolUse) -> None:
        if not use.tools:
            return
        self.document["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in use.tools]}]
        if use.mode in MODES:
            calling: dict[str, Any] = {"mode": MODES[use.mode]}
            if use.mode == "named":
                calling["allowedFunctionNames"] = [use.name]
            self.document["toolConfig"] = {"functionCallingConfig": calling}
        if use.strict:
            self.drop("tools.function.strict")

    def _sampling(self, choices: int) -> dict[str, Any]:
        config: dict[str, Any] = {}
        for name, known in SAMPLING.items():
            value = number(self._client, name)
            if value is not None and (value or not name.endswith("_penalty")):
                config[known] = value
        if choices > 1:
            config["candidateCount"] = choices
        if self._limit is not None:
            config["maxOutputTokens"] = self._limit
        sequences = stops(self._client)
        if len(sequences) > MAX_STOPS:
            raise invalid_request(f"This target can stop at {MAX_STOPS} sequences at most.", "stop")
        if sequences:
            config["stopSequences"] = sequences
        return config

    def _format(self) -> dict[str, Any]:
        wanted = read_response_format(self._client)
        if wanted is None:
            return {}
        members = schema_members("responseSchema", wanted.schema) if wanted.schema is not None else {}
        return {"responseMimeType": "application/json", **members}

    def _thinking(self) -> dict[str, Any]:
        wanted = effort(self._client)
        if wanted is None:
            return {}
        if not self._generation.thinks:
            if wanted != "none":
                self.drop(effort_member(self._client))
            return {}
        how = self._level(wanted) if self._generation.levels else self._budget(wanted)
        return {"thinkingConfig": {**how, "includeThoughts": wanted != "none"}} if how else {}

    def _level(self, wanted: str) -> dict[str, Any]:
        """Levels know no `none` and nothing above high, Pro models no `minimal`: the nearest stands in."""
        nearest = {"none": "minimal", "xhigh": "high", "max": "high"}.get(wanted, wanted)
        if nearest == "minimal" and self._generation.is_pro:
            nearest = "low"
        if nearest != wanted:
            self.drop(effort_member(self._client))
        return {"thinkingLevel": nearest.upper()}

    def _budget(self, wanted: str) -> dict[str, Any]:
        if wanted == "none":
            if not self._generation.is_pro:
                return {"thinkingBudget": 0}
            self.drop(effort_member(self._client))
            return {"thinkingBudget": LEAST_BUDGET_OF_PRO}
        budget = budget_within(BUDGETS[wanted], self._limit)
        if budget is None:
            self.drop(effort_member(self._client))
            return {}
        return {"thinkingBudget": budget}


def _declaration(tool: Tool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name}
    if tool.description:
        declaration["description"] = tool.description
    if tool.parameters and tool.parameters.get("properties"):
        declaration.update(schema_members("parameters", tool.parameters))
    return declaration
