"""Find where the training program starts anew within one source.

In: the lines of a source whose wording comes again, its series, what ended something. Out: the raw
lines at which a start begins, the first among them. Not here: which attempt is judged
(`case.attempts`).

What stands before the first record of a start is its opening. Another start begins where an opening
comes again, its first line and a good part of the rest, and a second witness says so: something
ended right before, a launcher speaks, the counter of the records falls, another process prints, or
a while passed. Any of these alone misleads.
"""

import bisect
import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import ANSI, compile_lazily
from postmortem.core.names import EPOCH
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.clock import parse_time
from postmortem.extraction.facts.series import Series
from postmortem.extraction.kept_lines import RecurringLine, get_wording
from postmortem.reading.prefixes import clean, convert_to_seconds, get_time_basis

_LONGEST_OPENING: Final = 80
"""Lines of an opening that are compared."""
_SHARE: Final = 0.5
"""Share of an opening that must come again."""
_WHOLE: Final = 0.9
"""The same where it begins with an error."""
_FIRST: Final = 4
"""Lines at the head of a log of which each may open the next start: what runs many starts speaks
once, before the first of them."""
_LONG, _VERY_LONG = 8, 20
"""Lines of an opening that says that a run was resumed: behind an end, and by itself."""
_NEAR: Final = 15
"""Lines before a start in which what ended the run before it stands."""
_TOGETHER: Final = 3
"""Lines between two openings of one start."""
_GAP, _WORK_GAP = 20.0, 15.0
"""Seconds without output between two runs; seconds of work between two starts."""
_DATE: Final = compile_lazily(
    r"\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+(?P<month>[JFMASOND][a-z]{2})\s+(?P<day>\d{1,2})\s+"
    r"(?P<clock>\d\d:\d\d:\d\d)\s+(?:[A-Z]{2,5}\s+)?(?P<year>\d{4})"
)
"""What `date` prints."""
_CLOCK_ONLY: Final = b"date"
"""The wording of such a line, whatever the day of the week is called."""
_MONTHS: Final = "JanFebMarAprMayJunJulAugSepOctNovDec"
_BACK: Final = 60
"""Lines before a start that are searched for a clock."""
_CLOCKS: Final = 12
"""Lines of an opening that are searched for a clock."""
_COUNTS: Final = 8
"""Lines before and behind that are searched for a count."""
_TAIL: Final = 6
"""Lines that an exception may print behind its name."""
_MOST_CRASHES: Final = 200
_AROUND: Final = 60
"""Lines on either side in which process ids are looked for."""
_MOST_SERIES: Final = 40
_RECORDS_ALONE: Final = 0.9
"""Share of the lines from which on a file holds records alone, and of those that count evenly."""
_FEWEST: Final = 5
"""Records that show how a count rises."""
_RESUMED: Final = 3
"""Times that a count may be the same again before that is no resumed run."""
_LEAP: Final = 10
"""Intervals of a count behind which records of another run follow."""
_END: Final = compile_lazily(
    r"(?i)\b(?:Killed|Terminated|Aborted|KeyboardInterrupt|core dumped|Segmentation fault"
    r"|CANCELLED|DUE TO TIME LIMIT|exit(?:ed|ing)?\b.{0,20}\d|finished|completed?|done|exiting)\b"
    r"|\w(?:Error|Exception)\b:?"
)
_MARK: Final = compile_lazily(
    r"(?i)\s*(?:nohup: ignoring input|submitted batch job \d|slurm_job_?id\b"
    r"|[+$] (?:python|torchrun|srun|accelerate)\b|(?:job|run)[ _](?:started|begins)\b)"
)
"""A line by which a launcher or scheduler begins."""
_ONCE: Final = compile_lazily(
    r"nohup: ignoring input|wandb: Agent Starting Run\b"
    r"|Setting OMP_NUM_THREADS environment variable for each process"
)
"""What is printed once for each start, however much of its opening is known."""
_TYPED: Final = compile_lazily(
    r"(?:\([\w.+-]{1,60}\) ?){0,2}"
    r"(?:[\w.-]{1,40}@[\w.:~/-]{1,120}|bash-[\d.]{1,8}|\[[^\]\n]{3,120}\])"
    r"[^$#%>\n]{0,120}[$#%>] ?(?:[A-Z_]{2,40}=\S{0,80} )*(?:\S{0,200}/)?"
    r"(?:python[\d.]*|torchrun|accelerate|deepspeed|srun|mpirun|bash|sh|nohup) "
    r"(?!(?:\S{1,80} ){0,6}?[\w./-]{0,80}"
    r"(?:predict|infer|eval|demo|plot|visuali|preproc|prepare|download|convert|export)"
    r"[\w-]{0,40}\.(?:py|sh)\b)\S"
)
"""A command that starts a training, typed behind the prompt of a shell."""
_APART: Final = 20
"""Lines between two of these that are not of several nodes."""
_SUMMARY: Final = compile_lazily(
    r"\s{0,2}(?:time|host|rank|exitcode|error_file|traceback)\s{0,3}: |(?:Failures|Root Cause)\b"
    r"|\s{0,2}<NO_OTHER_FAILURES>|\[\d{1,5}\]:|[=-]{20,}|\S{1,200} FAILED$"
)
"""What a launcher prints behind its exception."""
_LAUNCH: Final = compile_lazily(
    r"(?i)^(?:\s*(?:nohup: |\+ |\$ |srun:|sbatch|Submitted batch|starting job|job[ _]?id\b"
    r"|={3}.*\b(?:start|run|job|launch)|>{3}.*\bstart)|.*\b(?:torchrun|accelerate launch"
    r"|deepspeed\.launcher|torch\.distributed\.(?:run|launch)|python3? (?:-\w |\S+\.py)"
    r"|will restart worker group|SLURM_JOB_?ID|jobid|hostname)\b)"
)
_NAME: Final = compile_lazily(r"[A-Za-z_]{4}")
_ERROR: Final = compile_lazily(
    r"\s|.{0,40}Traceback \(most|Error\b|Exception\b|During\b|The above|Caused by\b"
    r"|Original stack\b"
)
"""How a line begins that belongs to an exception."""
_COUNT: Final = compile_lazily(r"(?i)\b(?:epoch|step|iter(?:ation)?|round)s?\b\D{0,4}(\d{1,9})")
_PID: Final = compile_lazily(r"(?i)\bpid[ =:]{0,3}(\d{2,8})\b|\((?:pid|PID) ?(\d{2,8})\)")


class _Opening(NamedTuple):
    """What a start prints before its first record."""

    begin: int
    """Index of its first line."""
    rest: frozenset[bytes]
    span: int
    """Lines from its first to its last."""
    is_beheaded: bool = False
    """Lines before it are left out: it has to come again as a whole."""


def find_starts(
    extract: Extract, source: int, ends: Sequence[int], crashes: Sequence[int] = ()
) -> list[int]:
    """Give the raw lines at which starts of the program begin in a source, 1 the first of them.

    Args:
        extract: what was read.
        source: its index.
        ends: raw lines at which something in it ended, in order.
        crashes: the last lines of exceptions that end a script.
    """
    lines = [line for line in extract.recurring.get(source, ()) if not line.is_frequent]
    series = _select_series(extract, source)
    count = extract.sources[source].lines
    if extract.heads.get(source, "").startswith("{"):
        return [1, *_find_epoch_resets(series, count)]
    found = _Splitter(lines, series, ends, crashes).split() if lines else [1]
    return found if len(found) > 1 else [1, *_find_count_breaks(series, count)]


def _find_epoch_resets(series: Iterable[Series], count: int) -> list[int]:
    """Give the lines of a file of records at which the epochs begin anew with the first one.

    No other figure may count the parts then: folds, rounds.
    """
    epochs = next((curve for curve in series if curve.name == EPOCH), None)
    if epochs is None or len(epochs.lines) < _RECORDS_ALONE * count:
        return []
    resets = [
        at
        for at, (before, after) in enumerate(itertools.pairwise(epochs.values), 1)
        if after == epochs.values[0] < before
    ]
    is_counted = any(
        len(curve.values) == len(epochs.values)
        and all(curve.values[at] == curve.values[at - 1] + 1 for at in resets)
        for curve in series
    )
    return [] if is_counted else [epochs.lines[at] for at in resets]


def _find_count_breaks(series: Iterable[Series], count: int) -> list[int]:
    """Give the lines of a file of records alone at which their count, else even, falls or leaps.

    Nothing but its records tells then that another run was appended, or the same one resumed.
    """
    longest = next(iter(series), None)
    if longest is None or len(longest.lines) < max(_FEWEST, _RECORDS_ALONE * count):
        return []
    counts = longest.values if longest.name == EPOCH else longest.steps
    lines, values = zip(*sorted(zip(longest.lines, counts, strict=True)), strict=True)
    rises = [after - before for before, after in itertools.pairwise(values)]
    usual, often = Counter(rises).most_common(1)[0]
    if usual <= 0 or often < _RECORDS_ALONE * len(rises) or {*rises[: _FEWEST - 1]} != {usual}:
        return []
    breaks = _list_breaks(rises, usual)
    if longest.name != EPOCH and not _begin_anew(values, breaks):
        return []
    return [lines[at] for at in breaks]


def _begin_anew(values: Sequence[float], breaks: Sequence[int]) -> bool:
    """Say whether steps begin with the first one again, each time behind another one.

    Those of epochs end with the same one each time.
    """
    ends = {values[at - 1] for at in breaks}
    are_first = all(values[at] == values[0] for at in breaks)
    return are_first and len(breaks) == len(ends) > 1


def _list_breaks(rises: Sequence[float], usual: float) -> list[int]:
    """Give the indexes behind which a count falls, stays or leaps.

    One that stays many times has a second line here and there.
    """
    least = 0 if rises.count(0) <= _RESUMED else -1
    return [at for at, rise in enumerate(rises, 1) if rise <= least or rise >= _LEAP * usual]


def _select_series(extract: Extract, source: int) -> list[Series]:
    """Give the epochs and the longest series of a source."""
    found = [curve for curve in extract.series.values() if curve.source == source and curve.lines]
    return sorted(found, key=lambda curve: (curve.name != EPOCH, -len(curve.lines)))[:_MOST_SERIES]


class _Surroundings:
    """What stands around the lines of a source that recur."""

    def __init__(
        self,
        lines: Sequence[RecurringLine],
        series: Sequence[Series],
        ends: Sequence[int],
        crashes: Iterable[int],
    ) -> None:
        self._lines, self._series, self._ends = lines, series, ends
        self._numbers = [line.line for line in lines]
        some = itertools.islice(crashes, _MOST_CRASHES)
        self._crashes = frozenset(map(self._find_end_of_summary, some))
        self._wordings = [
            _CLOCK_ONLY if _DATE.match(line.text) else get_wording(_cut_value(line.text))
            for line in lines
        ]
        self._pids: dict[int, str] = {}
        self._marks: dict[str, int] = {}
        """The last line of each kind that a start prints once."""
        self._starts = [0]
        """Indexes of the lines with which starts begin."""

    def _find_end_of_summary(self, crash: int) -> int:
        """Give the last line of a launcher's summary behind its exception, or the same line."""
        for line in self._lines[bisect.bisect_right(self._numbers, crash) :]:
            if line.line - crash > _TAIL or not _SUMMARY.match(line.text):
                break
            crash = line.line
        return crash

    def _next_end(self, line: int) -> int:
        """Give the line behind one at which something ends."""
        at = bisect.bisect_right(self._ends, line)
        return self._ends[at] if at < len(self._ends) else 1 << 62

    def _next_record(self, line: int) -> int:
        """Give the line of the first record from a line on."""
        found = (
            curve.lines[at]
            for curve in self._series
            if (at := bisect.bisect_left(curve.lines, line)) < len(curve.lines)
        )
        return min(found, default=1 << 62)

    def _find_pid(self, index: int) -> str:
        """Give the process id that a line prints; empty without one."""
        if index not in self._pids:
            found = _PID.search(self._lines[index].text)
            self._pids[index] = (found[1] or found[2]) if found else ""
        return self._pids[index]

    def _find_crash(self, line: int) -> int:
        """Give the last line of an exception that ended a script right before a line; else 0."""
        return max((at for at in range(line - _TAIL, line) if at in self._crashes), default=0)

    def _is_error(self, index: int) -> bool:
        """Say whether an error is all that a line begins."""
        line = self._numbers[index]
        at = bisect.bisect_left(self._ends, line)
        return "Traceback (most" in self._lines[index].text or self._ends[at : at + 1] == [line]

    def _has_end_between(self, begin: int, line: int) -> bool:
        return self._next_end(begin) < line

    def _has_end(self, index: int) -> bool:
        """Say whether something ended right before a line."""
        line = self._numbers[index]
        return self._has_end_between(line - _NEAR, line) or any(
            _END.search(text) for text in self._lines[index].before[-3:]
        )

    def _is_between_runs(self, index: int, stop: int) -> bool:
        """Say whether something ended right before a line, or a launcher speaks behind it."""
        return self._has_end(index) or self._is_launch(index, stop)

    def _is_launch(self, index: int, stop: int) -> bool:
        texts = [
            *self._lines[index].before[-3:],
            *(line.text for line in self._lines[index : min(stop, index + 10)]),
        ]
        return any(_LAUNCH.search(text) for text in texts)

    def _measure_gap(self, index: int) -> float:
        """Give the seconds between a line and the one before it; 0 if unknown."""
        behind = (line.text for line in self._lines[index : index + _CLOCKS])
        return _measure_seconds(itertools.islice(self._iter_back(index), _BACK), behind)

    def _iter_back(self, index: int) -> Iterator[str]:
        """Yield the lines before one, the nearest first, as far as they are kept."""
        for at in range(index, self._starts[-1], -1):
            yield from reversed(self._lines[at].before)
            yield self._lines[at - 1].text

    def _measure_time(self, first: int, last: int) -> float:
        """Give the seconds between two kept lines."""
        return _measure_seconds(
            (line.text for line in self._lines[first : first + _CLOCKS]),
            (line.text for line in self._lines[last : last + _CLOCKS]),
        )


class _Splitter(_Surroundings):
    """Finds the starts one after the other."""

    def split(self) -> list[int]:
        known: dict[bytes, list[_Opening]] = {}
        self._learn_head(known)
        found, known_crash = {0}, 0
        for index, wording in enumerate(self._wordings):
            is_marked = self._is_marked_again(index)
            if self._numbers[index] <= self._numbers[self._starts[-1]] + _TOGETHER:
                continue
            opening = None if is_marked else self._find_opening(index, known.get(wording, ()))
            if is_marked or opening is not None:
                found |= {index, index if opening is None else opening.begin}
                self._starts.append(index)
            if is_marked:
                continue
            crash = self._find_crash(self._numbers[index])
            if crash > known_crash and not _ERROR.match(self._lines[index].text):
                known_crash = crash
                self._learn(index, known)
            elif opening is not None:
                self._learn(index, known)
        return [1, *self._drop_empty(sorted(found))]

    def _drop_empty(self, found: Sequence[int]) -> Iterator[int]:
        """Yield the lines of the starts behind the first, but those of a start without work."""
        for index, behind in itertools.pairwise([*found, len(self._lines)]):
            line = self._numbers[index]
            until = self._numbers[behind] if behind < len(self._lines) else 1 << 62
            has_work = self._next_record(line) < until or self._has_end_between(line, until)
            if index and (index in self._starts or has_work):
                yield line

    def _learn(
        self, index: int, known: dict[bytes, list[_Opening]], begin: int | None = None
    ) -> None:
        """Take note of the opening that begins with a line, or of one from its second line on."""
        line = self._numbers[index]
        until = min(self._next_record(line), self._next_end(line))
        end = bisect.bisect_left(
            self._numbers, until, index + 1, min(len(self._lines), index + _LONGEST_OPENING)
        )
        wordings = [wording for wording in self._wordings[index:end] if wording]
        if not wordings:
            return
        opening = _Opening(
            index if begin is None else begin,
            frozenset(wordings[1:]) - {wordings[0]},
            self._numbers[end - 1] - line,
            begin not in {None, index},
        )
        group = known.setdefault(wordings[0], [])
        if all(opening[1:] != other[1:] for other in group):
            group.append(opening)

    def _is_marked_again(self, index: int) -> bool:
        """Say whether a line is, or stands right behind, what each start prints once."""
        texts = (self._lines[index].text, *self._lines[index].before[-1:])
        mark = next(filter(None, map(_ONCE.search, texts)), None)
        line = self._numbers[index]
        if _TYPED.match(ANSI.sub("", texts[0])):
            return self._has_result(index)
        if mark is None:
            return False
        before = self._marks.get(mark[0])
        is_first = not self._marks
        self._marks[mark[0]] = line
        if before is None:
            return not is_first and self._has_result(index)
        return line - before > _APART

    def _is_start(self, index: int, opening: _Opening) -> bool:
        """Say whether a start begins at a line that an opening begins with."""
        if not self._has_work(index):
            return False
        line = self._numbers[index]
        stop = bisect.bisect_right(self._numbers, line + 2 * opening.span + 20, index)
        matched = len(opening.rest.intersection(self._wordings[index + 1 : stop]))
        if opening.is_beheaded and not self._is_surely_anew(index, stop, opening, matched):
            return False
        is_mark = _MARK.match(self._lines[index].text) and opening.begin in self._starts
        if not is_mark and matched < _SHARE * len(opening.rest):
            return False
        if self._is_same_run(index):
            return False
        return bool(is_mark) or self._has_witness(index, opening, matched, stop)

    def _is_surely_anew(self, index: int, stop: int, opening: _Opening, matched: int) -> bool:
        """Say whether an opening without its head comes again as a whole behind a run's work."""
        is_whole = _is_whole(opening, matched) and self._has_result(index)
        is_falling = is_whole and self._compare_counters(self._numbers[index]) < 0
        return is_falling or (is_whole and self._is_between_runs(index, stop))

    def _learn_head(self, known: dict[bytes, list[_Opening]]) -> None:
        """Learn the first lines; those behind the first, too, where that one stands but once."""
        self._learn(0, known)
        is_once = self._wordings.count(self._wordings[0]) == 1
        until = min(self._next_record(1), self._next_end(0))
        for index in range(1, min(_FIRST, len(self._lines)) if is_once else 1):
            if self._numbers[index] < until:
                self._learn(index, known, begin=0)

    def _find_opening(self, index: int, openings: Iterable[_Opening]) -> _Opening | None:
        """Give the first of some openings with which a start begins at a line."""
        return next((one for one in openings if self._is_start(index, one)), None)

    def _has_witness(self, index: int, opening: _Opening, matched: int, stop: int) -> bool:
        """Say whether more than its opening says that a start begins at a line."""
        line = self._numbers[index]
        counter, gap = self._compare_counters(line), self._measure_gap(index) >= _GAP
        if not opening.rest:
            return (counter or self._compare_printed_counts(line)) < 0 and self._has_end(index)
        if self._is_ruled_out(index, opening, counter, matched):
            return False
        if counter < 0 or gap:
            return True
        return self._agrees(index, opening, matched, stop, counter)

    def _agrees(self, index: int, opening: _Opening, matched: int, stop: int, counter: int) -> bool:
        """Say whether an opening alone tells a start, whose counter does not fall."""
        is_whole = _is_whole(opening, matched)
        if is_whole and self._find_crash(self._numbers[index]):
            return counter == 0
        if opening.begin in self._starts and (is_whole or self._is_between_runs(index, stop)):
            return counter == 0 or matched >= _LONG
        return counter > 0 and matched >= _VERY_LONG

    def _is_ruled_out(self, index: int, opening: _Opening, counter: int, matched: int) -> bool:
        """Say whether no start begins at a line, whatever else speaks for it."""
        line = self._numbers[index]
        if opening.begin not in self._starts and (counter > 0 or not self._find_crash(line)):
            return True
        return self._is_error(index) and (
            not self._has_records(line) or matched < _WHOLE * len(opening.rest)
        )

    def _has_records(self, line: int) -> bool:
        """Say whether the start before a line has records before it."""
        return self._next_record(self._numbers[self._starts[-1]]) < line

    def _is_same_run(self, index: int) -> bool:
        """Say whether a line is of the process that runs, of another rank, or counts on."""
        line, begin = self._lines[index], self._starts[-1]
        ours = clean(line.text, srun=True).where
        theirs = clean(self._lines[begin].text, srun=True).where
        if ours.rank != theirs.rank or (ours.pid is not None and ours.pid == theirs.pid):
            return True
        counted, first = _COUNT.search(line.text), _COUNT.search(self._lines[begin].text)
        if counted and first and int(counted[1]) > int(first[1]):
            return True
        before = {self._find_pid(at) for at in range(max(begin, index - _AROUND), index)}
        behind = {self._find_pid(at) for at in range(index, min(index + _AROUND, len(self._lines)))}
        return bool((before & behind) - {""})

    def _has_work(self, index: int) -> bool:
        """Say whether anything was done since the last start."""
        spent = self._measure_time(self._starts[-1], index)
        return self._has_result(index) or spent >= _WORK_GAP

    def _has_result(self, index: int) -> bool:
        """Say whether a record, or an end, stands between the last start and a line."""
        begin, line = self._numbers[self._starts[-1]], self._numbers[index]
        return self._next_record(begin + 1) < line or self._has_end_between(begin, line)

    def _compare_counters(self, line: int) -> int:
        """Say whether the steps of the records fall (-1) or go on (1) at a line; 0 if unknown."""
        begin = self._numbers[self._starts[-1]]
        answers = []
        for curve in self._series:
            at = bisect.bisect_left(curve.lines, line)
            first = bisect.bisect_left(curve.lines, begin)
            if not first < at < len(curve.lines):
                continue
            is_epoch = curve.name == EPOCH
            figures = curve.values if is_epoch else curve.steps
            before, after = max(figures[first:at]), figures[at]
            is_first = after == figures[first] and not is_epoch
            if not math.isnan(before + after) and not (is_epoch and before == after):
                answers.append(-1 if after < before or is_first else 1)
        return min(answers, default=0)

    def _compare_printed_counts(self, line: int) -> int:
        """Do the same by the first counts in the lines around, where no series has steps."""
        index = bisect.bisect_left(self._numbers, line)
        before = _find_count(itertools.islice(self._iter_back(index), _COUNTS))
        after = _find_count(
            text
            for other in self._lines[index : index + _COUNTS]
            for text in (other.text, other.after)
        )
        if before is None or after is None or before == after:
            return 0
        return -1 if after < before else 1


def _is_whole(opening: _Opening, matched: int) -> bool:
    """Say whether a long opening comes again with nearly all of its lines."""
    return matched >= max(_LONG, _WHOLE * len(opening.rest))


def _cut_value(text: str) -> str:
    """Give a line up to its first equals sign: an option has another value in another run."""
    name, sign, _ = text.partition("=")
    return name if sign and _NAME.search(name) else text


def _find_count(texts: Iterable[str]) -> int | None:
    """Give the first epoch or step that some lines print."""
    found = next(filter(None, map(_COUNT.search, texts)), None)
    return None if found is None else int(found[1])


@functools.lru_cache(maxsize=4096)
def _parse_time(text: str) -> str | None:
    """Give the time that a line begins with, or is."""
    found = _DATE.match(text)
    if found is None:
        return parse_time(text)
    month = _MONTHS.find(found["month"]) // 3 + 1
    return f"{found['year']}-{month:02}-{int(found['day']):02}T{found['clock']}"


def _measure_seconds(first: Iterable[str], last: Iterable[str]) -> float:
    """Give the seconds between the first clocks of two stretches; 0 if unknown."""
    end = next(filter(None, map(_parse_time, last)), None)
    basis = None if end is None else get_time_basis(end)
    times = filter(None, map(_parse_time, first))
    begin = next((time for time in times if get_time_basis(time) == basis), None)
    if begin is None or end is None:
        return 0.0
    return abs(convert_to_seconds(end) - convert_to_seconds(begin))
