"""`instructor` over OpenAI's and over Anthropic's SDK, unchanged but for base URL and key, against every format."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import instructor
import openai
import pytest
from instructor import Mode

from tests.clients.targets import FORECAST, MESSAGES, Forecast, every_target
from tests.site.processes import KEY
from tests.stage import Stage

# It looks for the native member in another place than the SDK has it, and describes the schema in the prompt
pytestmark = pytest.mark.filterwarnings("ignore:Anthropic client does not support `output_format`:UserWarning")

every_mode = pytest.mark.parametrize(
    ("client", "mode"),
    [
        ("openai", Mode.TOOLS),
        ("openai", Mode.JSON_SCHEMA),
        ("anthropic", Mode.TOOLS),
        ("anthropic", Mode.JSON_SCHEMA),
    ],
)


@contextmanager
def patched(client: str, mode: Mode, stage: Stage) -> Iterator[Any]:
    if client == "openai":
        with openai.OpenAI(base_url=f"{stage.url}/v1", api_key=KEY, max_retries=0) as chat:
            yield instructor.from_openai(chat, mode=mode)
    else:
        with anthropic.Anthropic(base_url=stage.url, api_key=KEY, max_retries=0) as messages:
            yield instructor.from_anthropic(messages, mode=mode, max_tokens=500)


@every_target
@every_mode
def test_an_answer_is_the_model_asked_for_whole_and_in_parts(stage: Stage, client: str, mode: Mode, model: str) -> None:
    if (client, mode) == ("anthropic", Mode.JSON_SCHEMA):
        stage.dictate(FORECAST.model_dump_json())  # no simulated model reads a schema in a prompt
    asked: Any = {"model": model, "response_model": Forecast, "messages": MESSAGES}
    with patched(client, mode, stage) as sdk:
        whole = sdk.create(**asked, max_retries=0)
        parts = list(sdk.create_partial(**asked, max_retries=0))
    assert FORECAST.model_dump() == whole.model_dump() == parts[-1].model_dump()
