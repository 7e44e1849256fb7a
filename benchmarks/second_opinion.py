"""What the classifier costs: time and memory of its say, size of its model, start of `analyze`.

    python benchmarks/second_opinion.py [--command COMMAND [--against COMMAND]] [--runs 20] [LOG...]

In: logs (default: every twentieth sample), an installed `postmortem`, another one to compare it
with. Out: a line a figure, in CPU time. The say is measured in a process that has judged the log
before; the whole of `analyze` in fresh ones, with the model and without, and against the other
command. These are alternated, so that what else the machine does falls on both.
"""

import argparse
import os
import resource
import statistics
import subprocess
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from samples import input_of, labels_in

from postmortem.core.resources import find_shipped_model
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.classifier.models import load_text_model
from postmortem.diagnosis.classifier.opinion import ask_text_model
from postmortem.diagnosis.inference.case_contents import find_active_conditions
from postmortem.diagnosis.inference.second_opinion import combine_opinions
from postmortem.diagnosis.inference.verdict import rank
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"say": 20.0, "memory": 50.0, "model": 5.0, "whole": 20.0, "start": 15.0}


def say(logs: Sequence[Path]) -> tuple[list[float], float]:
    """Milliseconds of CPU time that the model's say takes for each log, and the most memory."""
    path = find_shipped_model()
    assert path is not None
    model, machine = load_text_model(path), get_matcher(())
    cases = [build_case(read([str(log)], machine), machine.knowledge) for log in logs]
    ranked = [(case, rank(case, machine.knowledge)) for case in cases]
    took = []
    for is_counted in (False, True):
        for case, ranking in ranked:
            begin = time.process_time()
            combine_opinions(
                case,
                machine.knowledge,
                ranking,
                lambda case=case: ask_text_model(
                    case, model, find_active_conditions(case, machine.knowledge)
                ),
            )
            if is_counted:
                took.append(1000 * (time.process_time() - begin))
    tracemalloc.start()
    for case, ranking in ranked:
        combine_opinions(
            case,
            machine.knowledge,
            ranking,
            lambda case=case: ask_text_model(
                case, model, find_active_conditions(case, machine.knowledge)
            ),
        )
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return took, most + path.stat().st_size / 1e6


def start(command: Sequence[str], log: Path) -> float:
    """Milliseconds of CPU time that a whole `analyze` takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [command[0], "analyze", str(log), *command[1:]],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if not key.startswith("POSTMORTEM")},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def print_result(name: str, value: float, limit: str, more: str = "") -> None:
    """Write a figure beside its limit."""
    print(f"{name:42} {value:8.1f}  (limit {LIMITS[limit]:.0f}){more}")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--command", help="an installed `postmortem`")
    parser.add_argument("--against", help="another one that its start is held against")
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    logs = args.logs or [input_of(label) for label in labels_in(ROOT / "sample_logs")[::20]]
    took, memory = say(logs)
    print_result("say, ms, the most", max(took), "say", f"; median {statistics.median(took):.1f}")
    print_result("say, MB with the whole model mapped", memory, "memory")
    print_result("model, MB", (find_shipped_model() or Path()).stat().st_size / 1e6, "model")
    pairs = [("analyze, ms more than with --no-model", "whole", (args.command, "--no-model"))]
    pairs += [("analyze, ms more than the other", "start", (args.against,))]
    for name, limit, other in pairs:
        if args.command and all(other):
            compared(name, limit, ((args.command,), other), logs[0], args.runs)


def compared(
    name: str, limit: str, sides: tuple[Sequence[str], Sequence[str]], log: Path, runs: int
) -> None:
    """Tell by how much one command takes longer than another, in the median of pairs."""
    took = [[start(side, log) for side in sides] for _ in range(runs + 1)][1:]
    more = statistics.median(mine - its for mine, its in took)
    mine, its = (statistics.median(row[number] for row in took) for number in (0, 1))
    print_result(name, more, limit, f"; {its:.0f} → {mine:.0f}")


if __name__ == "__main__":
    main()
