"""What trackers share: a base, checks of their settings, secrets and the answers of their servers.

In: texts of the settings, `env:NAME` or `file:PATH`; parsed JSON, headers. Out: the same, checked;
a secret, hidden in representations; objects, ids, how long to wait. Not here: which settings and
secrets there are, the shapes of one tracker (`github_api`, `gitlab_api`), addresses of files
(`trackers.guarded_fetch`).

A secret written into the settings themselves is refused: those are shown and passed on.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from threading import Lock
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, SecretStr, ValidationError

from postmortem.core.host import secrets
from postmortem.core.host.machine import is_loopback
from postmortem.interfaces.trackers.tracker_protocol import TrackerError, TrackerUser


def check_server_address(address: str, example: str) -> str:
    """Check an address: https, or http to this machine itself.

    Raises:
        ValueError: it is none; what stands there is not repeated.
    """
    scheme, mark, rest = address.rstrip("/").partition("://")
    host = rest.partition("/")[0].rpartition(":")[0] or rest.partition("/")[0]
    if not mark or not rest or {*rest} & {*"@?# "}:
        raise ValueError(f"write {example}")
    if scheme != "https" and not (scheme == "http" and is_loopback(host.strip("[]"))):
        raise ValueError("only https, or http to this machine itself")
    return f"{scheme}://{rest}"


def _check_secret_reference(named: str) -> str:
    if not secrets.is_place(named):
        raise ValueError(secrets.PLACE)  # what stands there may be the secret: it is not repeated
    return named


SecretName = Annotated[str, AfterValidator(_check_secret_reference)]
"""Where a secret stands, in the settings."""


def read_secret(named: str, what: str) -> SecretStr:
    """Read a secret from `env:NAME` or `file:PATH`; errors say `what` it is.

    Raises:
        UsageError: there is none.
    """
    return SecretStr(secrets.read_secret(named, what))


NO_LOGS: Final = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".mp4", ".mov"),
    *(".webm", ".pdf", ".docx", ".pptx", ".xlsx"),
)
"""Suffixes of attached files that are no logs."""
MOST_JOBS: Final = 10


class TrackerBase(ABC):
    """What a tracker has, whatever its server is: a name, a webhook's secret, an identity."""

    def __init__(self, name: str, secret: str | None) -> None:
        """Take the name, and where the webhook's secret stands; UsageError if it does not."""
        self.name = name
        what = "the webhook's secret"
        self._secret = secrets.read_secret(secret, what).encode() if secret else None
        self._lock = Lock()
        self._myself: TrackerUser | None = None

    def myself(self) -> TrackerUser:
        """Ask once who this is."""
        with self._lock:
            self._myself = self._myself or self._fetch_identity()
            return self._myself

    @abstractmethod
    def _fetch_identity(self) -> TrackerUser:
        """Ask who this is."""


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
