"""Log lines: text for people, one JSON object a line for machines. Fields come from `extra=`."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}
UNPRINTABLE = frozenset({"request", "server_time"})  # Django puts live objects there


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """What the caller passed as `extra=`."""
    return {key: value for key, value in record.__dict__.items() if key not in STANDARD and key not in UNPRINTABLE}


class TextFormatter(logging.Formatter):
    """`2026-11-30T12:00:00Z WARNING routing.engine provider failed provider=openai kind=timeout`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and a traceback under it if there is one."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        words = [at, record.levelname, record.name, record.getMessage()]
        words += [f"{key}={value}" for key, value in fields(record).items()]
        text = " ".join(words)
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `time`, `level`, `logger`, `event`, the fields, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever is in it."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
            **fields(record),
        }
        if record.exc_info:
            line["exception"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
        return json.dumps(line, default=str, ensure_ascii=False)


def logging_config(*, level: str, style: str) -> dict[str, Any]:
    """The `LOGGING` setting: everything to stderr in one style."""
    formatter = "omniroute_site.logs.JsonFormatter" if style == "json" else "omniroute_site.logs.TextFormatter"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would print a second, differently shaped line
            "django": {"handlers": ["stderr"], "level": level, "propagate": False},
            "django.server": {"handlers": ["stderr"], "level": level, "propagate": False},
            # a line per connection and per start is uvicorn's idea of INFO; `serve` says what matters itself
            "uvicorn": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},  # logs every URL, and Gemini's carries its key
            "daphne": {"level": "WARNING"},
            "axes": {"level": "WARNING"},
            "psycopg": {"level": "ERROR"},  # two lines a second while PostgreSQL is away; we say so once ourselves
        },
    }
