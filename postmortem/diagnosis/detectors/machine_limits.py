"""Check the limits of the machine that a run may meet: open files, processes, memory, disks.

In: testimonies of ulimit, df, mount, docker and cgroup files, host memory as a log prints it. Out:
the anomalies `few-open-files` or `many-open-files`, `few-processes`, `shm-small` or `shm-roomy`,
`disk-at-its-end` or `disk-with-room`, `oom-kill-counted` or `no-oom-kill-counted`,
`host-memory-spent`. Not here: whether the run met them (`patterns/causes`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.fact_store import Testimony

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
    begin, end = _parse_gib(first, ""), _parse_gib(last, "")
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
        return _parse_gib(" ".join(testimony.value.split()[1:2]), "K")
    if testimony.what in {"shm_size", "shm_bytes", "shm_mount"}:
        return _parse_gib(testimony.value, "")
    return None


def _parse_gib(text: str, unit: str) -> float | None:
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
