"""What another tool says of logs, each asked in its own way.

    <Python that has the tool> benchmarks/rival_adapters.py TOOL < cases.jsonl

In: a line of JSON a case: `text` (the log; of a job all its files, one after the other), `files`,
`folder` or `state` (a trainer_state.json) where there are such, `table` and `records` (the metrics
that the log prints, as CSV and as JSON lines; absent if it prints none), `original` (the log, if
its own name says that it is such a file), `failed`. Out: a line of JSON a case: the list of what
the tool says, or a text, why it could not. Before an answer stands
`info:` if the tool itself calls it information, `lead:` if it calls it a lead and no verdict,
`quote:` if it is a line of the log that the tool shows. Not here: what that means (`rivals.yaml`).
The tool's Python runs this file, so that it needs nothing but Python itself.
"""

import contextlib
import importlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Case: TypeAlias = dict[str, Any]
_BATCH = 600
_DENPEX_SURE = 75
"""Below it the command of denpex prints no confidence and says that this is no verdict."""
_LONGEST = 60
_NO_TABLE = "no table of metrics"


def printed(main: Callable[[list[str]], object], arguments: list[str]) -> str:
    """What a command prints when it is called within this process."""
    out = io.StringIO()
    sys.argv = ["command", *arguments]
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue()


def gpualert(case: Case) -> list[str]:
    """At the end of a failed job it looks at the last fifty lines of each stream."""
    if not case["failed"]:
        return []
    tail = importlib.import_module("gpualert.log_manager").get_tail
    ends = "\n".join(tail(name, 50) for name in case["files"])
    parse = importlib.import_module("gpualert.parse_errors").parse_errors
    return [parse("", ends, 1).splitlines()[0]]


def runmedic(case: Case) -> list[str]:
    """Its checks, and after each the causes that it calls likely.

    It reads text; metrics as a table it gets where it finds no training loss in the text.
    """
    main = importlib.import_module("runmedic.cli").main
    answers: list[str] = []
    is_read = False
    own = case.get("state") or case.get("original") or case["text"]
    for path in filter(None, (case.get("folder"), own, case.get("history"))):
        runs = json.loads(printed(main, ["diagnose", "--json", path]) or "[]")
        for run in runs:
            for finding in run["findings"]:
                mark = "info:" if finding["severity"] == "info" else ""
                answers += [
                    f"{mark}{text}" for text in (finding["check"], *finding["likely_causes"])
                ]
                answers += [f"quote:{text}" for text in finding["evidence"]]
        is_read = is_read or bool(runs)
        if answers or any("train_loss" in run["roles"] for run in runs):
            break
    if not is_read:
        raise ValueError("no training metrics or logs found")
    return answers


def trainproof(case: Case) -> list[str]:
    """Its rules on curves; it reads no text, so it gets the metrics that the log prints."""
    path = case.get("state") or case.get("records")
    if not path:
        raise ValueError(_NO_TABLE)
    main = importlib.import_module("trainproof.cli").main
    form = "hf" if case.get("state") else "jsonl"
    out = printed(lambda _: main(), ["epoch", path, "--format", form, "--json"])
    return [
        ("" if finding["level"] in {"FAIL", "WARN"} else "info:") + finding["id"]
        for report in json.loads(out)["reports"]
        for finding in report["findings"]
    ]


def training_doctor(case: Case) -> list[str]:
    """Its problems with curves; it reads tables, so it gets the metrics that the log prints."""
    if not case.get("table"):
        raise ValueError(_NO_TABLE)
    doctor = importlib.import_module("training_doctor").Doctor()
    doctor.set_auto_print(False)
    found = doctor.load(case["table"]).analyze()
    return [
        ("info:" if finding.severity.value == "info" else "") + finding.problem for finding in found
    ]


def trainspotter(case: Case) -> list[str]:
    """Its findings on curves: a file of metrics as it is, of any other log the table."""
    main = importlib.import_module("trainspotter.cli").main
    report = ask_of_tables(case, lambda path: printed(main, ["analyze", path, "--output", "json"]))
    return [
        ("info:" if finding["severity"] == "info" else "")
        + " ".join(finding[name] for name in ("detector", "title", "metric"))
        for finding in report["findings"]
    ]


def losslint(case: Case) -> list[str]:
    """Its lints of curves: a file of metrics as it is, of any other log the table."""
    main = importlib.import_module("losslint.cli").main
    report = ask_of_tables(case, lambda path: printed(main, ["check", path, "--format", "json"]))
    return [
        ("info:" if finding["severity"] == "info" else "")
        + f"{finding['check']} {finding['details'].get('series', '')}".strip()
        for finding in report["findings"]
    ]


def ask_of_tables(case: Case, ask: Callable[[str], str]) -> dict[str, Any]:
    """Give the report, in JSON, on the first of a case's files that a tool of tables takes.

    Raises:
        ValueError: it takes none.
    """
    for path in filter(None, (case.get("original"), case.get("table"))):
        if out := ask(path):
            report: dict[str, Any] = json.loads(out)
            return report
    raise ValueError("the table is refused" if case.get("table") else _NO_TABLE)


def nvrx(case: Case) -> list[str]:
    """The class of the first failure, judged by its rules alone, without a language model."""
    main = importlib.import_module("nvidia_resiliency_ext.attribution.restart_agent.cli").main
    found = json.loads(printed(main, ["--disable-l1", case["text"]]))
    failure = found["primary_failure"]
    quotes = [f"quote:{item['quote']}" for item in found["evidence"]]
    return [f"{failure['failure_class']} {failure['signature']}", *quotes] if failure else []


def denpex(cases: Sequence[Case]) -> Iterator[list[str]]:
    """The failure that its engine names on this machine, many logs at once; nothing is sent."""
    os.environ["DENPEX_LOCAL"] = "1"
    if hasattr(os, "sched_setaffinity"):  # it starts four processes at once
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ask = importlib.import_module("denpex_local").local_diagnose_batch
    for start in range(0, len(cases), _BATCH):
        batch = cases[start : start + _BATCH]
        texts = [Path(case["text"]).read_text(encoding="utf-8", errors="replace") for case in batch]
        for found in ask(texts):
            mark = "lead:" if found.get("confidence", 0) < _DENPEX_SURE else ""
            quotes = [f"quote:{line}" for line in found.get("evidence") or ()]
            yield [f"{mark}{found['failureType']} | {found.get('summary', '')}", *quotes]


def one_by_one(
    ask: Callable[[Case], list[str]],
) -> Callable[[Sequence[Case]], Iterator[list[str] | str]]:
    """Ask a tool for each case; whatever happens within it is told, no answer in time too."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer within {_LONGEST} s of CPU time")

    def answers(cases: Sequence[Case]) -> Iterator[list[str] | str]:
        signal.signal(signal.SIGPROF, stop)
        for case in cases:
            signal.setitimer(signal.ITIMER_PROF, _LONGEST)
            try:
                yield ask(case)
            except Exception as fault:  # noqa: BLE001 - another's tool may raise anything
                yield f"{type(fault).__name__}: {fault}"

    return answers


TOOLS: dict[str, Callable[[Sequence[Case]], Iterator[list[str] | str]]] = {
    "gpualert": one_by_one(gpualert),
    "runmedic": one_by_one(runmedic),
    "trainproof": one_by_one(trainproof),
    "training-doctor": one_by_one(training_doctor),
    "trainspotter": one_by_one(trainspotter),
    "losslint": one_by_one(losslint),
    "nvrx": one_by_one(nvrx),
    "denpex": denpex,
}


def main() -> None:
    """Ask for all cases on standard input."""
    for answer in TOOLS[sys.argv[1]]([json.loads(line) for line in sys.stdin]):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
