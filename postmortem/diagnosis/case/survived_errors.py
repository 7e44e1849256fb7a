"""Find the tracebacks that the run survived: reported in passing, or caught.

In: tracebacks and findings of the last attempt. Out: `SurvivedErrors`, which judges a traceback
and what is found within one, or is nonfatal (`case.nonfatal`). Not here: what may have ended the
run (`case.failures`), records that follow.

What a finalizer, an exit handler or the logging module prints ends nothing. A traceback with
ordinary output of its process behind it ended nothing either, once something else did: a failure of
its own that comes later, or the end marker. Alone it may still be the end, as standard output
arrives behind standard error.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from postmortem.core.findings import NOWHERE, Finding, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.diagnosis.case.failures import (
    QUOTED,
    SURVIVED_RECORDS,
    Failure,
    has_end_marker,
    is_consequence,
)
from postmortem.extraction.extract import Extract, Sighting, count_records_after
from postmortem.extraction.trailing_context import (
    ASIDE,
    BETWEEN,
    EXIT,
    LOGGED,
    REPORTED,
    THREAD,
)
from postmortem.reading.windows import is_same_process
from postmortem.rules.base import Signature
from postmortem.rules.vocabulary import Trait, has_trait

_Found = TypeVar("_Found", Traceback, Sighting)
_LAST_LINES: Final = 2
"""Lines that a program may still write behind the error that ends it: folders, closed trackers."""
_OF_MANY: Final = ("unknown.child-failed", "context.elastic-root-cause", "harmless.omp-threads")
_HELPERS: Final = compile_lazily(
    r"[/\\](?:wandb|mlflow|comet_ml|neptune|swanlab|clearml|aim|trackio|tensorboard\w*|sentry_sdk"
    r"|prometheus_client|urllib3|requests|httpx|tqdm|psutil|pynvml|gpustat)[/\\]"
)


class SurvivedErrors:
    """The tracebacks that ended nothing."""

    def __init__(
        self,
        tracebacks: Iterable[tuple[Traceback, int]],
        seen: Sequence[Sighting],
        rules: Mapping[str, Signature],
        extract: Extract,
        passed: Container[tuple[int, int]] = (),
        closing: tuple[int, int] | None = None,
        ends: Mapping[int, int] | None = None,
    ) -> None:
        """Judge each traceback by what comes after it.

        Args:
            tracebacks: with the records before each.
            seen: the findings.
            rules: signatures by id.
            extract: tells how many records there are beside them.
            passed: places of the findings that ended nothing, by source and offset.
            closing: source and line of words with which the run closes, if there are any.
            ends: the line, by source, at which a process says that its run is through.
        """
        self._closing, self._ends, self._lines = closing, ends or {}, extract.lines
        self._over = passed
        tracebacks = list(tracebacks)
        all_tracebacks = [traceback for traceback, _ in tracebacks]
        self._tracebacks, self._found = _group_by_source(all_tracebacks), _group_by_source(seen)
        self._seen, self._rules = seen, rules
        self._last_uncaught = _find_last_uncaught(all_tracebacks)
        self._last_trouble = _find_last_trouble(seen)
        self._is_of_many = any(
            found.finding.signature.startswith(_OF_MANY) or found.finding.where != NOWHERE
            for found in seen
        )
        self._gone = {
            (traceback.source, traceback.offset)
            for traceback, before in tracebacks
            if traceback.aside == EXIT
            or self._is_survived(traceback)
            or self._is_handled(traceback, before, count_records_after(extract, traceback, before))
        }
        self._passed = {
            (traceback.source, traceback.offset)
            for traceback, before in tracebacks
            if count_records_after(extract, traceback, before) >= SURVIVED_RECORDS
        }

    def has(self, traceback: Traceback) -> bool:
        """Say whether the run has outlived a traceback."""
        return (traceback.source, traceback.offset) in self._gone

    def holds(self, finding: Finding) -> bool:
        """Say whether a finding stands within a traceback that the run has outlived."""
        is_over = (finding.source, finding.offset) in self._over
        return is_over or any(self.has(traceback) for traceback in self._iter_around(finding))

    def is_passed(self, finding: Finding, first: Failure | None) -> bool:
        """Say whether it does, or records follow the traceback, and the run ended otherwise.

        What a run tells aside may be all that is known of its end.
        """
        if (finding.source, finding.offset) in self._over:
            return True
        return any(
            (traceback.source, traceback.offset) in self._passed
            or (
                self.has(traceback) and (is_outlived_by_run(traceback) or self._is_explained(first))
            )
            for traceback in self._iter_around(finding)
            if first is None or not _is_enclosing(traceback, first)
        )

    def _is_explained(self, first: Failure | None) -> bool:
        return first is not None or self._closing is not None or has_end_marker(self._seen)

    def _iter_around(self, finding: Finding) -> Iterator[Traceback]:
        for traceback in self._tracebacks.get(finding.source, ()):
            if _is_within(finding, traceback):
                yield traceback

    def _is_survived(self, traceback: Traceback) -> bool:
        if traceback.aside == THREAD and self._has_outlived_thread(traceback):
            return True
        if not self._has_gone_on(traceback):
            return False
        is_caught = traceback.was_caught() or traceback.level in QUOTED
        if is_caught and (self._is_end_behind(traceback) or self._is_printed_by_handler(traceback)):
            return True
        if self._is_of_many and not is_caught and traceback.where[:2] == NOWHERE[:2]:
            return False
        return self._is_later(traceback, is_any=is_caught and not self._is_of_many)

    def _has_gone_on(self, traceback: Traceback, records: int = 0) -> bool:
        """Say whether more follows than what a program writes while it comes down."""
        behind = self._lines.get(traceback.source, 0) - traceback.went_on
        is_more = behind >= _LAST_LINES or records > 0 or traceback.aside == BETWEEN
        return traceback.went_on > 0 and (is_more or self._is_end_behind(traceback))

    def _has_outlived_thread(self, traceback: Traceback) -> bool:
        """Say whether the run completed after a thread died, or failed later by itself."""
        is_through = self._is_through_behind(traceback) or self._is_success_behind(traceback)
        return is_through or (_is_of_a_helper(traceback) and self._is_later(traceback, is_any=True))

    def _is_handled(self, traceback: Traceback, before: int, behind: int) -> bool:
        """Say whether the program that printed a traceback goes on as before, and comes to its end.

        A logger writes at once, so that one line of it behind an error that it tells is enough.
        What is printed may be late: of it some must stand before the error and some behind.
        """
        if traceback.aside in {LOGGED, REPORTED} and self._is_through_behind(traceback):
            return True
        is_caught = traceback.was_caught() and not self._has_uncaught_behind(traceback)
        is_going_on = self._has_gone_on(traceback, behind) or (is_caught and behind > 0)
        if not is_going_on or traceback.aside not in {"", LOGGED, REPORTED, BETWEEN}:
            return False
        if self._is_in_order(traceback, before, behind):
            return True
        is_printed_in_order = before > 0 or is_caught
        return self._is_end_behind(traceback) and is_printed_in_order and behind > 0

    def _is_in_order(self, traceback: Traceback, before: int, behind: int) -> bool:
        """Say whether what a logger or a lone process writes behind a traceback came after it."""
        if traceback.aside == LOGGED:
            return behind > 0 or before == 0
        is_announced = traceback.aside == REPORTED and behind >= SURVIVED_RECORDS
        return not self._is_of_many and (traceback.aside == BETWEEN or is_announced)

    def _is_later(self, traceback: Traceback, *, is_any: bool) -> bool:
        """Say whether the process failed by itself later on; or, of `any` failure, in any way."""
        end = max(traceback.end_line, traceback.went_on)
        near = self._found.get(traceback.source, ())
        own = _collect_own_signatures(near, traceback)
        return any(
            other.line > end
            and other.aside not in ASIDE
            and not is_consequence(other)
            and _format_exception(other) != _format_exception(traceback)
            and is_same_process(traceback.where, other.where)
            for other in self._tracebacks.get(traceback.source, ())
        ) or any(
            found.finding.line > end
            and found.finding.signature not in own
            and self._is_failure(found.finding, is_any=is_any)
            and is_same_process(traceback.where, found.finding.where)
            and not self._is_aside(found.finding)
            for found in near
        )

    def _is_failure(self, finding: Finding, *, is_any: bool) -> bool:
        rule = self._rules[finding.signature]
        return (
            finding.role == "cause"
            and rule.fatal
            and finding.level not in QUOTED
            and (is_any or not (rule.told_by or has_trait(finding.signature, Trait.ECHO_OR_STOP)))
        )

    def _is_aside(self, finding: Finding) -> bool:
        return any(traceback.aside in ASIDE for traceback in self._iter_around(finding))

    def _is_through_behind(self, traceback: Traceback) -> bool:
        return self._ends.get(traceback.source, 0) > traceback.end_line

    def _is_printed_by_handler(self, traceback: Traceback) -> bool:
        """Say whether a lone process caught and printed it, and reports no failure behind it."""
        return (
            not self._is_of_many
            and traceback.was_caught()
            and traceback.aside in {"", LOGGED, REPORTED}
            and not self._has_uncaught_behind(traceback)
            and self._last_trouble.get(traceback.source, 0) <= traceback.end_line
        )

    def _has_uncaught_behind(self, traceback: Traceback) -> bool:
        return self._last_uncaught.get(traceback.source, 0) > traceback.line

    def _is_end_behind(self, traceback: Traceback) -> bool:
        """Say whether the run announces its end later on, by an end marker or in closing words.

        Behind the shutdown of its interpreter somebody else speaks: the script that started it.
        """
        if any(
            other.aside == EXIT and other.line > traceback.end_line
            for other in self._tracebacks.get(traceback.source, ())
        ):
            return False
        return self._is_success_behind(traceback) or (
            self._closing is not None
            and self._closing[0] == traceback.source
            and self._closing[1] >= max(traceback.went_on, traceback.end_line)
        )

    def _is_success_behind(self, traceback: Traceback) -> bool:
        return any(
            has_trait(found.finding.signature, Trait.SOUND)
            and found.finding.offset > traceback.offset
            for found in self._found.get(traceback.source, ())
        )


def is_outlived_by_run(traceback: Traceback) -> bool:
    """Say whether the run itself, no exit handler or thread, goes on behind an exception."""
    return traceback.went_on > 0 and traceback.aside not in ASIDE


def _group_by_source(found: Iterable[_Found]) -> dict[int, list[_Found]]:
    """Put together what stands in one source: of thousands, few are of any use for another."""
    groups: dict[int, list[_Found]] = {}
    for item in found:
        source = item.finding.source if isinstance(item, Sighting) else item.source
        groups.setdefault(source, []).append(item)
    return groups


def _find_last_uncaught(tracebacks: Iterable[Traceback]) -> dict[int, int]:
    """Find the last line, by source, at which an exception that nobody caught begins."""
    last: dict[int, int] = {}
    for traceback in tracebacks:
        if traceback.aside not in ASIDE and not traceback.was_caught():
            last[traceback.source] = max(last.get(traceback.source, 0), traceback.line)
    return last


def _find_last_trouble(seen: Iterable[Sighting]) -> dict[int, int]:
    """Find the last line, by source, that a rule takes for a cause or its consequence."""
    last: dict[int, int] = {}
    for sighting in seen:
        finding = sighting.finding
        if finding.role in {"cause", "consequence"}:
            last[finding.source] = max(last.get(finding.source, 0), finding.line)
    return last


def _collect_own_signatures(seen: Iterable[Sighting], traceback: Traceback) -> set[str]:
    """Collect what is found within a traceback; told once more it is no other failure."""
    return {found.finding.signature for found in seen if _is_within(found.finding, traceback)}


def _is_within(finding: Finding, traceback: Traceback) -> bool:
    return traceback.line <= finding.line <= traceback.end_line and is_same_process(
        finding.where, traceback.where
    )


def _is_enclosing(traceback: Traceback, first: Failure) -> bool:
    return traceback.source == first.source and traceback.line <= first.line <= traceback.end_line


def _is_of_a_helper(traceback: Traceback) -> bool:
    """Say whether a thread that has failed only reports what the training does."""
    return any(_HELPERS.search(frame.file) for frame in traceback.frames)


def _format_exception(traceback: Traceback) -> str:
    return f"{traceback.exception}: {traceback.message}"[:160]
