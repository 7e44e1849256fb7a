"""What stands in `faults/`.

Each fault is one script with a YAML header, or a folder with `fault.yaml`, and says there what is
true of it.

Comes in: the folder. Goes out: `Fault` values. Running them is not done here.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import yaml

LAB = Path(__file__).resolve().parents[1]
FAULTS = LAB / "faults"
DUMPS = LAB / "dumps"
ENVIRONMENT_OF = {"pytorch": "torch", "transformers-trainer": "transformers"}
NEEDS = ("gpu", "no-gpu", "root", "tmpfs", "cgroup", "compiler", "slurm")


class FaultError(Exception):
    """A header that cannot be used: which file, which field, what to write instead."""


@dataclass(frozen=True)
class Dump:
    """One environment dump that is put beside the same log.

    Where it changes the answer, the answer stands here.
    """

    name: str
    file: str
    cause: str
    also: tuple[str, ...] = ()
    not_: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Fault:
    """One way to fail (or to stay healthy), with its truth.

    The fields are described in the lab's README.
    """

    name: str
    path: Path
    story: str
    cause: str
    also: tuple[str, ...] = ()
    not_: tuple[str, ...] = ()
    signature: str = ""
    first_failure: str = ""
    first_failure_source: str = ""
    pair: str = ""
    variant: str = ""
    composed: str = ""
    seeds: tuple[int, ...] = (0, 1, 2)
    kept: tuple[int, ...] = (0,)
    quick: bool = False
    environment: str = ""
    launch: str = ""
    runs_as: str = "train.py"
    seconds: int = 120
    memory_mib: int = 0
    needs: tuple[str, ...] = ()
    ends: str = "by itself"
    step_basis: str = "explicit"
    outcome: str = "failed"
    note: str = ""
    dump_command: str = ""
    dumps: tuple[Dump, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def framework(self) -> str:
        """The folder of the framework."""
        return self.name.split("/")[0]

    @property
    def venv(self) -> str:
        """The environment that it runs in."""
        return self.environment or ENVIRONMENT_OF.get(self.framework, self.framework)

    @property
    def command(self) -> str:
        """What the shell runs."""
        return self.launch or f"python {self.runs_as}"

    @property
    def files(self) -> dict[str, Path]:
        """Name in the working folder -> file, for everything the run needs."""
        if self.path.is_dir():
            return {
                str(path.relative_to(self.path)): path
                for path in sorted(self.path.rglob("*"))
                if path.is_file() and path.name != "fault.yaml" and "__pycache__" not in path.parts
            }
        return {self.runs_as: self.path}

    def dump_file(self, dump: Dump) -> Path:
        """Where a composed dump stands: with the fault, or among those that several share."""
        own = self.path / dump.file
        return own if own.is_file() else DUMPS / dump.file

    @property
    def description(self) -> str:
        """The file that holds the header, relative to the project."""
        return str(
            (self.path / "fault.yaml" if self.path.is_dir() else self.path).relative_to(
                LAB.parents[1]
            )
        )


def header_of(path: Path) -> tuple[str, dict[str, Any]]:
    """Story and fields of one fault."""
    if path.is_dir():
        fields = yaml.safe_load((path / "fault.yaml").read_text(encoding="utf-8"))
        return str(fields.pop("story", "")), fields
    story, _, rest = (
        ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    ).partition("\n")
    return story.strip(), yaml.safe_load(rest) or {}


def faults_at(path: Path) -> list[Fault]:
    """The fault of a script or folder.

    Several, if its header has `variants`: name -> fields that differ. They are a pair (same last
    line, another curve, another cause).
    """
    try:
        story, fields = header_of(path)
    except (yaml.YAMLError, SyntaxError, AttributeError) as error:
        raise FaultError(f"{path}: the header is no YAML: {error}") from error
    stem = path.stem if path.is_file() else path.name
    variants = fields.pop("variants", None)
    if not variants:
        return [fault_from(path, stem, story, fields)]
    return [
        fault_from(
            path,
            f"{stem}-{name}",
            own.get("story", story),
            {
                **fields,
                "pair": stem,
                "variant": name,
                **{key: value for key, value in own.items() if key != "story"},
            },
        )
        for name, own in variants.items()
    ]


def fault_from(path: Path, stem: str, story: str, fields: dict[str, Any]) -> Fault:
    """One fault from its header's fields, or what is wrong with them."""
    known = {name.rstrip("_") for name in Fault.__dataclass_fields__} - {"name", "path", "story"}
    unknown = set(fields) - known
    if unknown or not story or "cause" not in fields:
        wanted = (
            f"unknown fields {sorted(unknown)}; known are {sorted(known)}"
            if unknown
            else "a first line that tells the story, and `cause:`, are needed"
        )
        raise FaultError(f"{path}: {wanted}")
    values = _values(fields)
    try:
        values["dumps"] = tuple(Dump(**_values(entry)) for entry in fields.get("dumps", []))
    except TypeError as error:
        raise FaultError(
            f"{path}: dumps: {error}; known fields are {sorted(Dump.__dataclass_fields__)}; quote "
            "a `why` that holds a comma"
        ) from error
    values["variables"] = {key: str(value) for key, value in fields.get("variables", {}).items()}
    fault = Fault(name=f"{path.parent.name}/{stem}", path=path, story=story, **values)
    check(fault)
    return fault


def _values(fields: dict[str, Any]) -> dict[str, Any]:
    """Field names and values as the classes have them."""
    return {
        ("not_" if key == "not" else key): tuple(value) if isinstance(value, list) else value
        for key, value in fields.items()
    }


def check(fault: Fault) -> None:
    """Refuse a header that would give a wrong record."""
    wrong = [need for need in fault.needs if need not in NEEDS]
    if wrong:
        raise FaultError(f"{fault.path}: needs {wrong}; known are {list(NEEDS)}")
    if fault.ends not in ("by itself", "time limit"):
        raise FaultError(
            f"{fault.path}: ends must be 'by itself' or 'time limit' (the lab stops it after "
            "`seconds`)"
        )
    missing = [dump.file for dump in fault.dumps if not fault.dump_file(dump).is_file()]
    if missing:
        raise FaultError(
            f"{fault.path}: the dumps {missing} stand neither beside it nor in {DUMPS}"
        )
    if not set(fault.kept) <= set(fault.seeds):
        raise FaultError(
            f"{fault.path}: kept seeds {fault.kept} are not among the seeds {fault.seeds}"
        )
    if "." in fault.path.stem if fault.path.is_file() else "." in fault.path.name:
        raise FaultError(f"{fault.path}: no dot in a fault's name")


def load_faults(patterns: list[str] | None = None) -> list[Fault]:
    """All faults whose name (`framework/fault`) fits one of the shell patterns, by name.

    A pattern that fits nothing is an error.
    """
    found = list(_walk(patterns or ["*"]))
    if not patterns:
        return found
    for pattern in patterns:
        if not any(fnmatch(fault.name, pattern) for fault in found):
            raise FaultError(f"no fault is called {pattern!r}; `list` shows all")
    return [fault for fault in found if any(fnmatch(fault.name, pattern) for pattern in patterns)]


def _walk(patterns: list[str]) -> Iterator[Fault]:
    """The faults of the files that a pattern may mean.

    A fault that is being written elsewhere cannot stop a run of others.
    """
    for framework in sorted(path for path in FAULTS.iterdir() if path.is_dir()):
        for path in sorted(framework.iterdir()):
            name = f"{framework.name}/{path.stem if path.suffix == '.py' else path.name}"
            if (path.suffix == ".py" or (path / "fault.yaml").is_file()) and any(
                fnmatch(name, pattern) or pattern.startswith(name) for pattern in patterns
            ):
                yield from faults_at(path)
