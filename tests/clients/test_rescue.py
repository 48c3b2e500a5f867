"""The SDKs on a stream that dies after 40 of 60 words, over sockets; the next target is of the same or another format."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
import yaml
from openai.types.responses import Response

from tests.site.processes import KEY, manage
from tests.stage import Stage

MESSAGES: list[Any] = [{"role": "user", "content": "Tell me a story of sixty words"}]
FORMATS = {
    "primary": "openai",
    "backup": "openai",
    "claude": "anthropic",
    "google": "gemini",
    "azure": "azure",
    "region": "azure",
}
PAIRS = [("primary", "backup"), ("primary", "claude"), ("claude", "google"), ("google", "primary")]
NATIVE_PAIRS = [("azure", "region"), ("azure", "claude"), ("google", "azure")]  # with a target that has Responses
WAYS = ("repeating", "continuing")
ENDS = [40, 60, 61, 62, 63]  # events: in the text, and after all of it; then follow the ends of text, part and message


def configuration(simulator: str) -> dict[str, Any]:
    """Two chains for each pair; the second target of one goes on from a beginning. And some of a model that thinks."""
    region = {"slug": "region", "format": "azure", "base_url": f"{simulator}/azure", "retries": 0}
    region["connections"] = [{"slug": "one", "api_key": "sk-sim-region-one"}]
    pairs = PAIRS + NATIVE_PAIRS
    seconds = {second for _, second in pairs}
    chains = [
        chain(f"{first}-{second}-{way}", first, f"dying-before-{second}-{way}", second, way)
        for first, second in pairs
        for way in WAYS
    ]
    thinking = [
        chain(f"thinking-{name}", "azure", f"gpt-5-dying-{name}", "region", "repeating") for name in (*ENDS, "tool")
    ]
    return {
        "providers": [region],
        "models": [{"provider": second, "model": "continuing", "supports_prefill": True} for second in seconds],
        "chains": chains + thinking,
    }


def chain(name: str, first: str, dying: str, second: str, model: str) -> dict[str, Any]:
    """dying: a model for this chain alone, else its lockout fills up."""
    entries = [{"provider": first, "model": dying}, {"provider": second, "model": model, "priority": 1}]
    return {"model": name, "entries": entries}


class Apps:
    """The SDKs in front of one gateway."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.openai = openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=stage.url, api_key=KEY, max_retries=0)

    def chat(self, model: str, heard: list[str]) -> int:
        """Put what a chat client hears into `heard`; the output tokens it is told of."""
        stream = self.openai.chat.completions.create(
            model=model, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        names, reasons, tokens = set(), [], 0
        for chunk in stream:
            names.add((chunk.id, chunk.model))
            tokens = chunk.usage.completion_tokens if chunk.usage else tokens
            for choice in chunk.choices:
                heard.append(choice.delta.content or "")
                reasons.append(choice.finish_reason)
        assert [reason for reason in reasons if reason] == ["stop"]
        assert len(names) == 1
        return tokens

    def messages(self, model: str, heard: list[str]) -> int:
        """The same for a client of Anthropic's Messages."""
        with self.anthropic.messages.stream(model=model, max_tokens=500, messages=MESSAGES) as stream:
            heard.extend(stream.text_stream)
            final = stream.get_final_message()
        [block] = final.content
        assert block.type == "text"
        assert block.text == "".join(heard)
        assert final.stop_reason == "end_turn"
        return final.usage.output_tokens

    def responses(self, model: str, heard: list[str]) -> int:
        """The same for a client of OpenAI's Responses."""
        usage = self.response(model, heard).usage
        assert usage is not None
        return usage.output_tokens

    def response(self, model: str, heard: list[str]) -> Response:
        """What the SDK makes of the events, all of which it checks."""
        with self.openai.responses.stream(model=model, input=MESSAGES) as stream:
            numbers = []
            for event in stream:
                numbers.append(event.sequence_number)
                if event.type == "response.output_text.delta":
                    heard.append(event.delta)
            final: Response = stream.get_final_response()
        assert numbers == list(range(len(numbers)))
        assert final.output_text == "".join(heard)
        assert final.status == "completed"
        return final

    def close(self) -> None:
        self.openai.close()
        self.anthropic.close()


@pytest.fixture(scope="module")
def apps(running: Stage) -> Iterator[Apps]:
    path = running.folder / "rescue.yaml"
    path.write_text(yaml.safe_dump(configuration(running.simulator)))
    done = manage("config", "apply", str(path), database=running.database)
    assert done.returncode == 0, done.stderr
    ready = Apps(running)
    deadline = time.monotonic() + 10
    while "google-primary-continuing" not in {model.id for model in ready.openai.models.list()}:
        assert time.monotonic() < deadline, "the chains did not come into force"
        time.sleep(0.1)
    yield ready
    ready.close()


@pytest.fixture(scope="module")
def story(apps: Apps) -> str:
    """What every simulated provider answers."""
    text = apps.openai.chat.completions.create(model="gpt-4o", messages=MESSAGES).choices[0].message.content
    assert text is not None
    assert len(text.split()) == 60
    return text


Client = Callable[[Apps, str, list[str]], int]
every_client = pytest.mark.parametrize(
    ("client", "first", "second"),
    [(client, *pair) for client in (Apps.chat, Apps.messages) for pair in PAIRS]
    + [(Apps.responses, *pair) for pair in NATIVE_PAIRS],
)


def dies(stage: Stage, provider: str, after: int = 40) -> None:
    stage.calm()
    stage.control(f"{provider}-one", format_=FORMATS[provider], mode="cut", after=after, models=["*dying*"])


def blamed(stage: Stage) -> set[str]:
    return {row["provider"] for row in stage.state()["breakers"] if row["kind_counts"]}


@every_client
@pytest.mark.parametrize("way", WAYS)
def test_the_client_hears_the_whole_text_once(
    apps: Apps, story: str, client: Client, first: str, second: str, way: str
) -> None:
    dies(apps.stage, first)
    heard: list[str] = []
    assert client(apps, f"{first}-{second}-{way}", heard) >= (60 if way == "repeating" else 20)
    assert "".join(heard) == story
    assert blamed(apps.stage) == {first}


@every_client
def test_another_answer_ends_in_the_error_never_in_a_silent_end(
    apps: Apps, story: str, client: Client, first: str, second: str
) -> None:
    dies(apps.stage, first)
    other = {"text": "Something else altogether.", "models": ["repeating"]}
    apps.stage.control(f"{second}-one", format_=FORMATS[second], **other)
    heard: list[str] = []
    with pytest.raises((openai.APIError, anthropic.APIError), match="broke after its first content"):
        client(apps, f"{first}-{second}-repeating", heard)
    assert "".join(heard) == " ".join(story.split()[:40])
    assert blamed(apps.stage) == {first}


@pytest.mark.parametrize("after", ENDS)
def test_a_response_of_a_model_that_thinks_goes_on_wherever_it_broke(apps: Apps, story: str, after: int) -> None:
    dies(apps.stage, "azure", after)
    heard: list[str] = []
    response = apps.response(f"thinking-{after}", heard)
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.output_text == "".join(heard) == story
    assert blamed(apps.stage) == {"azure"}


def test_a_response_that_called_a_tool_is_not_continued(apps: Apps) -> None:
    tool: Any = {"type": "function", "name": "look", "strict": False, "parameters": {"type": "object"}}
    dies(apps.stage, "azure", 1)
    stream = apps.openai.responses.create(model="thinking-tool", input="Use a tool", tools=[tool], stream=True)
    with pytest.raises(openai.APIError, match="broke after its first content"):
        list(stream)
