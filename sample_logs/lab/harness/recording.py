"""Record faults: run them, write or compare their cases, say what happened.

Comes in: faults and seeds. Goes out: files under a folder, and one `Outcome` per run. A run that
did not show its fault leaves nothing behind but its outcome.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness import venvs
from harness.compare import differences
from harness.execute import Run, execute, why_not
from harness.faults import Fault, FaultError
from harness.labels import cases_of, end_of, write
from harness.manifest import case_names

TALKATIVE = {
    "TRANSFORMERS_VERBOSITY": "info",
    "ACCELERATE_LOG_LEVEL": "INFO",
    "TORCH_DISTRIBUTED_DEBUG": "DETAIL",
    "TORCH_CPP_LOG_LEVEL": "INFO",
    "DATASETS_VERBOSITY": "info",
}
SILENT = {"TRANSFORMERS_VERBOSITY": "error", "PYTHONWARNINGS": "ignore", "TQDM_DISABLE": "1"}
CHATTER: dict[str, dict[str, str]] = {"normal": {}, "talkative": TALKATIVE, "silent": SILENT}


@dataclass(frozen=True)
class Outcome:
    """What became of one run: `recorded`, `same`, `differs`, `skipped` or `failed`, and why."""

    case: str
    state: str
    detail: str = ""


@dataclass(frozen=True)
class Job:
    """What to do with each run: write under `out`, or compare with what stands there."""

    out: Path
    compare: bool = False
    keep: Path | None = None
    chatter: str = "normal"


def record(fault: Fault, seed: int, job: Job) -> list[Outcome]:
    """One run of one fault."""
    names = case_names(fault, seed)
    reason = why_not(fault)
    if reason:
        return [Outcome(name, "skipped", reason) for name in names]
    try:
        folder = venvs.make(fault.venv)
        run = execute(fault, seed, folder, job.keep and job.keep / names[0], CHATTER[job.chatter])
        _as_announced(fault, run)
        cases = cases_of(fault, seed, run, venvs.versions(folder))
    except FaultError as error:
        return [Outcome(name, "failed", str(error)) for name in names]
    target = job.out / fault.framework
    if job.compare:
        return [
            _compared(
                target / f"{case}.yaml", yaml.safe_load(parts[".yaml"]), f"{fault.framework}/{case}"
            )
            for case, parts in cases.items()
        ]
    write(cases, target)
    size = sum(len(data) for parts in cases.values() for data in parts.values())
    return [
        Outcome(name, "recorded", f"exit status {run.status}, {size:,} bytes") for name in names
    ]


def _as_announced(fault: Fault, run: Run) -> None:
    """Refuse a run that ended otherwise than its header says."""
    if run.timed_out != (fault.ends == "time limit"):
        raise FaultError(
            f"{fault.name}: {'still running' if run.timed_out else 'ended'} before its limit "
            f"of {fault.seconds} s; its end was:\n{end_of(run.files)}"
        )
    if (
        fault.outcome == "failed"
        and run.status == 0
        and fault.ends == "by itself"
        and not fault.signature
    ):
        raise FaultError(f"{fault.name}: exit status 0 and no signature: nothing failed")
    if fault.outcome == "completed" and run.status != 0:
        raise FaultError(
            f"{fault.name}: meant to complete, but exit status {run.status}; its end "
            f"was:\n{end_of(run.files)}"
        )


def _compared(path: Path, label: dict[str, Any], case: str) -> Outcome:
    if not path.is_file():
        return Outcome(case, "differs", f"{path} is not there")
    found = differences(yaml.safe_load(path.read_text(encoding="utf-8")), label)
    return Outcome(case, "differs" if found else "same", "; ".join(found))


def record_all(runs: Iterable[tuple[Fault, int]], job: Job, workers: int = 2) -> Iterator[Outcome]:
    """Many runs, in order; environments are made first, one after the other."""
    runs = list(runs)
    for name in sorted({fault.venv for fault, _ in runs if why_not(fault) is None}):
        venvs.make(name)
    with ThreadPoolExecutor(workers) as pool:
        for outcomes in pool.map(lambda entry: record(entry[0], entry[1], job), runs):
            yield from outcomes
