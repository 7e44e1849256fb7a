"""Count the modules that a reader must open to follow one thing through the program.

    python tools/code_paths.py [--list]

Each path is run for real, and a module counts where one of its functions runs on the way:

    traceback           a log of four lines that hold a traceback, to its report
    signature-verdict   functions that take or give a finding, alone or in a list, up to the verdict
    metric-chart        functions that take or give a curve's values, from the lines to the page
    triage-job          a triage of one job, but what its analysis runs as well
    webhook-comment     a tracker's delivery, to the comment, but what its analysis runs as well

`--list` prints the modules too. Every process of a path is counted.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
MARKED: Final = "cuda.assert-triggered"
VALUE: Final = 2.7182
TRACEBACK: Final = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    loss.backward()
RuntimeError: CUDA error: device-side assert triggered
"""
CURVE: Final = "".join(f"step {step} loss {VALUE - step / 100:.4f}\n" for step in range(40))
JUDGING: Final = (
    "postmortem/rules/",
    "postmortem/extraction/",
    "postmortem/diagnosis/detectors/",
    "postmortem/diagnosis/case/",
    "postmortem/diagnosis/classifier/",
    "postmortem/diagnosis/inference/",
)
"""Where a finding becomes a verdict; what is shown of both is another path."""
ASIDE: Final = ("postmortem/diagnosis/detectors/",)
"""Who looks at a curve, and hands it on to nobody."""
ANSWERED: Final = "tests/interfaces/bots/test_answers.py"

TRACER: Final = '''
import array, os, sys, threading
_ROOT, _OUT, _MARK = (os.environ["PATHS_" + name] for name in ("ROOT", "OUT", "MARK"))
_NUMBER = float(_MARK) if _MARK[:1].isdigit() else None
_SEEN = set()

def _holds(value, depth=3):
    """Say whether a value is the marked one, or holds it among few others."""
    if isinstance(value, str):
        return _NUMBER is None and value.startswith(_MARK)
    if isinstance(value, float):
        return value == _NUMBER
    if isinstance(value, array.array):
        return _NUMBER is not None and _NUMBER in value[:200]
    if depth == 0:
        return False
    if isinstance(value, dict):
        if len(value) > 200:
            return False
        parts = [*value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = [*value][:200]
    else:
        if ".rules" in type(value).__module__:
            return False
        names = getattr(type(value), "__dataclass_fields__", ())
        parts = [getattr(value, name, None) for name in names]
    return any(_holds(part, depth - 1) for part in parts)

def _trace(frame, event, result):
    if event not in ("call", "return"):
        return
    file = frame.f_code.co_filename
    if file in _SEEN or not file.startswith(_ROOT) or frame.f_code.co_name == "<module>":
        return
    if _MARK != "-":
        sys.setprofile(None)
        values = [*frame.f_locals.values()] if event == "call" else [result]
        found = any(map(_holds, values))
        sys.setprofile(_trace)
        if not found:
            return
    _SEEN.add(file)
    with open(_OUT, "a") as out:
        out.write(file + "\\n")

threading.setprofile(_trace)
sys.setprofile(_trace)
'''


def list_modules(command: Sequence[str], mark: str = "-") -> set[str]:
    """Run a command of Python and list the modules of the package whose functions run.

    Args:
        command: the arguments of the interpreter.
        mark: count only functions that take or give this text or number; "-" for all.

    Raises:
        CalledProcessError: the command failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(TRACER, encoding="utf-8")
        out = Path(folder, "modules")
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join((folder, str(ROOT))),
                "PATHS_ROOT": str(ROOT / "postmortem"),
                "PATHS_OUT": str(out),
                "PATHS_MARK": mark,
            },
            capture_output=True,
            check=False,
        )
        if done.returncode not in {0, 1} or b"Traceback" in done.stderr:
            raise subprocess.CalledProcessError(
                done.returncode, command, done.stdout[-2000:], done.stderr[-2000:]
            )
        files = out.read_text(encoding="utf-8").split("\n") if out.exists() else []
        return {Path(file).relative_to(ROOT).as_posix() for file in files if file}


def follow_paths() -> dict[str, set[str]]:
    """Run every path; gives its modules."""
    with tempfile.TemporaryDirectory() as folder:
        jobs, pages = Path(folder, "jobs"), str(Path(folder, "triage"))
        jobs.mkdir()
        log, curve = jobs / "train-1.log", Path(folder, "curve.log")
        log.write_text(TRACEBACK, encoding="utf-8")
        curve.write_text(CURVE, encoding="utf-8")
        analyze = ("-m", "postmortem", "analyze")
        report = list_modules((*analyze, str(log)))
        analysis = report | list_modules((*analyze, str(log), "--format", "html"))
        triage = ("-m", "postmortem", "triage", str(jobs), "--out", pages, "--workers", "1")
        answer = ("-m", "pytest", "-q", "-p", "no:cacheprovider", ANSWERED)
        return {
            "traceback": report,
            "signature-verdict": {
                module
                for module in list_modules((*analyze, str(log)), MARKED)
                if module.startswith(JUDGING)
            },
            "metric-chart": {
                module
                for module in list_modules((*analyze, str(curve), "--format", "html"), str(VALUE))
                if not module.startswith(ASIDE)
            },
            "triage-job": list_modules(triage) - analysis,
            "webhook-comment": list_modules(answer) - analysis,
        }


def main() -> None:
    """Follow the paths and print how many modules each takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    for name, modules in follow_paths().items():
        print(f"{name:20}{len(modules):4}")
        if args.list:
            print("".join(f"    {module}\n" for module in sorted(modules)), end="")


if __name__ == "__main__":
    main()
