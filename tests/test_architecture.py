"""The house rules that a linter does not know."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("omniroute_site", "routing", "resilience")
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "services.py", "constants.py", "managers.py", "common.py", "misc.py"}
FILE_LINES = 400
FUNCTION_LINES = 40
NESTING = 3
POSITIONAL = 4
NOT_COUNTED = ("self", "cls", "now", "u")  # time and chance are everywhere the last arguments of a pure function

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> list[Path]:
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return [path for path in found if "migrations" not in path.parts]


SOURCES = sources(*PACKAGES)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(tree(path)):
        if isinstance(node, Function):
            yield node


def depth(node: ast.AST) -> int:
    """How many blocks deep the deepest statement is; `elif` is no deeper than its `if`."""
    blocks = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth(child) + (isinstance(child, blocks) and not is_elif))
    return deepest


def test_files_can_be_read_in_one_sitting() -> None:
    long = {
        name(path): lines
        for path in sources(*PACKAGES, "tests")
        if (lines := len(path.read_text().splitlines())) > FILE_LINES
    }

    assert long == {}


def test_functions_are_short_and_flat() -> None:
    wrong = []
    for path in sources(*PACKAGES, "tests"):
        for function in functions(path):
            lines = (function.end_lineno or 0) - function.lineno + 1
            if lines > FUNCTION_LINES or depth(function) > NESTING:
                wrong.append(f"{name(path)}:{function.lineno} {function.name}: {lines} lines, {depth(function)} deep")

    assert wrong == []


def test_functions_take_few_positional_arguments() -> None:
    wrong = []
    for path in SOURCES:
        for function in functions(path):
            given = function.args.args[: len(function.args.args) - len(function.args.defaults)]
            arguments = [argument.arg for argument in (*function.args.posonlyargs, *given)]
            if len([argument for argument in arguments if argument not in NOT_COUNTED]) > POSITIONAL:
                wrong.append(f"{name(path)}:{function.lineno} {function.name}")

    assert wrong == []


def test_no_file_is_named_after_nothing() -> None:
    assert [name(path) for path in SOURCES if path.name in FORBIDDEN_NAMES] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [name(path) for path in SOURCES if path.read_text().strip() and not ast.get_docstring(tree(path))]

    assert silent == []


def test_models_keep_to_django_s_own_save_and_signals() -> None:
    overriding = [
        f"{name(path)}:{function.lineno}" for path in SOURCES for function in functions(path) if function.name == "save"
    ]
    listening = [name(path) for path in SOURCES if "pre_save" in path.read_text() or "post_save" in path.read_text()]

    assert (overriding, listening) == ([], [])


@pytest.mark.parametrize("path", ["constraints.txt", "constraints-dev.txt", "pyproject.toml", "Makefile", ".ci/run"])
def test_no_committed_file_names_a_package_registry(path: str) -> None:
    text = (ROOT / path).read_text()

    assert "index-url" not in text.replace("no-emit-index-url", "")
    assert "/simple" not in text
    assert "://pypi" not in text


def test_one_module_touches_the_channel_layer() -> None:
    touching = [name(path) for path in SOURCES if "channels.layers" in path.read_text().replace('"channels.layers', "")]

    assert touching == ["resilience/news.py"]


def test_the_environment_is_read_in_one_file() -> None:
    reading = [
        name(path)
        for path in SOURCES
        if any(word in path.read_text() for word in ("environ.get(", "getenv(", "environ["))
        and "simulator" not in name(path)
    ]

    # bootstrap runs before there are settings; what the others read is said beside it
    assert [path for path in reading if path not in ALLOWED_TO_READ] == []


ALLOWED_TO_READ = {
    "routing/configfile/references.py",  # `env:NAME` in a configuration file
    "routing/secrets.py",  # the same, kept as a reference and read when the table is made
}
