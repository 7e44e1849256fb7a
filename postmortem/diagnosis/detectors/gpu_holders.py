"""Find who holds the memory of the GPUs, by a listing made outside the run.

In: testimonies of nvidia-smi and gpustat (`patterns/formats/machine.yaml`). Out: the anomalies
`gpu-held`, `gpu-empty`. Not here: what an out-of-memory line says itself
(`detectors.out_of_memory`).

A listing counts where it is a dump of its own, or stands in the log before the first record and the
first failure: what is held there is not held by this run.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import quote, say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.fact_store import Testimony

_MIB: Final = 1024.0
_SHARE: Final = 0.25
_LEAST: Final = 1.5 * _MIB
"""What others hold counts from such a share of the card on, and so many MiB."""
_INDEX: Final = compile_lazily(r"\s*(\d{1,2})\b")
_USE: Final = compile_lazily(r"(?<!\d)(\d{1,7})\s{0,8}(?:MiB)?\s{0,8}/\s{0,8}(\d{1,7})\s{0,8}M")
_QUERY: Final = compile_lazily(
    r"Total\s{1,60}: (\d{1,9}) MiB[\s\S]{0,300}?Used\s{1,60}: (\d{1,9}) MiB"
)
_PROCESS: Final = compile_lazily(
    r"(\d{1,2})\s{1,12}(?:N/A\s{1,8}N/A\s{1,8})?(\d{1,9})\s{1,12}\S{1,12}\s{1,12}(\S.{0,200}?)\s{1,60}"
    r"(\d{1,9})MiB$"
)
_FIGURE: Final = compile_lazily(r"(\d{1,7}) MiB$")
_NAMED: Final = compile_lazily(r"\bGPU (\d{1,2})\b")


_SCRIPT: Final = compile_lazily(r"(?<![\w.-])(?P<script>[\w-]{1,80}\.py)(?![\w.])")
_LISTED: Final = compile_lazily(r"^\s*(?:[a-z_][\w-]{0,31}\s+)?(?P<pid>[1-9]\d{1,9})\s")
"""A row of `ps` or `pgrep -af`."""


class _Card(NamedTuple):
    """The memory of one card in a listing, in MiB."""

    number: int
    used: float
    total: float
    testimony: Testimony


class _Holder(NamedTuple):
    """A process that a listing names."""

    number: int | None
    pid: str
    name: str
    used: float
    testimony: Testimony


def detect_gpu_holders(observed: Observed) -> Iterable[Anomaly]:
    """Find cards that others hold, or say that none is held."""
    testimonies = [
        testimony for testimony in observed.facts.testimonies if _is_outside(testimony, observed)
    ]
    cards, processes = list(_read_cards(testimonies)), list(_iter_processes(testimonies))
    own = _select_own_process(processes, observed)
    processes = [process for process in processes if process not in own]
    if not cards:
        return _detect_from_process_list(processes, observed)
    cards = [card._replace(used=card.used - _sum_used_memory(card, own)) for card in cards]
    if own and all(card.used < _LEAST for card in cards):
        return []
    held = _select_cards_held_by_others(cards, processes, observed)
    if held:
        return [_build_held_card_anomaly(max(held, key=lambda card: card.used), processes)]
    return [_build_idle_cards_anomaly(cards)] if all(card.used < _LEAST for card in cards) else []


def _select_own_process(processes: Sequence[_Holder], observed: Observed) -> list[_Holder]:
    """Give the one process of a listing that runs the script of this run, by its command.

    Of several, some may be left of an earlier run.
    """
    numbers = _collect_pids_of_scripts(_collect_scripts(observed), observed) if processes else set()
    own = [process for process in processes if process.pid in numbers]
    return own if len({process.pid for process in own}) == 1 else []


def _collect_scripts(observed: Observed) -> set[str]:
    """Name the scripts that the logs of the run name."""
    logs = observed.tails.keys() - observed.dumps
    lines = (line for source in logs for _, line in observed.kept_lines(source))
    return {match["script"] for line in lines for match in _SCRIPT.finditer(line)}


def _collect_pids_of_scripts(scripts: Container[str], observed: Observed) -> set[str]:
    """Give the numbers of the processes that dumps list with one of the scripts."""
    dumps = observed.tails.keys() & observed.dumps
    lines = (line for source in dumps for _, line in observed.kept_lines(source))
    return {
        row["pid"]
        for line in lines
        if (row := _LISTED.match(line)) is not None
        and any(named["script"] in scripts for named in _SCRIPT.finditer(line))
    }


def _sum_used_memory(card: _Card, own: Iterable[_Holder]) -> float:
    """Give what processes hold of a card, in MiB."""
    return sum(process.used for process in own if process.number in {card.number, None})


def _select_cards_held_by_others(
    cards: Sequence[_Card], processes: Sequence[_Holder], observed: Observed
) -> list[_Card]:
    """Give the cards that others hold; of the card that the failure names alone, if it is there."""
    named = _get_named_card(observed)
    is_there = any(card.number == named for card in cards)
    return [
        card
        for card in cards
        if card.used >= max(_LEAST, _SHARE * card.total)
        and (not is_there or card.number == named)
        and _is_of_others(card.testimony, processes, observed)
    ]


def _detect_from_process_list(processes: Iterable[_Holder], observed: Observed) -> list[Anomaly]:
    """Judge a listing of processes without cards."""
    large = [
        process
        for process in processes
        if process.used >= _LEAST and _is_of_others(process.testimony, [process], observed)
    ]
    return [_build_process_anomaly(max(large, key=lambda process: process.used))] if large else []


def _is_outside(testimony: Testimony, observed: Observed) -> bool:
    """Say whether a listing is one of its own, or was made before the run held anything."""
    if not testimony.what.startswith("gpu_"):
        return False
    if testimony.source in observed.dumps:
        return True
    begins = [
        finding.line
        for finding, _ in observed.findings
        if finding.source == testimony.source and finding.role in {"cause", "consequence"}
    ]
    first = observed.first_records.get(testimony.source)
    return testimony.line < min([*begins, *([] if first is None else [first])], default=0)


def _is_of_others(testimony: Testimony, processes: Iterable[_Holder], observed: Observed) -> bool:
    """Say whether a listing surely shows others.

    One that stands in the log may have been pasted there, and show the run itself: it counts where
    it names a process that is no Python.
    """
    names = [process.name for process in processes if process.used >= _LEAST]
    is_foreign = bool(names) and not any("python" in name.lower() for name in names)
    return testimony.source in observed.dumps or is_foreign


def _get_named_card(observed: Observed) -> int | None:
    """Give the card that the out-of-memory line names; None if it may be counted otherwise."""
    for finding, _ in observed.findings:
        if finding.signature.startswith("memory.cuda-oom.") and (
            match := _NAMED.search(finding.text)
        ):
            return int(match[1])
    return None


def _read_cards(testimonies: Iterable[Testimony]) -> Iterator[_Card]:
    """Read cards from the rows of every form of listing."""
    columns: list[str] = []
    count = 0
    for testimony in testimonies:
        if testimony.what == "gpu_csv_header":
            columns = [column.split(" ")[0] for column in testimony.value.split(", ")]
            count = 0
        elif testimony.what == "gpu_csv_row" and "memory.total" in columns:
            card = _parse_csv_row(testimony, columns, count)
            count += 1
            if card is not None:
                yield card
        elif testimony.what == "gpu_row" and (use := _USE.search(testimony.value)):
            index = _INDEX.match(testimony.value)
            yield _Card(int(index[1]) if index else 0, float(use[1]), float(use[2]), testimony)
        elif testimony.what == "gpu_use":
            card = _parse_usage_row(testimony, count)
            count += 1
            if card is not None:
                yield card


def _parse_csv_row(testimony: Testimony, columns: list[str], count: int) -> _Card | None:
    cells = dict(zip(columns, testimony.value.split(", "), strict=False))
    total = _parse_mib(cells.get("memory.total"))
    used = _parse_mib(cells.get("memory.used"))
    free = _parse_mib(cells.get("memory.free"))
    if used is None and total is not None and free is not None:
        used = total - free
    if total is None or used is None:
        return None
    index = cells.get("index", "")
    return _Card(int(index) if index.isdigit() else count, used, total, testimony)


def _parse_usage_row(testimony: Testimony, count: int) -> _Card | None:
    if query := _QUERY.search(testimony.value):
        return _Card(count, float(query[2]), float(query[1]), testimony)
    if use := _USE.search(testimony.value):
        index = _INDEX.match(testimony.value)
        return _Card(int(index[1]) if index else count, float(use[1]), float(use[2]), testimony)
    return None


def _iter_processes(testimonies: Iterable[Testimony]) -> Iterator[_Holder]:
    columns: list[str] = []
    for testimony in testimonies:
        if testimony.what == "gpu_csv_header":
            columns = [column.split(" ")[0] for column in testimony.value.split(", ")]
        elif testimony.what == "gpu_csv_row" and "pid" in columns:
            cells = dict(zip(columns, testimony.value.split(", "), strict=False))
            used = _parse_mib(cells.get("used_memory") or cells.get("used_gpu_memory"))
            if used is not None:
                name = cells.get("name") or cells.get("process_name") or ""
                yield _Holder(None, cells["pid"], name, used, testimony)
        elif testimony.what == "gpu_process" and (row := _PROCESS.match(testimony.value)):
            yield _Holder(int(row[1]), row[2], row[3], float(row[4]), testimony)


def _parse_mib(cell: str | None) -> float | None:
    match = _FIGURE.search(cell or "")
    return float(match[1]) if match else None


def _build_held_card_anomaly(card: _Card, processes: Iterable[_Holder]) -> Anomaly:
    by_whom = max(
        (
            process
            for process in processes
            if process.number in {card.number, None} and process.used <= card.used
        ),
        key=lambda process: process.used,
        default=None,
    )
    message = say(
        "{used:.1f} of {total:.1f} GiB of GPU {index} in use{by_whom}",
        used=card.used / _MIB,
        total=card.total / _MIB,
        index=card.number,
        by_whom=quote("")
        if by_whom is None
        else say(
            ", by process {pid} ({name})",
            pid=by_whom.pid,
            name=by_whom.name,
        ),
    )
    return Anomaly("gpu-held", message, card.testimony.source, NOWHERE, card.testimony.line)


def _build_idle_cards_anomaly(cards: list[_Card]) -> Anomaly:
    most = max(cards, key=lambda card: card.used)
    message = say(
        "at most {used:.1f} of {total:.1f} GiB in use",
        used=most.used / _MIB,
        total=most.total / _MIB,
    )
    return Anomaly("gpu-empty", message, most.testimony.source, NOWHERE, most.testimony.line)


def _build_process_anomaly(process: _Holder) -> Anomaly:
    message = say(
        "process {pid} ({name}) holds {used:.1f} GiB",
        pid=process.pid,
        name=process.name,
        used=process.used / _MIB,
    )
    return Anomaly("gpu-held", message, process.testimony.source, NOWHERE, process.testimony.line)
