"""Record a correction, the real cause of a run, in a folder of the user's own.

In: a log, the id of its cause. Out: a label, next to a copy of the log or with a reference to it.
Not here: training on it (`learn.training`).
"""

import hashlib
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import platformdirs
import yaml

from postmortem.core.errors import InputError, UsageError
from postmortem.learn.labelled_logs import describe_similar_causes


def get_labels_folder() -> Path:
    """Give the folder where a user's labels lie, if none is named."""
    return Path(platformdirs.user_data_dir("postmortem")) / "labels"


def record(
    log: Path,
    cause: str,
    known: Collection[str],
    *,
    folder: Path,
    also: Sequence[str] = (),
    note: str = "",
    is_copied: bool = True,
) -> Path:
    """Write a label; the same log labelled again replaces its label.

    A copy is the same log if it says the same, wherever it lay: a path may hold another run by now.

    Raises:
        InputError: there is no such log.
        UsageError: there is no such cause.
    """
    for answer in (cause, *also):
        if answer not in known:
            raise UsageError("no such cause", answer, describe_similar_causes(answer, known))
    if not log.exists():
        raise InputError("no such log", log, "name the log of the run, or the folder of the job")
    whole = log.resolve()
    name = f"{log.name.split('.')[0]}-{_compute_digest(whole, is_copied=is_copied)}"
    label: dict[str, Any] = {"cause": cause}
    label |= {key: value for key, value in (("also", [*also]), ("note", note)) if value}
    folder.mkdir(parents=True, exist_ok=True)
    if is_copied:
        label["log"] = _copy_log(whole, folder, name).name
    else:
        label["log"] = str(whole)
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(label, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def _compute_digest(log: Path, *, is_copied: bool) -> str:
    digest = hashlib.sha256(b"" if is_copied and log.is_file() else str(log).encode())
    if is_copied and log.is_file():
        with log.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()[:8]


def _copy_log(log: Path, folder: Path, name: str) -> Path:
    """Copy a log, or the folder of a job."""
    copy = folder / (name + ("" if log.is_dir() else "".join(log.suffixes[-2:]) or ".log"))
    if log.is_dir():
        shutil.copytree(log, copy, dirs_exist_ok=True)
    else:
        shutil.copyfile(log, copy)
    return copy
