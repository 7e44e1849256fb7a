"""Rate limits for each client, and the limit of concurrent work.

In: a client, a clock. Out: whether work may start now, else after how many seconds. Not here: who a
client is (`http.authentication`), its response (`http.api_errors`).
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

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
