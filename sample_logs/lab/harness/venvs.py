"""The virtual environments that the faults run in.

Made by the lab, one per framework, versions pinned in `environments/`.

Comes in: a name. Goes out: the folder of a ready environment. `environments/NAME.yaml` says what is
installed and in which order, `environments/NAME.lock` (pip freeze) holds every version.
"""

import fcntl
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from harness.faults import LAB, FaultError

HOME = Path(os.environ.get("LAB_HOME", Path.home() / ".cache" / "postmortem-lab"))
READY = "lab-ready.json"
SHOWN = (
    "torch",
    "transformers",
    "accelerate",
    "peft",
    "trl",
    "datasets",
    "deepspeed",
    "lightning",
    "mmengine",
    "xtuner",
    "numpy",
    "bitsandbytes",
    "huggingface_hub",
    "torchvision",
    "jax",
    "optax",
)


def plan_of(name: str) -> dict[str, Any]:
    """The steps of an environment."""
    path = LAB / "environments" / f"{name}.yaml"
    if not path.is_file():
        raise FaultError(
            f"no environment is called {name!r}; there "
            f"are {sorted(entry.stem for entry in path.parent.glob('*.yaml'))}"
        )
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def folder_of(name: str) -> Path:
    """Where the environment stands, made or not."""
    return HOME / name


def ready(name: str) -> bool:
    """Whether it is there and made from the plan as it stands now."""
    mark = folder_of(name) / READY
    return mark.is_file() and json.loads(mark.read_text(encoding="utf-8")) == plan_of(name)


def make(name: str, *, freeze: bool = False) -> Path:
    """Make the environment, if it is not ready, and return its folder.

    With `freeze`, ignore the lock and write a new one.
    """
    folder = folder_of(name)
    with alone(name):
        if ready(name) and not freeze:
            return folder
        fill(folder, name, freeze=freeze)
    return folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep other processes from making the same environment: tests run side by side."""
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / f"{name}.making").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def fill(folder: Path, name: str, *, freeze: bool) -> None:
    """Make an environment from its plan."""
    plan, lock = plan_of(name), LAB / "environments" / f"{name}.lock"
    print(f"making the environment {name} in {folder}", file=sys.stderr, flush=True)
    venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    constraint = [] if freeze or not lock.is_file() else ["-c", str(lock)]
    for step in plan["steps"]:
        pip(
            folder,
            [
                "install",
                "-q",
                "--disable-pip-version-check",
                *(str(part) for part in step),
                *(constraint if "--no-deps" not in step else []),
            ],
        )
    if freeze:
        lines = [
            line
            for line in pip(folder, ["freeze", "--disable-pip-version-check"]).splitlines()
            if "==" in line and " @ " not in line
        ]
        lock.write_text(
            "".join(f"{line.replace('+cpu', '')}\n" for line in lines), encoding="utf-8"
        )
    (folder / READY).write_text(json.dumps(plan), encoding="utf-8")


def pip(folder: Path, arguments: list[str]) -> str:
    """Run the environment's pip; its last lines are the error."""
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-m", "pip", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise FaultError(f"pip {' '.join(arguments)} failed in {folder}:\n{done.stderr[-1500:]}")
    return done.stdout


def versions(folder: Path) -> dict[str, str]:
    """Python and the packages worth a line in a label."""
    code = (
        f"import importlib.metadata as m, json, platform; print(json.dumps({{'python': "
        f"platform.python_version(), **{{n: m.version(n) for n in {SHOWN!r} if "
        f"any(d.metadata['Name'] == n for d in m.distributions(name=n))}}}}))"
    )
    done = subprocess.run(
        [str(folder / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))
