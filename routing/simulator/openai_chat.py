"""OpenAI's chat completions: the request read, the answer whole or in chunks."""

import time

from routing.simulator.behaviour import Behaviour
from routing.simulator.completion import Call, Completion, Tool, complete, count_tokens, next_number, text_of
from routing.simulator.wire import Answer, InvalidRequestError, Json, event, objects_in

DONE = b"data: [DONE]\n\n"


def read_chat(document: Json, model: str) -> Call:
    """A chat completion request as a Call. Raises InvalidRequestError."""
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        raise InvalidRequestError(400, "Invalid 'messages': expected a non-empty array of objects.", model=model)
    texts = [text_of(message.get("content")) for message in messages]
    users = [text for message, text in zip(messages, texts, strict=True) if message.get("role") == "user"]
    wanted = document.get("response_format")
    wanted = wanted if isinstance(wanted, dict) else {}
    schema = wanted.get("json_schema")
    limit = document.get("max_completion_tokens", document.get("max_tokens"))
    return Call(
        model=model,
        prompt=users[-1] if users else "",
        prefill=texts[-1] if messages[-1].get("role") == "assistant" else "",
        input_tokens=count_tokens(*texts),
        max_tokens=limit if isinstance(limit, int) else None,
        choices=document["n"] if isinstance(document.get("n"), int) and 1 <= document["n"] <= 128 else 1,
        tools=() if document.get("tool_choice") == "none" else read_tools(document.get("tools")),
        forced=read_forced(document.get("tool_choice")),
        called=read_called(messages),
        answers_user=messages[-1].get("role") == "user",
        schema=schema.get("schema") if isinstance(schema, dict) else None,
        json_wanted=wanted.get("type") in ("json_object", "json_schema"),
    )


def read_tools(tools: object) -> tuple[Tool, ...]:
    """The functions offered, nested as in chat completions or flat as in Responses."""
    found = []
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            found.append(Tool(function["name"], function.get("parameters")))
    return tuple(found)


def read_forced(choice: object) -> str | None:
    """The name of the tool a tool_choice forces, "" for any, None if it forces none."""
    if choice == "required":
        return ""
    if isinstance(choice, dict):
        function = choice.get("function", choice)
        name = function.get("name") if isinstance(function, dict) else None
        return name if isinstance(name, str) else ""
    return None


def read_called(messages: list[Json]) -> tuple[str, ...]:
    """The tools called since the last message of the user's."""
    last = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=0)
    calls = [call for message in messages[last:] for call in objects_in(message.get("tool_calls"))]
    functions = [function for call in calls if isinstance(function := call.get("function"), dict)]
    return tuple(name for function in functions if isinstance(name := function.get("name"), str))


def chat(document: Json, model: str, behaviour: Behaviour) -> Answer:
    """A chat completion, whole or streamed."""
    call = read_chat(document, model)
    completion = complete(call, behaviour.words, behaviour.text)
    head = {"id": f"chatcmpl-sim{next_number()}", "created": int(time.time()), "model": model}
    if document.get("stream"):
        options = document.get("stream_options")
        usage_wanted = isinstance(options, dict) and bool(options.get("include_usage"))
        return Answer(
            model, events=chat_events(head, completion, call.choices, usage_wanted=usage_wanted), lead=call.choices
        )
    message: Json = {
        "role": "assistant",
        "content": None if completion.invocations else completion.text,
        "refusal": None,
    }
    if completion.invocations:
        message |= {"tool_calls": [tool_call(completion, index) for index in range(len(completion.invocations))]}
    choices = [
        {"index": index, "message": message, "logprobs": None, "finish_reason": finish_reason(completion)}
        for index in range(call.choices)
    ]
    whole = {**head, "object": "chat.completion", "choices": choices, "usage": usage(completion, call.choices)}
    return Answer(model, {**whole, "service_tier": "default", "system_fingerprint": "fp_simulator"})


def chat_events(head: Json, completion: Completion, choices: int, *, usage_wanted: bool) -> list[bytes]:
    """The chunks of a streamed chat completion, `[DONE]` included."""
    head = {**head, "object": "chat.completion.chunk", "service_tier": "default", "system_fingerprint": "fp_simulator"}
    if usage_wanted:
        head["usage"] = None

    def said(delta: Json, finish: str | None = None) -> list[bytes]:
        rows = [{"index": index, "delta": delta, "logprobs": None, "finish_reason": finish} for index in range(choices)]
        return [event({**head, "choices": [row]}) for row in rows]

    events = said({"role": "assistant", "content": None if completion.invocations else "", "refusal": None})
    for piece in completion.pieces:
        events += said({"content": piece})
    for index, invocation in enumerate(completion.invocations):
        opening = tool_call(completion, index) | {"index": index}
        opening["function"] = {"name": invocation.name, "arguments": ""}
        events += said({"tool_calls": [opening]})
        text = invocation.arguments_text
        for start in range(0, len(text), 10):
            events += said({"tool_calls": [{"index": index, "function": {"arguments": text[start : start + 10]}}]})
    events += said({}, finish_reason(completion))
    if usage_wanted:
        events.append(event({**head, "choices": [], "usage": usage(completion, choices)}))
    events.append(DONE)
    return events


def tool_call(completion: Completion, index: int) -> Json:
    """A tool call as a message carries it."""
    invocation = completion.invocations[index]
    function = {"name": invocation.name, "arguments": invocation.arguments_text}
    return {"id": invocation.id, "type": "function", "function": function}


def finish_reason(completion: Completion) -> str:
    """Why the answer ended, in OpenAI's words."""
    if completion.invocations:
        return "tool_calls"
    return "length" if completion.truncated else "stop"


def usage(completion: Completion, choices: int) -> Json:
    """The usage member."""
    output = completion.output_tokens * choices
    return {
        "prompt_tokens": completion.input_tokens,
        "completion_tokens": output,
        "total_tokens": completion.input_tokens + output,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
