"""Detect how a run without a failure ends: at its last step, with a marker, or without either.

In: series, the number of steps that the records or the log name as the whole; the whole of a short
log; the outcome, and what else was found. Out: the anomalies `last-step`, `finished`, `no-record`,
`no-failure-shown`, `steady-records`, and `only-notices` of a short log that holds warnings and no
sign of a failure. Not here: the outcome, lines that say that a run is through
(`patterns/signatures/healthy`, `detectors.closing`), warnings that are known by name
(`patterns/signatures`), a planned end that no line names (`detectors.planned_end`).
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily, get_last_draw
from postmortem.core.message import cut, quote, say
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.progress_lines import STEP
from postmortem.extraction.facts.series import Series, is_nameless
from postmortem.reading.prefixes import LOUD, Cleaned, clean
from postmortem.rules.vocabulary import Trait, has_trait

_ENDS: Final = ("last-step", "closing-words", "last-epoch", "planned-end", "closing-results")
_FEWEST: Final = 10
_FEWEST_STEPS: Final = 3
"""Different steps that the end of a log names where training is going on."""
_STACKS: Final = compile_lazily(
    r"(?:[^\n]{0,80}\d\d:\d\d:\d\d[^\n]{0,40}\n)?(?:Process \d{1,10}: |Timeout \(|Current thread 0x"
    r"|Thread (?:\d{1,6} \(|0x)|\[New LWP |Attaching to |0x[0-9a-f]{6,16} in )"
)
"""How the stacks of py-spy, faulthandler and gdb begin, below a date or not."""
_MOST_MARKER: Final = 200
_SEVERAL: Final = 5
"""Records that show how a run goes."""
NEARLY: Final = 0.9
"""Share of the planned steps behind which no further record may be due."""
PART: Final = compile_lazily(r"(?<![\w./])(?P<now>\d{1,9})\s{0,2}/\s{0,2}(?P<of>\d{1,9})(?![\w./])")
_EPOCH_PART: Final = compile_lazily(
    r"(?<![a-z])ep(?:och)?s?\W{0,8}(?P<now>\d{1,6})\s{0,2}(?:/|of)\s{0,2}(?P<of>\d{1,6})(?![\w.])",
    re.IGNORECASE,
)
BAR_PART: Final = compile_lazily(r"\|\s{0,4}(?P<now>\d{1,9})/(?P<of>\d{1,9})\s?\[")


def detect_last_step(observed: Observed) -> Iterable[Anomaly]:
    """Find a training loss that is recorded up to the last step, reached once.

    A count that starts anew in each epoch reaches its end in each.
    """
    total = observed.total_steps
    if not total >= _FEWEST:
        return []
    for series in observed.series:
        if (
            series.name == names.LOSS
            and series.last is not None
            and _is_counting_up_to(series, total)
        ):
            message = say(
                "the last record is of step {step:g} of {total:g}",
                step=series.last.step,
                total=total,
            )
            return [Anomaly("last-step", message, series.source, NOWHERE, series.last.line)]
    return _detect_full_bars(observed, total)


def _detect_full_bars(observed: Observed, total: float) -> list[Anomaly]:
    """Find the bar of the whole run, full, at or behind the last record."""
    for source, last in observed.last_records.items():
        first, text = observed.tails.get(source, (1, ""))
        for number, line in enumerate(text.split("\n"), first):
            part = BAR_PART.search(get_last_draw(line))
            if number >= last and part and float(part["now"]) == float(part["of"]) == total:
                return [Anomaly("last-step", quote(part[0].strip("| [")), source, NOWHERE, number)]
    return []


def is_cut_short(observed: Observed, source: int) -> bool:
    """Say whether the last record of a source is far from the last epoch, or step, it names."""
    last = observed.last_records.get(source)
    first, text = observed.tails.get(source, (1, ""))
    rows = text.split("\n")
    if last is None or not 0 <= last - first < len(rows):
        return False
    row = get_last_draw(rows[last - first])
    part = _EPOCH_PART.search(row) or PART.search(row)
    return part is not None and int(part["now"]) < min(
        int(part["of"]) - 1, NEARLY * int(part["of"])
    )


def _is_counting_up_to(series: Series, total: float) -> bool:
    """Say whether the steps of a series only rise, and end at the last one."""
    if series.last is None or series.last.step != total:
        return False
    steps = [step for step in series.steps if not math.isnan(step)]
    return steps == sorted(steps) and steps[0] < total


def detect_completion(observed: Observed) -> Iterable[Anomaly]:
    """Detect the marker or the record that shows the end of a completed run."""
    if observed.outcome != "completed":
        return []
    marker = next(
        (finding for finding, _ in observed.findings if has_trait(finding.signature, Trait.SOUND)),
        None,
    )
    if marker is not None:
        message = quote(cut(marker.text, _MOST_MARKER))
        return [Anomaly("finished", message, marker.source, NOWHERE, marker.line)]
    ends = (observed.known.get(name) for name in _ENDS)
    end = next((anomaly for anomaly in ends if anomaly is not None), None)
    source, line = _find_last_record(observed)
    return [
        end._replace(id="finished")
        if end is not None
        else Anomaly("finished", quote(""), source, NOWHERE, line)
    ]


def detect_stall_without_records(observed: Observed) -> Iterable[Anomaly]:
    """Find a run that stands still and has printed no training record at all."""
    if (
        observed.outcome != "stalled"
        or not any(not _STACKS.match(observed.heads.get(source, "")) for source in observed.tails)
        or any(observed.records.values())
        or any(
            len({match["step"] for match in STEP.finditer(text)}) >= _FEWEST_STEPS
            for _, text in observed.tails.values()
        )
    ):
        return []
    message = say(
        "no metric record in {count} lines",
        count=observed.lines,
    )
    source, line = _find_last_record(observed)
    return [Anomaly("no-record", message, source, NOWHERE, line)]


def detect_failure_free_run(observed: Observed) -> Iterable[Anomaly]:
    """Find a run whose records go on to the end and that shows nothing bad."""
    count = sum(observed.records.values())
    if (
        observed.outcome not in {"running", "stalled"}
        or not (count or _find_signs_of_work(observed))
        or is_nameless(observed.series)
        or any(observed.anomaly_types[name].is_bad for name in observed.known)
    ):
        return []
    if not count:
        return [_find_signs_of_work(observed)[0]._replace(id="no-failure-shown")]
    source, line = _find_last_record(observed)
    message = say(
        "{count} metric records up to line {line}, no failure shown",
        count=count,
        line=line,
    )
    shown = Anomaly("no-failure-shown", message, source, NOWHERE, line)
    return [shown, shown._replace(id="steady-records")] if count >= _SEVERAL else [shown]


def _find_signs_of_work(observed: Observed) -> list[Anomaly]:
    """Find what shows without records that a run goes on: lines that count, an error it handled."""
    names_of_signs = ("lines-count", "handled-error") if observed.outcome == "running" else ()
    return [observed.known[name] for name in names_of_signs if name in observed.known]


def _find_last_record(observed: Observed) -> tuple[int, int]:
    """Give the source whose records were read first, and the raw line of its last one."""
    return next(iter(observed.last_records.items()), (0, 1))


_MOST_LINES: Final = 30
_MOST_NOTICE: Final = 160
_TELLING: Final = frozenset({"cause", "consequence", "warning"})
"""Roles of what a rule says of a failure."""
_QUIET: Final = frozenset({"TRACE", "DEBUG", "INFO"})
_WARNED: Final = compile_lazily(
    r"^(?:\S{1,300}:\d{1,6}: )?(?:[A-Z]\w{0,40}Warning: |warning: |\[?warn(?:ing)?\b)|"
    + join_words("warns"),
    re.IGNORECASE,
)
_REST: Final = compile_lazily(r"^\s+\S|^\s*$")
"""The source line below a warning of Python, and blank lines."""
_ALARMING: Final = compile_lazily(
    r"error|exception|traceback|fail|fatal|abort|kill|crash|cannot|can't|could(?: not|n't)|unable"
    r"|not (?:found|available|installed|enough|match)|no such|no module|denied|refused"
    r"|time[d ]* ?out|out of memory|\bnans?\b|\binf\b|overflow|illegal|invalid|missing|corrupt"
    r"|\bexit|terminat|insufficient|mismatch|unsupported|not support|exceed"
    r"|too (?:long|old|large|small|few|many)|unreachable|interrupt|cancel|stuck|hang|slow|wait"
    r"|no (?:cuda|gpu)|on (?:the )?cpu|" + join_words("fails"),
    re.IGNORECASE,
)


def detect_only_warnings(observed: Observed) -> Iterable[Anomaly]:
    """Find a text of warnings alone, none of which is a failure by its words."""
    has_findings = any(finding.role in _TELLING for finding, _ in observed.findings)
    is_more = (
        has_findings
        or any(observed.records.values())
        or observed.tracebacks
        or len(observed.tails) != 1
    )
    if is_more or observed.outcome not in {"incomplete", "unknown", "not-a-training-log"}:
        return
    source, (first, text) = next(iter(observed.tails.items()))
    rows = [clean(line) for line in text.split("\n")]
    if first == 1 and len(rows) <= _MOST_LINES and not _ALARMING.search(text):
        warned = _find_first_warning(rows)
        if warned is not None:
            message = say(
                "nothing but notices — {text}",
                text=cut(rows[warned].text.strip(), _MOST_NOTICE),
            )
            yield Anomaly("only-notices", message, source, NOWHERE, warned + 1)


def _find_first_warning(rows: Sequence[Cleaned]) -> int | None:
    """Give the first row that warns, where all rows do or are what stands around warnings."""
    warned = [
        number
        for number, row in enumerate(rows)
        if row.level.startswith("WARN") or _WARNED.search(row.text) is not None
    ]
    is_calm = all(
        number in warned
        or row.level in _QUIET
        or (row.level not in LOUD and _REST.match(row.text) is not None)
        for number, row in enumerate(rows)
    )
    return warned[0] if warned and is_calm else None
