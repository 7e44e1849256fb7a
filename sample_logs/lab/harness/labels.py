"""Labels: what is true of a recorded log, in a form that a person can read and a script can score.

Comes in: a fault and its run. Goes out: the files of one or more cases (log or folder, `.yaml`,
`.env`). How well a program does on them is not asked here.
"""

import math
import re
import shutil
from pathlib import Path
from typing import Any

import yaml

from harness.execute import Run
from harness.faults import LAB, Dump, Fault, FaultError

TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class _Dumper(yaml.SafeDumper):
    """Lists of plain values stay on one line."""


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    return dumper.represent_sequence(
        "tag:yaml.org,2002:seq",
        items,
        flow_style=not any(isinstance(item, (dict, list)) for item in items),
    )


_Dumper.add_representer(list, _list)


def dumped(label: dict[str, Any]) -> str:
    """The label as YAML, fields in order."""
    return yaml.dump(label, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


def series_of(truth: list[dict[str, object]]) -> dict[str, dict[str, Any]]:
    """Points, ends, extremes and non-finite values of each series that the script noted.

    Values stand as they were printed.
    """
    found: dict[str, list[tuple[Any, float]]] = {}
    for point in truth:
        found.setdefault(str(point["series"]), []).append(
            (point["step"], float(str(point["value"])))
        )
    summary: dict[str, dict[str, Any]] = {}
    for name, points in found.items():
        finite = [value for _, value in points if math.isfinite(value)]
        summary[name] = {
            "points": len(points),
            "first": list(points[0]),
            "last": list(points[-1]),
            "min": min(finite, default=None),
            "max": max(finite, default=None),
            "nonfinite": len(points) - len(finite),
        }
    return summary


def lines_of(data: bytes) -> list[str]:
    """Lines as an editor numbers them (a bare carriage return is not an end of line)."""
    return data.decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n")


def shown(line: str) -> str:
    """What stands on the line at last.

    The part after the last redraw that is not empty, without colours.
    """
    return next(
        (part.strip() for part in reversed(TERMINAL.sub("", line).split("\r")) if part.strip()), ""
    )


def place_of(
    pattern: str, files: dict[str, bytes], source: str = ""
) -> tuple[str, int, str] | None:
    """Source, line number (from 1) and text of the first line that fits.

    Only `source` (a regex over names) is looked at, if given.
    """
    regex = re.compile(pattern)
    for name, data in files.items():
        if source and not re.search(source, name):
            continue
        for number, line in enumerate(lines_of(data), 1):
            for part in TERMINAL.sub("", line).split("\r"):
                if regex.search(part):
                    return name, number, part.strip()
    return None


def end_of(files: dict[str, bytes]) -> str:
    """The last lines of the last file, for a message."""
    return next(reversed(files.values()))[-600:].decode(errors="replace")


def label_of(
    fault: Fault, seed: int, run: Run, versions: dict[str, str], dump: Dump | None = None
) -> dict[str, Any]:
    """The label of one case. Raises FaultError where the run did not show what its header says."""
    where = f"{fault.name} with seed {seed}"
    answer: Fault | Dump = dump or fault
    label: dict[str, Any] = {
        "cause": answer.cause,
        "also": list(answer.also),
        "not": list(answer.not_),
        "signature": "",
    }
    if fault.signature:
        place = place_of(fault.signature, run.files)
        if place is None:
            raise FaultError(
                f"{where}: no line of the log fits the signature {fault.signature!r}; its end "
                f"is:\n{end_of(run.files)}"
            )
        label["signature"] = place[2]
    first = (
        place_of(fault.first_failure or fault.signature, run.files, fault.first_failure_source)
        if fault.outcome == "failed" and (fault.first_failure or fault.signature)
        else None
    )
    if fault.outcome == "failed" and first is None and (fault.first_failure or fault.signature):
        raise FaultError(
            f"{where}: no line of {fault.first_failure_source or 'the log'} fits the first "
            f"failure {fault.first_failure or fault.signature!r}"
        )
    if first is not None:
        label["first_failure"] = {
            **({"source": first[0]} if first[0] else {}),
            "line": first[1],
            "text": first[2],
        }
    label |= {
        "outcome": fault.outcome,
        "exit_status": run.status if not run.timed_out else "stopped by the lab",
    }
    if fault.pair:
        label["pair"] = fault.pair
    label |= {"series": series_of(run.truth), "step_basis": fault.step_basis} if run.truth else {}
    label |= {
        "composed": bool(fault.composed),
        "story": fault.story,
        "how": f"python sample_logs/lab run {fault.name} --seeds {seed}",
        "script": fault.description,
    }
    label["env"] = (
        {**versions, "os": "Linux", "device": "cuda" if "gpu" in fault.needs else "cpu"}
        if not fault.composed
        else {}
    )
    if dump is not None:
        file = fault.dump_file(dump).relative_to(LAB)
        note = "" if fault.composed else "; the log is real"
        label["dump"] = f"composed ({file}){note}. {dump.why}".strip()
    elif run.dump:
        label["dump"] = f"real: {fault.dump_command}"
    if fault.note or fault.composed:
        label["note"] = " ".join(
            part for part in (fault.composed and f"Composed: {fault.composed}", fault.note) if part
        )
    return label


def cases_of(
    fault: Fault, seed: int, run: Run, versions: dict[str, str]
) -> dict[str, dict[str, bytes]]:
    """Case name -> file name suffix -> content. A folder's files have the suffix '/name'."""
    stem = fault.name.split("/")[1]
    log = (
        {".log": run.files[""]}
        if "" in run.files
        else {f"/{name}": data for name, data in run.files.items()}
    )
    if not fault.dumps:
        label = dumped(label_of(fault, seed, run, versions))
        return {
            f"{stem}-{seed}": {
                **log,
                ".yaml": label.encode(),
                **({".env": run.dump} if run.dump else {}),
            }
        }
    return {
        f"{stem}-{dump.name}-{seed}": {
            **log,
            ".yaml": dumped(label_of(fault, seed, run, versions, dump)).encode(),
            ".env": fault.dump_file(dump).read_bytes(),
        }
        for dump in fault.dumps
    }


def write(cases: dict[str, dict[str, bytes]], folder: Path) -> list[Path]:
    """Write the cases into a framework's folder; a job's folder is emptied first.

    Returns the labels.
    """
    folder.mkdir(parents=True, exist_ok=True)
    labels = []
    for name, parts in cases.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        for suffix, data in parts.items():
            path = folder / f"{name}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        labels.append(folder / f"{name}.yaml")
    return labels
