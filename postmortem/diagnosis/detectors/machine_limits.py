"""Check the limits of the machine that a run may meet: memory, open files, processes, disks.

In: testimonies of ulimit, df, mount, docker and cgroup files; memory of host and device as a log
prints it, in the curves of one process or in lines of their own. Out: the anomalies
`few-open-files` or `many-open-files`, `few-processes`, `shm-small` or `shm-roomy`,
`disk-at-its-end` or `disk-with-room`, `oom-kill-counted` or `no-oom-kill-counted`,
`host-memory-spent`; `memory-rising`, `memory-flat`, `host-memory-rising`. Not here: whether the run
met them (`patterns/causes`), the arithmetic of an out-of-memory line (`detectors.out_of_memory`).
"""

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, quote, say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.speed import format_unit
from postmortem.extraction.facts.fact_store import Testimony
from postmortem.extraction.facts.series import Point

_FEW_FILES: Final = 8192
_MANY_FILES: Final = 65535
_FEW_PROCESSES: Final = 4096
_SMALL_SHM: Final = 1.0
_ROOMY_SHM: Final = 4.0
_FULL: Final = 98
_SPENT: Final = 0.05
_NEARLY_FULL: Final = 95
_UNIT: Final[Mapping[str, float]] = {"K": 1 / (1 << 20), "M": 1 / 1024, "G": 1.0, "T": 1024.0}
_SIZE: Final = compile_lazily(r"([0-9]+(?:\.[0-9]+)?)\s*([kKmMgGtT]?)")
_OF_NO_FILES: Final = compile_lazily(
    r"% /(?:dev|run|sys|proc|boot|snap)\b|^(?:tmpfs|devtmpfs|udev)\s"
)


def detect_machine_limits(observed: Observed) -> Iterator[Anomaly]:
    """Detect limits of the machine in the output of its tools; the worst of each kind counts."""
    testimonies = observed.facts.testimonies
    for what, judged in (
        ("open_files", _check_open_file_limit),
        ("processes", _check_process_limit),
    ):
        for testimony in _iter_testimonies_of(testimonies, what):
            if name := judged(testimony.value):
                yield _build_anomaly(name, testimony)
    yield from _select_worst_anomaly(_check_shm_sizes(testimonies))
    yield from _select_worst_anomaly(
        (_check_disk_row(testimony.value), testimony)
        for testimony in _iter_testimonies_of(testimonies, "disk")
    )
    yield from _select_worst_anomaly(
        [
            *(
                ("no-oom-kill-counted" if testimony.value == "0" else "oom-kill-counted", testimony)
                for testimony in _iter_testimonies_of(testimonies, "oom_kills")
            ),
            *(
                (
                    "oom-kill-counted" if testimony.value == "true" else "no-oom-kill-counted",
                    testimony,
                )
                for testimony in _iter_testimonies_of(testimonies, "oom_killed")
            ),
        ]
    )


def detect_host_memory_exhaustion(observed: Observed) -> Iterator[Anomaly]:
    """Find a host whose memory is all but spent by what the log prints of it last."""
    for (_, what), course in sorted(observed.facts.courses.items()):
        first, last = course[0], course[-1]
        if what.startswith("host_") and (
            _is_free_memory_spent if what == "host_free" else _is_used_memory_full
        )(first.value, last.value):
            message = quote(f"{first.value} → {last.value}")
            yield Anomaly("host-memory-spent", message, last.source, NOWHERE, last.line)


def _is_free_memory_spent(first: str, last: str) -> bool:
    begin, end = _parse_testimony_gib(first, ""), _parse_testimony_gib(last, "")
    return begin is not None and end is not None and begin >= 1.0 and end <= _SPENT * begin


def _is_used_memory_full(_: str, last: str) -> bool:
    figures = [float(number) for number in re.findall(r"[0-9]+(?:\.[0-9]+)?", last)]
    if last.rstrip().endswith("%"):
        return bool(figures) and figures[0] >= 100 * (1 - _SPENT)
    return len(figures) == 2 and figures[0] >= (1 - _SPENT) * figures[1] > 0


def _iter_testimonies_of(testimonies: Iterable[Testimony], what: str) -> Iterator[Testimony]:
    return (testimony for testimony in testimonies if testimony.what == what)


def _select_worst_anomaly(judged: Iterable[tuple[str, Testimony]]) -> Iterator[Anomaly]:
    """Choose an anomaly that is a problem if there is one, else one that rules it out."""
    kept = [(name, testimony) for name, testimony in judged if name]
    trouble = [pair for pair in kept if pair[0] in _TROUBLE]
    for name, testimony in (trouble or kept)[:1]:
        yield _build_anomaly(name, testimony)


_TROUBLE: Final = frozenset({"shm-small", "disk-at-its-end", "oom-kill-counted"})


def _check_open_file_limit(value: str) -> str:
    if value == "unlimited":
        return "many-open-files"
    files = int(value) if value.isdecimal() else _FEW_FILES + 1
    if files >= _MANY_FILES:
        return "many-open-files"
    return "few-open-files" if files <= _FEW_FILES else ""


def _check_process_limit(value: str) -> str:
    return "few-processes" if value.isdecimal() and int(value) <= _FEW_PROCESSES else ""


def _check_shm_sizes(testimonies: Iterable[Testimony]) -> Iterator[tuple[str, Testimony]]:
    for testimony in testimonies:
        size = _parse_shm_gib(testimony)
        if size is None:
            continue
        percent = re.search(r"([0-9]{1,3})% /dev/shm", testimony.value)
        used = int(percent[1]) if percent else 0
        if size <= _SMALL_SHM or used >= _NEARLY_FULL:
            yield "shm-small", testimony
        elif size >= _ROOMY_SHM and used < 80:
            yield "shm-roomy", testimony


def _parse_shm_gib(testimony: Testimony) -> float | None:
    """Read the size of shared memory, as each tool prints it; None for other testimonies."""
    if testimony.what == "shm":  # df counts in KiB where it names no unit
        return _parse_testimony_gib(" ".join(testimony.value.split()[1:2]), "K")
    if testimony.what in {"shm_size", "shm_bytes", "shm_mount"}:
        return _parse_testimony_gib(testimony.value, "")
    return None


def _parse_testimony_gib(text: str, unit: str) -> float | None:
    match = _SIZE.match(text)
    if match is None:
        return None
    named = (match[2] or unit).upper()
    return float(match[1]) * (_UNIT[named] if named else 1 / (1 << 30))


def _check_disk_row(row: str) -> str:
    """Judge a row of df (space or inodes) of a disk that may hold files of the run."""
    if _OF_NO_FILES.search(row):
        return ""
    percent = re.search(r"([0-9]{1,3})% /", row)
    if percent is None:
        return ""
    return "disk-at-its-end" if int(percent[1]) >= _FULL else "disk-with-room"


def _build_anomaly(name: str, testimony: Testimony) -> Anomaly:
    message = quote(f"{_LABELS.get(testimony.what, '')}{' '.join(testimony.value.split())}")
    return Anomaly(name, message, testimony.source, NOWHERE, testimony.line)


_LABELS: Final[Mapping[str, str]] = {
    "open_files": "open files: ",
    "processes": "max user processes: ",
    "shm_bytes": "ShmSize: ",
    "shm_size": "/dev/shm: ",  # noqa: S108 -- a text
    "shm_mount": "/dev/shm size=",  # noqa: S108 -- a text
    "oom_kills": "oom_kill ",
    "oom_killed": "OOMKilled: ",
}


_LARGEST: Final = 1e150
"""Figures beyond are no memory, in whatever unit, and their sums are no numbers."""
_FEWEST: Final = 5
_ALL_BUT_FULL: Final = 0.8
_FIGURE: Final = compile_lazily(r"(\d+(?:\.\d+)?)(?: ?/ ?\d+(?:\.\d+)?)? ?([GgMmTtKk]?)")
_IN_A_GIB: Final = {"G": 1.0, "M": 1024.0, "": 1024.0, "T": 1 / 1024, "K": 1024.0**2}
_OF_HOST: Final = frozenset({"host_rss", "host_used"})
_PER_GIB: Final = {"MiB": 1024.0, "MB": 1024.0, "M": 1024.0, "GiB": 1.0, "GB": 1.0}
"""Programs divide by 1024 whatever they call it."""


def detect_memory_trend(observed: Observed) -> Iterable[Anomaly]:
    """Find memory that rises over the run, with its slope and where that leads, or is level."""
    curves = observed.curves
    points = [point for point in curves.points(names.MEMORY) if 0 <= point.value < _LARGEST]
    if len(points) < _FEWEST:
        return []
    values, unit = [point.value for point in points], curves.by_name[names.MEMORY].unit
    if _is_rising(values):
        capacity = observed.facts.cards.largest_gib()
        return [
            curves.shape("memory-rising", _format_growth(points, unit, capacity), points[0].line)
        ]
    late = values[len(values) // 2 :]
    if _is_level(late):
        message = say(
            "memory {low:g} to {high:g}{unit} over {count} records",
            low=min(late),
            high=max(late),
            unit=format_unit(unit),
            count=len(late),
        )
        return [curves.shape("memory-flat", message, points[-1].line)]
    return []


def detect_printed_memory_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find memory that rises by figures that are part of no metric record."""
    if any(curve.name == names.MEMORY for curve in observed.series):
        return
    capacity = observed.facts.cards.largest_gib()
    for source, what, course, figures in _iter_memory_trends(observed):
        if what != "memory":
            continue
        if _is_rising(figures) or _is_filling_device(figures, capacity):
            message = say(
                "memory {first} → {last} over {count} lines",
                first=course[0].value,
                last=course[-1].value,
                count=len(course),
            )
            yield Anomaly("memory-rising", message, source, NOWHERE, course[0].line)


def detect_host_memory_growth(observed: Observed) -> Iterable[Anomaly]:
    """Find memory of the host, or of the process on it, that rises line by line."""
    for source, what, course, figures in _iter_memory_trends(observed):
        if what in _OF_HOST and _is_rising(figures):
            message = say(
                "memory of the host {first} → {last} over {count} lines",
                first=course[0].value,
                last=course[-1].value,
                count=len(course),
            )
            yield Anomaly("host-memory-rising", message, source, NOWHERE, course[0].line)


def _iter_memory_trends(
    observed: Observed,
) -> Iterator[tuple[int, str, Sequence[Testimony], Sequence[float]]]:
    """Yield memory use printed on lines of its own: source, subject, lines, values in GiB."""
    for (source, what), course in sorted(observed.facts.courses.items()):
        yield (
            source,
            what,
            course,
            [
                gib
                for statement in course
                if (gib := _parse_printed_gib(statement.value)) is not None
            ],
        )


def _parse_printed_gib(text: str) -> float | None:
    """Read a printed figure in GiB; where programs print no unit they mean MiB."""
    match = _FIGURE.match(text)
    return None if match is None else float(match[1]) / _IN_A_GIB[match[2].upper()]


def _is_filling_device(values: Sequence[float], capacity: float | None) -> bool:
    """Say whether a few figures, each above the one before, lead to the end of the card."""
    return (
        3 <= len(values) < _FEWEST
        and capacity is not None
        and values[-1] > 1.2 * values[0]
        and values[-1] >= _ALL_BUT_FULL * capacity
        and all(current > previous for previous, current in itertools.pairwise(values))
    )


def _is_rising(values: Sequence[float]) -> bool:
    """Say whether memory ends well above its start, and hardly ever fell on the way."""
    rising = sum(current > previous for previous, current in itertools.pairwise(values))
    falling = sum(current < previous for previous, current in itertools.pairwise(values))
    return (
        len(values) >= _FEWEST
        and values[-1] > 1.2 * values[0]
        and rising >= 4
        and falling <= 0.2 * rising
        and rising >= 0.3 * len(values)
    )


def _is_level(late: Sequence[float]) -> bool:
    """Say whether the later half of the records stays within bounds and rises no more."""
    middle = len(late) // 2
    if len(late) < 8 or statistics.fmean(late[middle:]) >= 1.08 * statistics.fmean(late[:middle]):
        return False
    return 0 < max(late) < 1.5 * min(late) and late[-1] < 1.1 * statistics.median(late)


def _format_growth(points: Sequence[Point], unit: str, capacity: float | None) -> Message:
    return say(
        "memory {first:g} → {last:g}{unit} over {count} records{slope}",
        first=points[0].value,
        last=points[-1].value,
        unit=format_unit(unit),
        count=len(points),
        slope=_format_growth_rate(points, unit, capacity),
    )


def _format_growth_rate(points: Sequence[Point], unit: str, capacity: float | None) -> Message:
    """Say how much is added a step, and at which step that would fill the device.

    Args:
        points: of a memory that rises.
        unit: of their values.
        capacity: memory of the device in GiB, or None if it is not known.
    """
    steps = points[-1].step - points[0].step
    if not 0 < steps < math.inf:
        return quote("")
    slope = (points[-1].value - points[0].value) / steps
    message = say(", {slope:.3g} a step", slope=slope)
    if capacity is None or unit not in _PER_GIB:
        return message
    full = points[-1].step + (capacity * _PER_GIB[unit] - points[-1].value) / slope
    if full <= points[-1].step:
        return message
    return say(
        "{slope}: {capacity:g} GiB are full at step {step:.0f}",
        slope=message,
        capacity=capacity,
        step=full,
    )
