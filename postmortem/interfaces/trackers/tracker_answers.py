"""Parse what all trackers send alike: objects, ids, how long to wait.

In: parsed JSON, texts. Out: checked values. Not here: the shapes of one tracker (`*_payloads`).
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from postmortem.interfaces.trackers.tracker_errors import TrackerError

_Kind = TypeVar("_Kind", bound=BaseModel)
_MOST_DIGITS: Final = 19
"""Of an id: what 64 bits hold."""
_MOST_OF_A_WAIT: Final = 7


def read_answer(kind: type[_Kind], value: Any, tracker: str) -> _Kind:
    """Read an object of an answer; one that has been read already stays as it is.

    Raises:
        TrackerError: it is none.
    """
    if isinstance(value, kind):
        return value
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise TrackerError(
            f"an answer of {tracker} cannot be read: {_format_error_fields(error)}"
        ) from None


def read_delivery(kind: type[_Kind], body: bytes, tracker: str) -> _Kind:
    """Read the body of a delivery.

    Raises:
        TrackerError: it is none.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise TrackerError(
            f"this is no delivery of {tracker}: {_format_error_fields(error)}"
        ) from None


def parse_path_id(text: str, tracker: str) -> int:
    """Read an id that stands in a path.

    Raises:
        TrackerError: it is none.
    """
    if not _is_number(text, _MOST_DIGITS):
        raise TrackerError(f"this is no id of {tracker}")
    return int(text)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Give the seconds of `Retry-After`; None if it says none."""
    text = headers.get("retry-after", "")
    return float(text) if _is_number(text, _MOST_OF_A_WAIT) else None


def _is_number(text: str, most: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= most


def _format_error_fields(error: ValidationError) -> str:
    """Name the fields that are wrong, without what stands there."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return ", ".join(".".join(map(str, fault["loc"])) or fault["type"] for fault in found[:3])
