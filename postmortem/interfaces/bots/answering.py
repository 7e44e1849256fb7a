"""Answer one issue or run: all waiting deliveries at once, by its current state.

In: what waits, a tracker, a judge. Out: the one comment, labels, and the state of each delivery.
Not here: scheduling and retries (`bots.answering_loop`).

An issue without a command is answered only if the cause is clear; a command is always answered. An
existing comment is kept up to date in either case. An article of the rules is a comment of its own
for each comment that asks for one.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from postmortem.fleet.store.answer_rows import AnswerRow, DeliveryRow
from postmortem.fleet.store.opened_store import Store
from postmortem.interfaces.bots.bot_commands import ANALYZE, EXPLAIN
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.judged_log import Judge
from postmortem.interfaces.bots.log_collection import GatheredLogs, collect_logs
from postmortem.interfaces.bots.verdict_finder import FoundVerdict, VerdictFinder
from postmortem.interfaces.trackers.bot_comment import update_or_create_comment
from postmortem.interfaces.trackers.tracker_errors import NotThere, TrackerError, TryLater
from postmortem.interfaces.trackers.tracker_protocol import Tracker
from postmortem.interfaces.trackers.tracker_values import IssuePlace, IssueThread, TrackerUser

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
