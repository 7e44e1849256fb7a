"""What a tool costs: CPU time of its command in a fresh process, beside ours in the same run.

In: the tools that are there. Out: ratios to `postmortem analyze`, and where a tool did not answer
within the limit. Not here: what it answers.
"""

import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from log_kinds import KINDS
from reading import write
from rival_cases import Case

OWN: Final = "postmortem"
EVERY: Final = 60
"""One of so many samples is measured."""
LIMIT: Final = 10
"""Seconds of CPU time after which a tool is stopped."""
HERE: Final = Path(__file__).resolve().parent
KINDS_GIVEN: Final = ("dense", "hits", "bars", "many ranks")
READERS_OF_TEXT: Final = (OWN, "rg", "gpualert", "runmedic", "denpex", "nvrx")


def command(name: str, folder: Path, inputs: dict[str, str]) -> list[str] | None:
    """The command that a user types; our adapter where there is none for a log that lies there."""
    programs = folder / f"v-{name}" / "bin"
    program = Path(sys.executable).with_name(OWN)
    adapter = [str(programs / "python"), str(HERE / "rival_adapters.py"), name]
    agent = ["-m", "nvidia_resiliency_ext.attribution.restart_agent.cli", "--disable-l1"]
    text, records = inputs["text"], inputs.get("records")
    return {
        OWN: [str(program) if program.exists() else shutil.which(OWN) or OWN, "analyze", text],
        "rg": ["rg", "-i", "--text", "error|exception|traceback|fail|killed|nan", text],
        "runmedic": [str(programs / "runmedic"), "diagnose", text],
        "denpex": [str(programs / "denpex"), "diagnose-local", text],
        "nvrx": [str(programs / "python"), *agent, text],
        "trainproof": [str(programs / "trainproof"), "epoch", records or ""] if records else None,
    }.get(name, adapter)


def seconds(words: list[str], inputs: dict[str, str], env: dict[str, str]) -> float | None:
    """CPU seconds of a command and its children; nothing if it was stopped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        words,
        input=(json.dumps({**inputs, "files": [inputs["text"]], "failed": True}) + "\n").encode(),
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took if done.returncode >= 0 and took < LIMIT else None


def on_samples(
    there: Iterable[str], cases: Sequence[Case], folder: Path, env: dict[str, str]
) -> dict[str, float]:
    """The median ratio to ours over some samples, each tool asked in turn."""
    ratios: dict[str, list[float]] = {name: [] for name in there}
    all_inputs = [case.inputs for case in cases]
    for inputs in [
        input_ for input_ in all_inputs if "records" in input_ and "folder" not in input_
    ][::EVERY]:
        took = {}
        for name in ratios:
            if words := command(name, folder, inputs):
                took[name] = seconds(words, inputs, plain(env) if name == OWN else env)
        for name, value in took.items():
            if value is not None and took[OWN]:
                ratios[name].append(value / took[OWN])
    return {name: statistics.median(found) for name, found in ratios.items() if found}


def on_kinds(
    there: Iterable[str], folder: Path, work: Path, env: dict[str, str], megabytes: float
) -> dict[str, dict[str, float | None]]:
    """The ratio to ours on each kind of generated log; none where a tool did not answer in time."""
    found: dict[str, dict[str, float | None]] = {}
    for kind in KINDS_GIVEN:
        log = work / f"kind-{kind.replace(' ', '-')}.log"
        write(log, KINDS[kind](random.Random(7)), megabytes)
        inputs = {"text": str(log)}
        took = {
            name: seconds(words, inputs, plain(env) if name == OWN else env)
            for name in there
            if name in READERS_OF_TEXT and (words := command(name, folder, inputs))
        }
        own = took[OWN] or LIMIT
        found[kind] = {name: value and value / own for name, value in took.items()}
    return found


def plain(env: dict[str, str]) -> dict[str, str]:
    """The variables for our own command: those of this process, without a path for others."""
    return {key: value for key, value in env.items() if key != "PYTHONPATH"}
