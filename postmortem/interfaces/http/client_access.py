"""What each client may do: access tokens, browser sessions, rate limits, the limit of running work.

In: a file or a variable of the environment; a client, a clock. Out: whether a token is known, as a
name that does not reveal it; whether work may start now, else after how many seconds. Not here:
where a request carries its token (`http.service_state`), responses (`http.api_errors`).

Tokens are held as hashes. All of them are compared each time, each in constant time.
"""

import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from postmortem.core.errors import UsageError
from postmortem.core.host.secrets import is_open_to_others

VARIABLE: Final = "POSTMORTEM_SERVICE_TOKENS"
"""Tokens, parted by white space."""
_SHORTEST: Final = 16
_LONGEST: Final = 512
_MOST_SESSIONS: Final = 1000
_NEW: Final = "make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


class AccessTokens:
    """Tokens that are known; without any, everybody may ask."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        """Take the tokens; only their hashes are kept."""
        self._hashes = tuple(dict.fromkeys(_hash_token(token) for token in tokens))

    @property
    def are_needed(self) -> bool:
        """Say whether there is any."""
        return bool(self._hashes)

    def find_holder(self, token: str) -> str | None:
        """Give a name for who holds a token; None if it is not known."""
        token_digest, found = _hash_token(token[:_LONGEST]), None
        for digest in self._hashes:
            if hmac.compare_digest(digest, token_digest):
                found = digest
        return None if found is None else found.hex()[:12]


class ReaderSessions:
    """Browsers that have given a token: each bears a number of its own, for some hours."""

    def __init__(self, hours: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Take for how long one holds."""
        self._seconds, self._clock = hours * 3600, clock
        self._open: OrderedDict[bytes, tuple[float, str]] = OrderedDict()

    @property
    def seconds(self) -> int:
        """Give for how long one holds."""
        return int(self._seconds)

    def begin(self, holder: str) -> str:
        """Open a session for who holds a token; the oldest gives way if there are too many."""
        number = secrets.token_urlsafe(32)
        self._open[_hash_token(number)] = (self._clock() + self._seconds, holder)
        while len(self._open) > _MOST_SESSIONS:
            self._open.popitem(last=False)
        return number

    def find_holder(self, number: str) -> str | None:
        """Give who opened a session; None if there is none of this number, or not any more."""
        until, holder = self._open.get(_hash_token(number[:_LONGEST]), (0.0, ""))
        return holder if holder and until > self._clock() else None

    def end(self, number: str) -> None:
        """Close a session."""
        self._open.pop(_hash_token(number[:_LONGEST]), None)


def _hash_token(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def load_tokens(path: Path | None) -> AccessTokens:
    """Read the tokens of a file and of the environment; a line that begins with # is none.

    Raises:
        UsageError: the file cannot be read, others may read it, or a token is too short.
    """
    found = os.environ.get(VARIABLE, "").split()
    _require_good(found, VARIABLE)
    if path is not None:
        lines = [line.strip() for line in _read_token_file(path).splitlines()]
        listed = [line for line in lines if line and not line.startswith("#")]
        _require_good(listed, path)
        if not listed:
            raise UsageError("the file of tokens holds none", path, _NEW)
        found += listed
    return AccessTokens(found)


def _read_token_file(path: Path) -> str:
    try:
        is_open = is_open_to_others(path)
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"the file of tokens cannot be read: {why}", path, "check it") from error
    if is_open:
        raise UsageError("others may read or write the file of tokens", path, f"chmod 600 {path}")
    return text


def _require_good(tokens: Iterable[str], where: object) -> None:
    for number, token in enumerate(tokens, 1):
        is_plain = token.isascii() and token.isprintable() and " " not in token
        if not (_SHORTEST <= len(token) <= _LONGEST and is_plain):
            raise UsageError(
                f"token {number} does not have {_SHORTEST} to {_LONGEST} printable characters of"
                " ASCII",
                where,
                _NEW,
            )


_USUAL_SECONDS: Final = 2.0
_NEWEST: Final = 0.2
"""Weight of the newest of the durations that are averaged."""


class ClientBuckets:
    """A bucket of tokens for each client: work takes one, and they come back with time."""

    def __init__(
        self,
        per_minute: float,
        burst: int,
        clients: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how fast they come back, how many there are at most, how many clients are kept."""
        self._per_second, self._burst, self._clients = per_minute / 60, float(burst), clients
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What each client had, and when; who was silent longest stands first."""

    def take(self, client: str) -> float:
        """Take one; 0 if there was one, else the seconds until there is."""
        now = self._clock()
        had, since = self._left.pop(client, (self._burst, now))
        has = min(self._burst, had + (now - since) * self._per_second)
        is_free = has >= 1
        self._left[client] = (has - is_free, now)
        while len(self._left) > self._clients:
            self._left.popitem(last=False)
        return 0.0 if is_free else (1 - has) / self._per_second


class WorkSlots:
    """Slots for running and waiting requests; a request without a slot is refused for now."""

    def __init__(
        self, workers: int, waiting: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take how many may run at once and how many more may wait."""
        self.workers, self.most, self._clock = workers, workers + waiting, clock
        self.taken = 0
        self._usual = _USUAL_SECONDS

    @property
    def are_free(self) -> bool:
        """Say whether there is one."""
        return self.taken < self.most

    @property
    def patience(self) -> float:
        """Give the seconds after which there should be one again."""
        return min(60.0, self._usual * max(1.0, self.taken / self.workers))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a place."""
        self.taken += 1
        began = self._clock()
        try:
            yield
        finally:
            self.taken -= 1
            self._usual += _NEWEST * (self._clock() - began - self._usual)
