"""Threads that take issues and runs under a lease, answer them, and retry failures.

In: a store, trackers, a judge. Out: answered places. Not here: what is answered (`bots.answering`).
Several processes may share a store: no place is answered by two at once, and the work of a process
of this machine is taken over as soon as it is gone. What failed is written into the store with
the time before which it is not tried again.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from postmortem.core.errors import InputError, PostmortemError
from postmortem.core.host.lease_owners import build_owner_name, is_gone
from postmortem.fleet.store.answer_rows import AnswerRow
from postmortem.fleet.store.opened_store import Store
from postmortem.interfaces.bots.answering import Answering, ClaimedThread
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import RUN_PLACE
from postmortem.interfaces.bots.judged_log import Judge
from postmortem.interfaces.trackers.tracker_errors import NotThere, TryLater
from postmortem.interfaces.trackers.tracker_protocol import Tracker

_LOG: Final = logging.getLogger("postmortem.interfaces.bots")
_LEASE: Final = 90.0
"""Seconds: of a process that died on another machine nothing is expected after that."""
_RENEWED_EVERY: Final = 5.0
_POLL: Final = 2.0
"""Seconds after which one looks for what other processes took in, and for what is due again."""
_LONGEST: Final = 900.0
"""Seconds between two tries at most; each waits twice as long as the last, give or take."""
_KEPT_DAYS: Final = 30.0
_DAY: Final = 86_400.0
GONE: Final = "gone"
FAILED: Final = "failed"


class AnsweringLoop:
    """Answers what waits in a store, until it is closed."""

    def __init__(
        self, store: Store, trackers: Mapping[str, Tracker], judge: Judge, settings: BotSettings
    ) -> None:
        self._store, self._trackers, self._settings = store, trackers, settings
        self._answering = Answering(store, judge, settings)
        self._owner = build_owner_name()
        self._ended, self._woken = threading.Event(), threading.Condition()
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._paused: dict[str, float] = {}
        work: list[Callable[[], None]] = [self._renew, *[self._work] * settings.workers]
        self._threads = [threading.Thread(target=target, daemon=True) for target in work]

    def start(self) -> None:
        """Begin to answer."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Have it look now: something has come."""
        with self._woken:
            self._woken.notify()

    def close(self, seconds: float) -> None:
        """End within so many seconds; what is under way then is left to whoever comes next."""
        self._ended.set()
        with self._woken:
            self._woken.notify_all()
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            is_busy = bool(self._held)
        if not is_busy:
            self._store.answers.release(self._owner)

    def answer_one(self) -> bool:
        """Take a place and answer it; False if there is none that is due."""
        row = self._store.answers.claim(self._owner, _LEASE, self._reachable())
        if row is None:
            return False
        with self._lock:
            self._held.add(row.claim)
        try:
            self._answer(row)
        finally:
            with self._lock:
                self._held.discard(row.claim)
        return True

    def _work(self) -> None:
        while not self._ended.is_set():
            try:
                is_more = self.answer_one()
            except PostmortemError as error:  # the store: it may come back
                _LOG.warning("%s", error)
                is_more = False
            except Exception as error:  # noqa: BLE001 -- a thread that ends answers nobody any more
                _LOG.warning("internal error: %s", type(error).__name__)
                is_more = False
            if not is_more:
                with self._woken:
                    self._woken.wait(0 if self._ended.is_set() else _POLL)

    def _renew(self) -> None:
        """Keep the leases, take over from processes that are gone, and forget what is old."""
        forgotten = 0.0
        while True:
            try:
                self._take_over()
                with self._lock:
                    held = set(self._held)
                if held:
                    self._store.answers.renew(held, _LEASE)
                if time.monotonic() - forgotten > _DAY or not forgotten:
                    forgotten = time.monotonic()
                    self._store.deliveries.forget(_KEPT_DAYS)
            except PostmortemError as error:
                _LOG.warning("%s", error)
            if self._ended.wait(_RENEWED_EVERY):
                return

    def _take_over(self) -> None:
        for owner in self._store.answers.list_owners():
            if is_gone(owner):
                self._store.answers.release(owner)

    def _reachable(self) -> list[str]:
        """Give the trackers that have not asked to be left alone for a while."""
        now = time.monotonic()
        with self._lock:
            return [name for name in self._trackers if self._paused.get(name, 0.0) <= now]

    def _answer(self, row: AnswerRow) -> None:
        """Answer a place; errors are recorded in the store and never end the thread."""
        waiting = tuple(self._store.deliveries.list_waiting(row.place))
        tracker = self._trackers[row.place.tracker]
        claimed = ClaimedThread(
            tracker, row, waiting, lambda: self._store.answers.holds(row.claim, _LEASE)
        )
        try:
            if not waiting:
                pass  # whoever had the lease before has just settled them
            elif row.place.kind == RUN_PLACE:
                self._answering.place_run(claimed)
            else:
                row = self._answering.answer(claimed)
        except NotThere as error:
            self._give_up(claimed, GONE, error)
        except TryLater as error:
            self._later(claimed, error)
        except InputError:  # the store: the lease runs out, and it is tried again
            raise
        except PostmortemError as error:
            self._give_up(claimed, FAILED, error)
        except Exception as error:  # noqa: BLE001 -- one place of many: it is told in its rows
            _LOG.warning("%s: %s", _format_thread_name(row), type(error).__name__)
            self._later(claimed, TryLater(f"internal error ({type(error).__name__})"))
        else:
            self._store.answers.keep(row)

    def _give_up(self, claimed: ClaimedThread, state: str, error: PostmortemError) -> None:
        """End the matter, with its reason."""
        _LOG.warning("%s: %s: %s", _format_thread_name(claimed.row), state, error)
        numbers = [delivery.number for delivery in claimed.waiting]
        claim = claimed.row.claim
        self._store.deliveries.settle(numbers, state, str(error), claim=claim)
        self._store.answers.end(claim)

    def _later(self, claimed: ClaimedThread, error: TryLater) -> None:
        """Have it tried again, or give up after too many tries."""
        row = claimed.row
        if error.seconds is not None:
            with self._lock:
                self._paused[row.place.tracker] = time.monotonic() + min(error.seconds, 3600.0)
        if row.failed_tries + 1 >= self._settings.attempts:
            self._give_up(claimed, FAILED, error)
            return
        first = self._settings.retry_seconds
        pause = min(_LONGEST, first * 2.0**row.failed_tries) * random.uniform(0.5, 1.0)  # noqa: S311
        _LOG.warning("%s: once more: %s", _format_thread_name(row), error)
        self._store.answers.postpone(row, max(pause, error.seconds or 0.0))


def _format_thread_name(row: AnswerRow) -> str:
    return f"{row.place.tracker} {row.place.project} {row.place.kind} {row.place.name}"
