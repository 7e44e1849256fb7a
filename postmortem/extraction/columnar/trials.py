"""Try rules and readers on single lines and on units of lines, to learn what they do on such lines.

In: a line and lines that differ from it in their numbers; the bytes of a unit, from the end of one
record to the end of the next, and of those before and behind it. Out: which literals a line holds;
what each rule does on all of the lines; what each line of the unit says, as the slow way would read
it. Not here: which numbers stay open (`line_shapes`), which lines are a unit (`units`), the
literals of regions (`row_cutter`), what is kept from line to line (`extraction.metric_lines`).
"""

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.extraction.columnar.rule_verdicts import (
    FOUND,
    NOTHING_KNOWN,
    UNSURE,
    VAIN,
    WAITS,
    RuleVerdict,
    build_verdict,
    find_required_word,
    has_no_match_start,
    must_match,
)
from postmortem.extraction.finding_lines import has_happened
from postmortem.extraction.formats import tables
from postmortem.extraction.formats.bars import UnfinishedBars
from postmortem.extraction.formats.blocks import parse_entry, read_block
from postmortem.extraction.formats.metric_line_parser import LineFigures, parse_metric_line
from postmortem.extraction.literals import LearntLiterals, Matcher, Wanted
from postmortem.reading.prefixes import Cleaned, clean
from postmortem.reading.windows import View
from postmortem.rules.base import Format, Signature
from postmortem.rules.engine import Budget


class LineLiterals:
    """Finds literals by the first of those that differ in a digit alone."""

    def __init__(self, matcher: Matcher, learnt: LearntLiterals) -> None:
        """Take the literals, and those that their source teaches."""
        self._matcher, self._learnt = matcher, learnt

    def of(self, raw: bytes) -> set[int]:
        """Give the literals of a line."""
        return self.of_each([raw])[0]

    def of_each(self, lines: Sequence[bytes]) -> list[set[int]]:
        """Give the literals of each line; a scan of many costs little more than one of one."""
        alike, found = self._matcher.alike, [set[int]() for _ in lines]
        joined = b"\n".join(lines)
        ends = list(itertools.accumulate(len(line) + 1 for line in lines))
        for number, start in self._learnt.hits(joined, 0, len(joined)):
            line = bisect.bisect_right(ends, start)
            if joined.startswith(self._learnt.texts(number), start, ends[line] - 1):
                found[line].add(alike[number])
        return found

    def find_unknown(self, known: frozenset[int], raw: bytes) -> list[tuple[int, int]]:
        """Give where those on a line of figures begin and end that are looked at and not known."""
        matcher = self._matcher
        return [
            (start, start + len(matcher.literals[number]))
            for number, start in matcher.filter.hits(raw, 0, len(raw))
            if matcher.is_more_than_metric[matcher.alike[number]]
            and matcher.alike[number] not in known
        ]


_FIGURES: Final = frozenset({"metric", "generic"})
_OF_MACHINE: Final = ("machine_", "gpu_")


class RuleTrials:
    """Asks the rules of one source."""

    def __init__(
        self,
        matcher: Matcher,
        literals: LineLiterals,
        budget: Budget,
        is_enough: Callable[[int], bool],
        *,
        srun: bool,
    ) -> None:
        """Take the rules and what searching is taken from.

        Args:
            matcher: the rules.
            literals: of the source.
            budget: of searches.
            is_enough: says whether a rule for facts has matched as often as it counts.
            srun: lines carry task numbers.
        """
        self._matcher, self._budget, self._srun = matcher, budget, srun
        self.literals = literals
        self._is_enough = is_enough
        self.trial_count = 0
        """About how many lines the rules were asked."""

    def answers(self, raw: bytes, *, is_read: bool) -> dict[Wanted, object]:
        """Give what each rule that wants a line does with it.

        `is_read`: its figures are taken by a template, and nobody else takes any.

        Raises:
            TimeoutError: a search took too long, or the budget is spent.
        """
        return self._try_rules(raw, self.literals.of(raw), is_read=is_read)

    def _try_rules(self, raw: bytes, literals: set[int], *, is_read: bool) -> dict[Wanted, object]:
        self.trial_count += 1
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._srun)
        wanted = dict.fromkeys(
            consumer for number in sorted(literals) for consumer in self._matcher.consumers[number]
        )
        return {
            consumer: self._try_rule(consumer, raw, cleaned, is_read=is_read) for consumer in wanted
        }

    def verdict(
        self, lines: Iterable[tuple[bytes, tuple[str, ...]]], *, is_read: bool
    ) -> RuleVerdict:
        """Give what the rules do on all lines of a shape, of which these are some.

        Nothing is known where a reader of figures may make something of one of them.
        """
        tried = list(lines)
        literals = self.literals.of_each([raw for raw, _ in tried])
        outcomes = []
        for (raw, texts), numbers in zip(tried, literals, strict=True):
            answers = self._try_rules(raw, numbers, is_read=is_read)
            if any(answer != VAIN for (kind, _), answer in answers.items() if kind in _FIGURES):
                return NOTHING_KNOWN
            outcomes.append((answers, texts))
        return build_verdict(self._matcher, outcomes, literals, is_read=is_read)

    def is_so(
        self,
        verdict: RuleVerdict,
        groups: tuple[int, ...],
        raw: bytes,
        texts: tuple[bytes, ...],
    ) -> bool:
        """Say whether the rules do on a line what they are known to do.

        Args:
            verdict: what is known.
            groups: by figure of the machine, the group of its number.
            raw: the line.
            texts: its groups.
        """
        found, stated = set(), dict[int, list[tuple[str, str]]]()
        for figure, group in zip(verdict.figures, groups, strict=True):
            number = texts[group].decode() if group >= 0 else ""
            stated.setdefault(figure.rule, []).append(
                (figure.name, f"{figure.before}{number}{figure.behind}")
            )
        for wanted, answer in self.answers(raw, is_read=not verdict.is_idle).items():
            if hash(wanted) not in verdict.known_rules:
                continue
            kind, index = wanted
            if answer == FOUND:
                found.add(index)
            elif (kind == "fact" and answer != stated.get(index, VAIN)) or answer == UNSURE:
                return False
        return found == set(verdict.found)

    def is_vain(self, verdict: RuleVerdict, number: int, raw: bytes) -> bool:
        """Say whether a literal on a line leads nowhere, but for the rules that are known.

        Only signatures may want it: whatever does not hold there leaves no trace.
        """
        if not self._matcher.is_of_signatures[number]:
            return False
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._srun)
        try:
            return all(
                self._try_rule(wanted, raw, cleaned, is_read=True) == VAIN
                for wanted in self._matcher.consumers[number]
                if hash(wanted) not in verdict.known_rules
            )
        except TimeoutError:
            return False

    def _try_rule(self, wanted: Wanted, raw: bytes, cleaned: Cleaned, *, is_read: bool) -> object:
        kind, index = wanted
        if kind in _FIGURES:
            return VAIN if is_read or self._has_no_figures(kind, index, raw) else UNSURE
        if kind == "signature":
            return self._try_signature(self._matcher.signatures[index], cleaned)
        if kind == "fact":
            fact = self._matcher.facts[index]
            return VAIN if self._is_enough(index) else _extract_fact(fact, cleaned, self._budget)
        return UNSURE

    def _has_no_figures(self, kind: str, index: int, raw: bytes) -> bool:
        """Say whether a reader of figures makes nothing of a line, whatever stands around it."""
        view = View(raw, 0, 0, srun=self._srun)
        if kind == "generic":
            return _is_no_record(view.cleaned.text)
        reader = self._matcher.metrics[index]
        return reader.is_of_one_line and reader.read(view, self._budget) is None

    def _try_signature(self, rule: Signature, cleaned: Cleaned) -> object:
        text = cleaned.text
        if text.lstrip().startswith("raise "):
            return UNSURE
        if not has_happened(rule, cleaned):
            return VAIN
        if rule.lines > 1:
            return self._try_several_lines(rule, text)
        return VAIN if rule.search(text, self._budget) is None else FOUND

    def _try_several_lines(self, rule: Signature, text: str) -> object:
        if must_match(rule, text, self._budget):
            return FOUND
        is_known = find_required_word(rule.match) and has_no_match_start(rule, text, self._budget)
        return WAITS if is_known else UNSURE


def _extract_fact(rule: Format, cleaned: Cleaned, budget: Budget) -> object:
    if int(rule.raw.get("lines", 1)) > 1:
        return UNSURE
    matches = (
        list(rule.finditer(cleaned.text, budget))
        if rule.raw.get("each")
        else list(filter(None, [rule.search(cleaned.text, budget)]))
    )
    if not matches:
        return VAIN
    captures = [
        (name, str(value))
        for match in matches
        for name, value in (*match.groupdict().items(), *(rule.raw.get("set") or {}).items())
        if value is not None
    ]
    is_of_machine = all(name.startswith(_OF_MACHINE) for name, _ in captures)
    return captures if is_of_machine and not rule.enough and not rule.framework else UNSURE


def _is_no_record(text: str) -> bool:
    """Say whether a line is none of a record, of several lines or one, and no heading."""
    return (
        parse_metric_line(text) is None
        and parse_entry(text) is None
        and "|" not in text
        and "[=" not in text
        and "━" not in text
        and " - " not in text
        and not tables.split_columns(text)
    )


_OF_FIGURES: Final = frozenset({"generic", "metric"})
_OF_RULES: Final = frozenset({"signature", "fact"})


class UnitRecord(NamedTuple):
    """A record that a unit holds."""

    line: int
    """Which of its lines is read as the record, counted from 0."""
    looked: LineFigures
    end: int
    """Which of its lines is the last of the record; -1 if the record is one line."""


class UnitReader:
    """Reads units of one source without keeping anything."""

    def __init__(
        self, matcher: Matcher, literals: LineLiterals, budget: Budget, *, srun: bool
    ) -> None:
        """Take the rules, the literals of the source, and what searching is taken from."""
        self._matcher, self._budget, self._srun = matcher, budget, srun
        self._literals = literals
        self.back_to = 0
        """Where the last record of several lines ended before the unit that was read last."""
        self.read_count = 0
        """About how many lines were read."""

    def read(
        self, before: bytes, unit: bytes, behind: bytes, *, back_to: int | None = None
    ) -> list[UnitRecord] | None:
        """Give the records of a unit; None if anything but the figures of its lines counts there.

        Args:
            before: whole lines, with their breaks, as are the others.
            unit: to be read.
            behind: whole lines behind it.
            back_to: where the last record before ends that is one of several lines, if that is
                known (`back_to`).
        """
        data, found, read_until = before + unit + behind, list[UnitRecord](), back_to or 0
        begin = 0 if back_to is None else len(before)
        lines = list(_iter_lines(data, begin, len(before) + len(unit)))
        literals = self._literals.of_each([data[start:end] for start, end in lines])
        first = sum(start < len(before) for start, _ in lines)
        self.read_count += len(lines)
        for number, ((start, _), own) in enumerate(zip(lines, literals, strict=True)):
            if number == first:
                self.back_to = read_until
            view = View(data, start, number, srun=self._srun)
            line = self._read_line(view, own, read_until)
            if line is None:
                return None
            read_until = max(read_until, line.end)
            if number >= first and line.looked is not None:
                last = -1 if not line.end else sum(end < line.end for _, end in lines) - first
                found.append(UnitRecord(number - first, line.looked, last))
        return found

    def _read_line(self, view: View, literals: set[int], read_until: int) -> "_ReadLine | None":
        """Read a line; None if anything but its figures counts there."""
        consumers = {one for literal in literals for one in self._matcher.consumers[literal]}
        kinds = {kind for kind, _ in consumers}
        if not kinds <= _OF_FIGURES | _OF_RULES or self._is_of_known_format(view, consumers):
            return None
        if "generic" not in kinds or view.start < read_until:
            return _NOTHING
        line = _read_unknown_line(view, read_until)
        is_bar = line is not None and line.looked is not None and line.looked.bar is not None
        return None if is_bar else line

    def _is_of_known_format(self, view: View, consumers: Iterable[Wanted]) -> bool:
        return any(
            self._matcher.metrics[index].read(view, self._budget) is not None
            for kind, index in consumers
            if kind == "metric"
        )


class _ReadLine(NamedTuple):
    looked: LineFigures | None
    end: int
    """Where a record of several lines ends; 0 if there is none."""


_NOTHING: Final = _ReadLine(None, 0)


def _read_unknown_line(view: View, back_to: int) -> _ReadLine | None:
    """Read a line of no known format; None if it begins what is more than a record."""
    text, where = view.cleaned.text, view.cleaned.where
    own = parse_entry(text)
    whole = read_block(view, own, back_to) if own is not None else None
    if whole is not None:
        looked = parse_metric_line(whole.text, where)
        if looked is not None:
            looked = looked._replace(found=looked.found._replace(layout=whole.kind))
        return _ReadLine(looked, whole.end)
    looked = parse_metric_line(text, where)
    if own is None and looked is None and _begins_more(text):
        return None
    return _ReadLine(looked, 0)


def _begins_more(text: str) -> bool:
    """Say whether a line may be the heading of a table, or a bar that has not ended."""
    bars = UnfinishedBars()
    bars.take(text, View(b"", 0, 0, srun=False).cleaned.where, 0, 0)
    return "|" in text or bool(tables.split_columns(text)) or bool(bars.rest(alone=True))


def _iter_lines(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends, from one up to the one that begins at `stop`."""
    while start < stop:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, end - (data[start:end].endswith(b"\r"))
        start = end + 1
