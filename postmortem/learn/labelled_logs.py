"""Folders of labelled logs, each with the real cause of its failure: read, record a correction.

In: a folder; a log and the id of its cause. Out: `LabelledLog`s; a label, next to a copy of the log
or with a reference to it. Not here: reading the logs (`learn.samples`), training
(`learn.training`).

A label is `NAME.yaml` next to `NAME.log` (or another kind of log, or a folder of a job's files), or
it names its log under `log`. `cause` is obligatory; `also` names answers that are right as well;
`origin` says where the case is from. Other YAML files that lie there are passed over.
"""

import difflib
import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import platformdirs
import yaml

from postmortem.core.errors import InputError, UsageError
from postmortem.core.log_text import compile_lazily

SUFFIXES: Final = (".log", ".log.gz", ".jsonl", ".json", ".csv", ".txt", ".out", ".ipynb", "")
_REPOSITORY: Final = compile_lazily(r"github\.com/([^/\s]+/[^/\s#?]+)")
_SEED: Final = compile_lazily(r"-\d+$")
_NEAR: Final = 3


class LabelledLog(NamedTuple):
    """A log and the truth about it."""

    log: Path
    cause: str
    right: frozenset[str]
    """The cause, and answers that are right as well."""
    group: str
    """Cases of one origin: a repository, a script, a pair. They are never parted."""
    is_held_out: bool
    """It serves for the last figure only."""
    is_decidable: bool
    """The log alone decides."""
    environment: Path | None
    origin: str = ""
    """samples | public | composed, else what the label says, or the name of the folder."""


def list_labelled_cases(folders: Iterable[Path], known: Collection[str] = ()) -> list[LabelledLog]:
    """List the cases of folders, in order of their paths.

    Args:
        folders: where labels lie.
        known: the causes that there are; a label with another one is refused. Empty: any.

    Raises:
        InputError: a folder is missing or holds none, or a label is wrong.
    """
    found: list[LabelledLog] = []
    for folder in folders:
        if not folder.is_dir():
            raise InputError("no such folder of labelled logs", folder, "check the path")
        cases = list(_iter_cases(folder, known))
        if not cases:
            raise InputError(
                "no labelled log lies here",
                folder,
                "a label is NAME.yaml beside NAME.log: postmortem label run.log CAUSE --to FOLDER",
            )
        found += cases
    return found


def describe_similar_causes(cause: str, known: Collection[str]) -> str:
    """Say what to write in place of a cause that there is not."""
    near = difflib.get_close_matches(cause, sorted(known), _NEAR)
    hint = f"did you mean {', '.join(near)}" if near else "postmortem explain lists them"
    return f"{hint}; causes of your own come with --patterns"


def _iter_cases(folder: Path, known: Collection[str]) -> Iterator[LabelledLog]:
    for path in sorted(folder.rglob("*.yaml")):
        try:
            label = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
            raise InputError("the label is no YAML", path, str(error).split("\n", 1)[0]) from error
        if isinstance(label, dict) and "cause" in label:
            log = _log_of(path, label)
            if log is not None:
                _check(path, label, known)
                yield _build_labelled(folder, path, log, label)


def _check(path: Path, label: dict[str, Any], known: Collection[str]) -> None:
    """Refuse a label that says something else than causes."""
    also = label.get("also") or []
    causes = [label["cause"], *(also if isinstance(also, list) else [None])]
    if not all(isinstance(cause, str) and cause for cause in causes):
        raise InputError(
            "the label is wrong: `cause` is the id of a cause, `also` a list of ids",
            path,
            "for example: cause: memory.cuda-oom",
        )
    for cause in causes if known else ():
        if cause not in known:
            hint = describe_similar_causes(cause, known)
            raise InputError(f"the label names no known cause, but {cause!r}", path, hint)


def _log_of(path: Path, label: dict[str, Any]) -> Path | None:
    if isinstance(label.get("log"), str):
        named = path.parent / str(label["log"])
        if not named.exists():
            raise InputError(
                "the log that the label names is gone", named, f"mend or delete {path}"
            )
        return named
    candidates = (path.with_name(path.stem + suffix) for suffix in SUFFIXES)
    return next((candidate for candidate in candidates if candidate.exists()), None)


def _build_labelled(folder: Path, path: Path, log: Path, label: dict[str, Any]) -> LabelledLog:
    environment = log.parent / (log.name.split(".")[0] + ".env")
    return LabelledLog(
        log,
        label["cause"],
        frozenset({label["cause"], *(label.get("also") or ())}),
        _group(folder, path, label),
        label.get("part") == "check",
        str(label.get("answerable", "yes")) != "partly",
        environment if environment.is_file() else None,
        _get_origin(folder, label),
    )


def _group(folder: Path, path: Path, label: dict[str, Any]) -> str:
    """Name the group of a case."""
    source = str(label.get("source") or "")
    if repository := _REPOSITORY.search(source):
        return repository[1].lower()
    if label.get("script"):
        return str(label["script"])
    if source and source != "composed":
        return source
    return f"{folder.name}/{label.get('pair') or _SEED.sub('', path.stem)}"


def _get_origin(folder: Path, label: dict[str, Any]) -> str:
    """Say where a case is from, as figures are parted."""
    source = str(label.get("source") or "")
    if isinstance(label.get("origin"), str) and label["origin"]:
        return str(label["origin"])
    if "://" in source:
        return "public"
    if label.get("composed") is True or source == "composed" or label.get("pair"):
        return "composed"
    return "samples" if label.get("script") else folder.resolve().name


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
