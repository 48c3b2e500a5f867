"""docs/formats.md tells what the code does."""

from pathlib import Path
from typing import get_type_hints

from openai.types.chat.completion_create_params import CompletionCreateParamsBase, CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsBase, ResponseCreateParamsStreaming

from routing.adapters.anthropic_answer import FINISH_REASONS as ANTHROPIC
from routing.adapters.anthropic_request import BUDGETS as CLAUDE_BUDGETS
from routing.adapters.gemini_answer import BROKEN
from routing.adapters.gemini_answer import FINISH_REASONS as GEMINI
from routing.adapters.gemini_request import BUDGETS as GEMINI_BUDGETS
from routing.adapters.parameters import REST, TABLE, Parameter
from routing.adapters.responses_parameters import REST as RESPONSES_REST
from routing.adapters.responses_parameters import TABLE as RESPONSES

PAGE = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()


def row(parameter: Parameter) -> str:
    name = parameter.name if parameter is REST else f"`{parameter.name}`"
    return f"| {name} | {parameter.anthropic} | {parameter.gemini} | {parameter.note} |"


def test_the_table_of_parameters_is_the_code_s() -> None:
    shown = PAGE.split("| parameter |")[1].split("\n\n")[0].splitlines()[2:]
    assert shown == [row(parameter) for parameter in (*TABLE, REST)]


def test_the_table_of_parameters_knows_what_the_sdk_sends() -> None:
    known = get_type_hints(CompletionCreateParamsBase) | get_type_hints(CompletionCreateParamsStreaming)
    assert {one.name for one in TABLE} == set(known) | {"top_k", "reasoning"}  # of other makers


def test_the_table_of_responses_members_is_the_code_s_and_the_sdk_s() -> None:
    shown = PAGE.split("| member |")[1].split("\n\n")[0].splitlines()[2:]
    names = [one.name if one is RESPONSES_REST else f"`{one.name}`" for one in (*RESPONSES, RESPONSES_REST)]
    rows = zip(names, (*RESPONSES, RESPONSES_REST), strict=True)
    assert shown == [f"| {name} | {one.fate} | {one.note} |" for name, one in rows]
    known = get_type_hints(ResponseCreateParamsBase) | get_type_hints(ResponseCreateParamsStreaming)
    assert {one.name for one in RESPONSES} == set(known)


def test_every_finish_reason_stands_in_the_row_of_its_meaning() -> None:
    rows = [line.split(" | ") for line in PAGE.split("## Answers")[1].splitlines() if line.startswith("| `")]
    shown = {cells[0].strip("| `"): cells[1:] for cells in rows}
    for column, reasons in enumerate((ANTHROPIC, GEMINI)):
        for reason, meaning in reasons.items():
            assert f"`{reason}`" in shown[meaning][column]
    (broken,) = (line for line in PAGE.splitlines() if line.startswith("| failure `transient`"))
    assert all(f"`{reason}`" in broken for reason in BROKEN)


def test_the_thinking_budgets_are_the_code_s() -> None:
    for name, budgets in (("Claude 3.7", CLAUDE_BUDGETS), ("Gemini 2.5", GEMINI_BUDGETS)):
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name}"))
        assert [cell.strip() for cell in line.strip("|").split("|")][2:] == [str(tokens) for tokens in budgets.values()]
