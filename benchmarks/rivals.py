"""What other tools name on the same logs, and how long they take.

    python benchmarks/rivals.py FOLDER [--install] [--write] [--keep FOLDER] [--megabytes 2]

In: FOLDER, where each tool stands in an environment of its own (`v-<tool>`) and each checkout
beside (`--install` fetches what is missing: pip and git, versions as in `rivals.yaml`), and an
installed `postmortem` beside this Python or on the path. Out: the tables of docs/comparison.md,
printed, and with `--write` put into both pages. `--keep` keeps what other tools answered, and takes
what is kept. A tool that is not there is left out and named. Not here: asking a tool
(`rival_adapters.py`), the logs (`rival_cases.py`), counting (`rival_scores.py`), time
(`rival_times.py`).
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import rival_tables
import yaml
from rival_cases import Case, of_gpualert, of_samples, of_trainproof, spelled_out
from rival_scores import Score, scored
from rival_tables import Measured
from rival_times import on_kinds, on_samples

HERE = Path(__file__).resolve().parent
OWN = "postmortem"
WORDS = "error|exception|traceback|fail|fatal|killed|nan|inf|out of memory|timeout"


def install(name: str, tool: dict[str, Any], folder: Path) -> None:
    """Fetch what a tool needs, if it is not there."""
    if "package" in tool and not (folder / f"v-{name}").exists():
        subprocess.run([sys.executable, "-m", "venv", folder / f"v-{name}"], check=True)
        python = folder / f"v-{name}" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", *tool["package"].split()], check=True)
    if "checkout" in tool and not (folder / name).exists():
        subprocess.run(["git", "clone", "-q", tool["checkout"], folder / name], check=True)
        subprocess.run(["git", "checkout", "-q", tool["commit"]], cwd=folder / name, check=True)


def environment(folder: Path) -> dict[str, str]:
    """The variables that tools are started with: none of theirs may send anything."""
    return {**os.environ, "PYTHONPATH": str(folder / "nvrx" / "src"), "DENPEX_LOCAL": "1"}


def ask_tool(name: str, cases: Sequence[Case], folder: Path) -> list[list[str] | str]:
    """What a tool says of each case."""
    if name == OWN:
        return [list(case.own) for case in cases]
    if name == "rg":
        return [searched(case) for case in cases]
    return run_adapter(name, [case.inputs for case in cases], folder)


def run_adapter(name: str, inputs: Iterable[dict[str, Any]], folder: Path) -> list[list[str] | str]:
    """What a tool says in its own environment of each input, as `rival_adapters.py` takes them."""
    done = subprocess.run(
        [folder / f"v-{name}" / "bin" / "python", HERE / "rival_adapters.py", name],
        input="".join(json.dumps(one) + "\n" for one in inputs),
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def searched(case: Case) -> list[str]:
    """The lines that hold a word of errors."""
    command = ["rg", "-i", "--no-filename", "--no-line-number", "--text", WORDS]
    done = subprocess.run([*command, *case.inputs["files"]], capture_output=True, check=False)
    return [f"quote:{line}" for line in done.stdout.decode("utf-8", "replace").splitlines()]


def version(name: str, tool: dict[str, Any], folder: Path) -> str:
    """The version of a tool that is there; nothing if it is not."""
    try:
        if "checkout" in tool:
            git = ["git", "rev-parse", "--short=12", "HEAD"]
            return subprocess.check_output(git, cwd=folder / name, text=True).strip()
        if name == "rg":
            return subprocess.check_output(["rg", "--version"], text=True).split()[1]
        code = f"import importlib.metadata as m; print(m.version({name!r}))"
        python = folder / f"v-{name}" / "bin" / "python"
        return subprocess.check_output([python, "-c", code], text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def sets(rivals: dict[str, Any], folder: Path, work: Path) -> Iterator[tuple[str, list[Case]]]:
    """The sets of logs that are there, by name."""
    yield "samples", list(of_samples(work))
    for name, read in (("gpualert-eval", of_gpualert), ("trainproof-gallery", of_trainproof)):
        if (folder / name).exists():
            yield name, list(read(folder / name, rivals["sets"][name]["labels"], work))


def scores(
    title: str, cases: Sequence[Case], rivals: dict[str, Any], names: Sequence[str], args: Any
) -> dict[str, Score]:
    """How each tool fares on a set; answers without a row of `rivals.yaml` are told."""
    found = {}
    for name in names:
        kept = args.keep / f"{title}.{name}.json"
        if name == OWN or not kept.exists():
            kept.write_text(json.dumps(ask_tool(name, cases, args.folder), indent=0), "utf-8")
        answers = json.loads(kept.read_text("utf-8"))
        rows = rivals["tools"].get(name, {}).get("answers")
        found[name] = scored(cases, answers, rows, spelled_out)
        for unknown in sorted(found[name].unmapped):
            print(f"{name}: no row for {unknown!r}", file=sys.stderr)
    return found


def parse_arguments() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--megabytes", type=float, default=2)
    args = parser.parse_args()
    args.keep = args.keep or Path(tempfile.mkdtemp(prefix="postmortem-rivals-"))
    args.keep.mkdir(exist_ok=True)
    return args


def main() -> None:
    """Ask all, score, measure, print."""
    args = parse_arguments()
    rivals = yaml.safe_load((HERE / "rivals.yaml").read_text(encoding="utf-8"))
    for name, tool in {**rivals["tools"], **rivals["sets"]}.items() if args.install else ():
        install(name, tool, args.folder)
    versions = {name: version(name, tool, args.folder) for name, tool in rivals["tools"].items()}
    for name in (name for name, number in versions.items() if not number):
        print(f"{name}: left out, not in {args.folder}", file=sys.stderr)
    there = {
        OWN: importlib.metadata.version("train-postmortem"),
        **{name: number for name, number in versions.items() if number},
    }
    logs = dict(sets(rivals, args.folder, args.keep))
    found = {}
    for title, cases in logs.items():
        names = rivals["sets"].get(title, {}).get("asked", there)
        found[title] = scores(
            title, cases, rivals, [rival for rival in names if rival in there], args
        )
    env = environment(args.folder)
    measured = Measured(
        versions=there,
        scores=found,
        times=on_samples(there, logs["samples"], args.folder, env),
        kinds=on_kinds(there, args.folder, args.keep, env, args.megabytes),
        megabytes=args.megabytes,
    )
    for language in ("en", "zh"):
        block = rival_tables.block(rivals, measured, language)
        if args.write:
            rival_tables.put(block, language)
        if language == "en":
            print(block)


if __name__ == "__main__":
    main()
