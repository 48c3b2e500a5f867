"""Is this a proper answer, or an error with status 200? Only the envelope is looked at, never what a model wrote."""

from collections.abc import Mapping

from .error_rules import ErrorFormat

MESSAGES_INSTEAD_OF_CHOICES = ("errors", "detail", "message", "msg", "error_msg", "base_resp")


def find_error(fmt: ErrorFormat, document: object) -> object | None:
    """The error envelope of a document or stream event that should have been an answer; None if it is an answer."""
    if isinstance(document, str):
        return document.strip() or None
    if isinstance(document, list):
        return next((found for item in document[:10] if (found := find_error(fmt, item)) is not None), None)
    if not isinstance(document, dict):
        return None
    if document.get("type") == "error" or document.get("object") == "error":
        return document
    if _says_something(document.get("error")):
        return document if not document.get("choices") else {"error": document["error"]}
    if fmt is ErrorFormat.OPENAI:
        return _error_for_choices(document)
    return None


def _says_something(error: object) -> bool:
    """Proper answers may carry `error: null`, or an object of nulls."""
    if isinstance(error, dict):
        return any(error.values())
    return bool(error)


def _error_for_choices(document: Mapping[str, object]) -> object | None:
    """An error inside a choice, or a bare message where the choices should be."""
    choices = document.get("choices")
    if isinstance(choices, list):
        for choice in choices:
            if not isinstance(choice, dict):
                continue
            if _says_something(choice.get("error")):
                return {"error": choice["error"]}
            if choice.get("finish_reason") == "error":
                return {"error": {"message": "finish_reason error", "type": "server_error"}}
        if choices:
            return None
    if _is_answer_without_choices(document):
        return None
    return document if any(_is_message(document.get(name)) for name in MESSAGES_INSTEAD_OF_CHOICES) else None


def _is_answer_without_choices(document: Mapping[str, object]) -> bool:
    """Chunks that only carry usage, embeddings, lists: their `object` says so."""
    kind = document.get("object")
    return isinstance(kind, str) and bool(kind)


def _is_message(value: object) -> bool:
    return bool(value) and isinstance(value, str | list | dict)
