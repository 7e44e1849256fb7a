"""Answer issues and failed runs: threads take them under a lease, answer once, and retry failures.

In: a store with what waits, trackers, a judge. Out: the one comment of each issue or run, labels,
and the state of each delivery. Not here: receiving deliveries (`bots.delivery_intake`), judging
(`bots.verdict_finder`).

All waiting deliveries of an issue are answered at once, by its current state. An issue without a
command is answered only if the cause is clear; a command is always answered. An existing comment is
kept up to date in either case. An article of the rules is a comment of its own for each comment
that asks for one. Several processes may share a store: no place is answered by two at once, and the
work of a process of this machine is taken over as soon as it is gone. What failed is written into
the store with the time before which it is not tried again.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from postmortem.core.errors import InputError, PostmortemError
from postmortem.core.host.machine import build_owner_name, is_gone
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import AnswerRow, DeliveryRow
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.delivery_intake import RUN_PLACE
from postmortem.interfaces.bots.issue_text import ANALYZE, EXPLAIN, GatheredLogs, collect_logs
from postmortem.interfaces.bots.verdict_finder import FoundVerdict, Judge, VerdictFinder
from postmortem.interfaces.trackers.bot_comment import update_or_create_comment
from postmortem.interfaces.trackers.tracker_protocol import (
    IssuePlace,
    IssueThread,
    NotThere,
    Tracker,
    TrackerError,
    TrackerUser,
    TryLater,
)

_LOG: Final = logging.getLogger("postmortem.interfaces.bots")
VERDICT: Final = "verdict"
"""The key of the one comment with the verdict."""
DONE: Final = "done"
QUIET: Final = "quiet"
"""Nothing was to be said."""
REFUSED: Final = "refused"
"""Who asks may not command."""
NOWHERE: Final = "nowhere"
"""A run without a request to merge."""


@dataclass(frozen=True, slots=True)
class ClaimedThread:
    """A place that is being answered."""

    tracker: Tracker
    row: AnswerRow
    waiting: tuple[DeliveryRow, ...]
    may_write: Callable[[], bool]

    @property
    def place(self) -> IssuePlace:
        """Give the place as the tracker knows it."""
        _, project, kind, number = self.row.place
        return IssuePlace(project, kind, int(number))


class Answering:
    """Answers places."""

    def __init__(self, store: Store, judge: Judge, settings: BotSettings) -> None:
        self._store, self._settings = store, settings
        self._finder = VerdictFinder(judge, settings)

    def place_run(self, claimed: ClaimedThread) -> None:
        """Find the request that a run belongs to, and have it answered there.

        Raises:
            TrackerError: it could not be asked for.
        """
        row = claimed.row
        place = claimed.tracker.place_of_run(row.place.project, row.place.name)
        if place is None:
            _LOG.warning("run %s of %s: no open request", row.place.name, row.place.project)
            self._settle(claimed, claimed.waiting, NOWHERE)
            return
        there = row.place._replace(kind=place.kind, name=str(place.number))
        numbers = [delivery.number for delivery in claimed.waiting]
        self._store.deliveries.move(numbers, there, row.claim)

    def answer(self, claimed: ClaimedThread) -> AnswerRow:
        """Answer all that waits in a place; gives what stands there then.

        Raises:
            NotThere: it is gone.
            TrackerError: it could not be done.
        """
        tracker = claimed.tracker
        thread = tracker.thread(claimed.place)
        allowed = [
            delivery for delivery in claimed.waiting if self._may_ask(tracker, thread, delivery)
        ]
        refused = [delivery for delivery in claimed.waiting if delivery not in allowed]
        self._settle(claimed, refused, REFUSED)
        if not allowed:
            return claimed.row
        users = [TrackerUser(delivery.asker, delivery.asker_name) for delivery in allowed]
        comments = list(tracker.comments(claimed.place))
        gathered = collect_logs(tracker, self._settings, thread, comments, users)
        articles = [delivery for delivery in allowed if delivery.ask == EXPLAIN]
        self._explain(claimed, articles, self._finder.choose_language(gathered))
        requests = [delivery for delivery in allowed if delivery.ask != EXPLAIN]
        return self._brought_up(claimed, thread, gathered, requests) if requests else claimed.row

    def _explain(
        self, claimed: ClaimedThread, requests: Sequence[DeliveryRow], language_code: str
    ) -> None:
        """Answer each comment that asks for an article, in a comment of its own."""
        for request in {delivery.comment: delivery for delivery in requests}.values():
            update_or_create_comment(
                claimed.tracker,
                claimed.place,
                self._finder.explain(request.about, language_code),
                key=f"explain:{request.comment}",
                may_write=claimed.may_write,
            )
        self._settle(claimed, requests, DONE)

    def _may_ask(self, tracker: Tracker, thread: IssueThread, delivery: DeliveryRow) -> bool:
        """Say whether who asks may; whoever opens an issue or has a run fail commands nothing."""
        who = self._settings.commands
        if delivery.ask not in {ANALYZE, EXPLAIN} or who == "everybody":
            return True
        if not delivery.asker:
            return False
        is_author = delivery.asker == thread.author.identity
        account = TrackerUser(delivery.asker, delivery.asker_name)
        return (who == "author" and is_author) or tracker.is_member(thread.place.project, account)

    def _brought_up(
        self,
        claimed: ClaimedThread,
        thread: IssueThread,
        gathered: GatheredLogs,
        requests: Sequence[DeliveryRow],
    ) -> AnswerRow:
        """Bring the one comment up to date, and the labels with it."""
        is_commanded = any(delivery.ask == ANALYZE for delivery in requests)
        run = next((delivery.run for delivery in reversed(requests) if delivery.run), "")
        if not run and not gathered.logs and is_commanded:
            run = claimed.row.run
        found = self._found(claimed, gathered, run, is_commanded=is_commanded)
        if found is None:
            self._settle(claimed, requests, QUIET)
            return claimed.row
        before = claimed.row.comment
        settled = update_or_create_comment(
            claimed.tracker,
            claimed.place,
            found.text,
            key=VERDICT,
            known=before,
            # A comment that somebody has deleted is not written again unless they ask for it.
            is_new_wanted=is_commanded or (found.is_plain and not before),
            may_write=claimed.may_write,
        )
        row = replace(claimed.row, comment=settled.identity or before, run=run or claimed.row.run)
        self._store.answers.note(row)
        row = self._relabelled(claimed, thread, row, found.labels)
        self._settle(claimed, requests, QUIET if settled.how == "none" else DONE)
        return row

    def _found(
        self, claimed: ClaimedThread, gathered: GatheredLogs, run: str, *, is_commanded: bool
    ) -> FoundVerdict | None:
        """Judge what there is; None if it was a run, and its logs are gone."""
        tracker, language_code = claimed.tracker, self._finder.choose_language(gathered)
        if run:
            found = self._finder.judge_run(tracker, claimed.place.project, run, language_code)
            if found is not None or not is_commanded:
                return found
        return self._finder.judge_issue(tracker, gathered, language_code)

    def _relabelled(
        self, claimed: ClaimedThread, thread: IssueThread, row: AnswerRow, wanted: frozenset[str]
    ) -> AnswerRow:
        """Put on the label of the cause, and take off those that were put on before."""
        own, there = set(row.labels), {label.casefold() for label in thread.labels}
        add = {label for label in wanted if label.casefold() not in there}
        drop = {label for label in own - wanted if label.casefold() in there}
        if not add and not drop:
            return replace(row, labels=tuple(sorted(own & wanted)))
        # Written down before it is done: who is killed in between has put on no label that nobody
        # knows of.
        self._store.answers.note(replace(row, labels=tuple(sorted(own | add))))
        try:
            if claimed.may_write():
                claimed.tracker.relabel(claimed.place, add, drop)
        except (TryLater, NotThere):
            raise
        except TrackerError as error:
            _LOG.warning("labels of %s: %s", claimed.place, error)
            return row
        return replace(row, labels=tuple(sorted((own & wanted) | add)))

    def _settle(
        self, claimed: ClaimedThread, deliveries: Sequence[DeliveryRow], state: str
    ) -> None:
        if deliveries:
            numbers = [delivery.number for delivery in deliveries]
            self._store.deliveries.settle(numbers, state, claim=claimed.row.claim)


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
