"""Text → plain values with line numbers. YAML by the safe loader, JSON being YAML too; hostile files end in a clear error.

Read as YAML 1.2 where 1.1 would surprise: `off` and `yes` are texts, `010` and `1:30` and dates are texts, `1e3` is a
number. Aliases work and are counted expanded, so that nine levels of nine aliases do not become a billion values.
"""

import re
from dataclasses import dataclass
from typing import Any

import yaml

from routing.configfile.problems import ConfigFileError, Path, Problem

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 24
MAX_VALUES = 200_000
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_MERGE = "tag:yaml.org,2002:merge"

BOOL = ("tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF"))
INT = ("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9_]*)\Z"), list("-+0123456789"))
FLOAT = (
    "tag:yaml.org,2002:float",
    re.compile(
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z"
        r"|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"
    ),
    list("-+0123456789."),
)


class _Loader(yaml.SafeLoader):
    """The safe loader with the scalars of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":null", ":merge"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _resolver in (BOOL, INT, FLOAT):
    _Loader.add_implicit_resolver(*_resolver)


@dataclass(frozen=True, slots=True)
class Document:
    """The file's mapping, and the lines things stand on."""

    value: dict[str, Any]
    root: yaml.Node

    def line_of(self, path: Path) -> int:
        """Return the line of a path, or of the nearest thing around it that the file has."""
        node, line = self.root, self.root.start_mark.line + 1
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            node, line = found
        return line

    def problem(self, path: Path, message: str) -> Problem:
        """Return a mistake at a path."""
        return Problem(message, path, self.line_of(path))


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part].start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return value, key.start_mark.line + 1
    return None


def read_document(raw: bytes) -> Document:
    """Parse a file. Raises ConfigFileError."""
    if len(raw) > MAX_BYTES:
        raise _refused(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(f"the file is not UTF-8 (byte {error.start})", line) from error
    try:
        root, value = _parse(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(part for part in (error.context, error.problem) if part)
        raise _refused(f"not YAML: {words}", None if mark is None else mark.line + 1) from error
    except yaml.YAMLError as error:
        raise _refused("not YAML: " + " ".join(str(error).split())[:200]) from error
    except RecursionError as error:
        raise _refused(f"nested deeper than {MAX_DEPTH} levels") from error
    if root is None or value is None:
        raise _refused("the file is empty")
    if not isinstance(value, dict):
        raise _refused("the file must be a mapping of settings, providers, models, chains and keys")
    return Document({name: section for name, section in value.items() if section is not None}, root)


def _parse(text: str) -> tuple[yaml.Node | None, Any]:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        return root, None if root is None else _Reader(loader).read(root)
    finally:
        loader.dispose()


class _Reader:
    """Turns nodes into values, counting them."""

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader
        self._count = 0

    def read(self, node: yaml.Node, depth: int = 0) -> Any:
        self._count += 1
        if depth > MAX_DEPTH:
            raise _refused(f"nested deeper than {MAX_DEPTH} levels", node.start_mark.line + 1)
        if self._count > MAX_VALUES:
            raise _refused(f"more than {MAX_VALUES} values, aliases counted as often as they are used")
        if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
            raise _refused(f"could not determine a constructor for the tag {node.tag!r}", node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, depth + 1) for item in node.value]
        try:
            return self._loader.construct_object(node)
        except (ValueError, OverflowError) as error:  # an integer of thousands of digits
            raise _refused("not a number that can be read", node.start_mark.line + 1) from error

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            value = self.read(value_node, depth + 1)
            if key_node.tag == _MERGE:
                merged = self._merge(value, line) | merged
                continue
            key = self.read(key_node, depth + 1)
            if not isinstance(key, str):
                raise _refused("a key must be a text: put it in quotes", line)
            if key in own:
                raise _refused(f"the key {key[:100]!r} stands twice in this mapping", line)
            own[key] = value
        return merged | own

    @staticmethod
    def _merge(value: Any, line: int) -> dict[str, Any]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise _refused("<< takes a mapping or a list of mappings", line)
        merged: dict[str, Any] = {}
        for source in sources:
            merged = source | merged
        return merged


def _refused(message: str, line: int | None = None) -> ConfigFileError:
    return ConfigFileError([Problem(message, line=line)])
