"""One bad file spoils nothing.

Whatever stands in a log, in a table or in a state, the job is judged and every form of the report
is made.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import postmortem
from postmortem.core.errors import InputError, PatternError
from postmortem.core.names import LANGUAGES
from postmortem.extraction import run_files
from postmortem.report import FORMS

DIGITS: Final = "9" * 5000
"""More than Python reads as an integer."""
TRACE: Final = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\n    step()\nRuntimeError: CUDA error: out of memory\n'
STATE: Final = '{"epoch": 1.0, "global_step": 9, "log_history": [{"loss": 2.0, "step": 1}, %s, {"loss": 1.0, "step": 2}]}'


@pytest.fixture(autouse=True)
def _no_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is to fail here, and not to become a note."""
    monkeypatch.setenv("POSTMORTEM_DEBUG", "1")


def forms(path: Path) -> Iterator[str]:
    """The report in every form and language."""
    report = postmortem.analyze(path)
    for language in LANGUAGES:
        translated = report.in_language(language)
        for form in FORMS:
            yield translated.render(form)
        yield translated.render("terminal", full=True)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"[rank{DIGITS}]: {TRACE}", id="rank of torch"),
        pytest.param(f"[default{DIGITS}]:RuntimeError: CUDA error\n", id="local rank"),
        pytest.param(f"[1,{DIGITS}]<stderr>: {TRACE}", id="rank of mpirun"),
        pytest.param(
            f"[XTuner][RANK {DIGITS}][2025-01-01 10:00:00][INFO] RuntimeError: CUDA error\n",
            id="rank of XTuner",
        ),
        pytest.param(
            f"[2025-01-01 10:00:00] [INFO] [a.py:1:f] [PID:{DIGITS}] [RANK:{DIGITS}] RuntimeError: CUDA error\n",
            id="process of axolotl",
        ),
        pytest.param(f"(Worker pid={DIGITS}) {TRACE}", id="process of Ray"),
        pytest.param(
            f"W0301 12:00:00.123000 {DIGITS} torch/x.py:12] RuntimeError: CUDA error\n",
            id="thread of torch's logger",
        ),
        pytest.param(
            f"Jan  1 10:00:00 host kernel: [ {DIGITS}.123456] Out of memory: Killed process {DIGITS} (python) total-vm:{DIGITS}kB\n",
            id="seconds since boot",
        ),
        pytest.param(TRACE.replace("line 3", f"line {DIGITS}"), id="line of a frame"),
        pytest.param(
            "".join(
                f"node1:{rank}:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks {'9' * 17} cudaDev 0 busId 1a000 commId 0x1 - Init START\n"
                for rank in (0, 1)
            ),
            id="ranks that no range counts to",
        ),
        pytest.param(
            f"Root Cause (first observed failure):\n[0]:\n  time      : 2025-01-01_10:00:00\n  host      : a\n  rank      : {DIGITS[:400]} (local_rank: {DIGITS[:400]})\n  exitcode  : 1 (pid: 1)\n  error_file: <N/A>\n",
            id="rank of the root cause",
        ),
        pytest.param(
            "".join(f"Epoch {DIGITS[:400]} [{step}/100] loss: 0.{step}\n" for step in range(30)),
            id="epoch that is infinite as a float",
        ),
        pytest.param(
            f"Saving model checkpoint to out/checkpoint-{DIGITS}\n"
            + "".join(f"step: {step} loss: 1.0\n" for step in range(30)),
            id="step of a checkpoint",
        ),
        pytest.param(
            f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {DIGITS[:400]} GiB. GPU 0 has a total capacity of {DIGITS[:400]} GiB of which 1 MiB is free.\n",
            id="gigabytes",
        ),
        pytest.param(
            STATE % ('{"loss": 1.5, "step": 1, "x": ' + "[" * 9000 + "]" * 9000 + "}"),
            id="state: lists without end",
        ),
        pytest.param(STATE % ('{"loss": ' + "[" * 100_000), id="state: lists without end, cut off"),
        pytest.param(
            STATE % f'{{"loss": {DIGITS[:400]}, "step": {DIGITS[:400]}}}',
            id="state: integers that no float holds",
        ),
        pytest.param(STATE % '{"lo\\ud800ss": 1.5, "step": 1}', id="state: half a character"),
        pytest.param(
            json.dumps(
                {
                    "message": {
                        "message": "RuntimeError: \ud800",
                        "extraInfo": {"py_callstack": TRACE + "\ud800\n"},
                    }
                }
            ),
            id="error file: half a character",
        ),
        pytest.param(
            '{"message": {"message": "x", "extraInfo": ' + "[" * 100_000,
            id="error file: lists without end",
        ),
        pytest.param(
            "step,loss\n1,0.5\n2,\r0.4\r\n" + "3," + "1" * 300_000 + "\n",
            id="table: stray returns, a huge cell",
        ),
        pytest.param(
            f"step,loss\n1,0.5\n{DIGITS},{DIGITS}\n3,1\n", id="table: numbers that no float holds"
        ),
        pytest.param(
            '{"cells": [{"cell_type": "code", "outputs": [' + "[" * 100_000,
            id="notebook: lists without end",
        ),
    ],
)
def test_absurd_numbers_and_depths(tmp_path: Path, text: str) -> None:
    """No exception, and text that can be written to a file."""
    path = tmp_path / "run.log"
    path.write_text(text, encoding="utf-8")
    assert all(one.encode() for one in forms(path))


ODD: Final[dict[str, tuple[list[object], list[object]]]] = {
    "NaN twenty times at one step": ([1] + [5] * 20, [1] + ["nan"] * 20),
    "nothing but NaN": (list(range(40)), ["nan"] * 40),
    "infinities in turn": (list(range(40)), ["inf", "-inf"] * 20),
    "infinite steps": ([1, 2, "inf", 4, "-inf"] * 6, list(range(30))),
    "steps that are not numbers": ([1, 2, "nan", 4] * 8, list(range(32))),
    "all steps infinite": (["inf"] * 30, list(range(30))),
    "steps from one end of floats to the other": ([-1.7e308, 0, 1.7e308] * 10, list(range(30))),
    "steps of 1e300 that are one": ([1e300] * 30, ["nan"] * 30),
    "steps that floats cannot tell apart": (
        [1, 2, *(10**17 + step for step in range(30))],
        list(range(32)),
    ),
    "the largest steps that count": (
        [10**15 - 40 + step for step in range(40)],
        ["nan", *range(39)],
    ),
    "negative steps": (list(range(-40, 0)), list(range(-40, 0))),
    "values from one end of floats to the other": (list(range(40)), [1.7e308, -1.7e308] * 20),
    "values of every size": (list(range(40)), [1.7e308, 5e-324] * 20),
    "values that hardly differ": (list(range(40)), [1 + 2e-16 * step for step in range(40)]),
    "one point": ([1], [1]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_series_are_drawn(tmp_path: Path, name: str) -> None:
    """With coordinates that are numbers, and figures that JSON knows."""
    path = tmp_path / "metrics.csv"
    path.write_text(
        "step,loss\n1,1.0\n"
        + "".join(f"{step},{value}\n" for step, value in zip(*ODD[name], strict=True))
    )
    report = postmortem.analyze(path)
    page = report.render("html")
    assert not re.search(
        r'="nan"|="-?inf"|[MHV ,](?:nan|-?inf)[ ,HV"]',
        "".join(re.findall(r"<(?:path|line|circle|polyline) [^>]*>", page)),
    )
    json.loads(report.render("json"), parse_constant=pytest.fail)
    assert report.render("terminal", full=True)


def broken(*_: object, **__: object) -> None:
    """What a fault of this program does."""
    raise ZeroDivisionError("division\nby zero")


def test_a_file_on_which_the_program_fails_is_listed_and_the_job_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason stands beside the file and among the warnings, in both languages.

    The other file is judged.
    """
    monkeypatch.delenv("POSTMORTEM_DEBUG")
    monkeypatch.setattr(run_files.csv_metrics, "iter_records", broken)
    (tmp_path / "metrics.csv").write_text("step,loss\n1,0.5\n")
    (tmp_path / "run.log").write_text(TRACE)
    report = postmortem.analyze(tmp_path)
    assert report.verdict.cause == "memory.cuda-oom"
    assert [(source.kind, source.note) for source in report.diagnosis.sources] == [
        ("ignored", "reading it failed with ZeroDivisionError: division by zero"),
        ("log", ""),
    ]
    assert report.diagnosis.warnings == (
        f"{tmp_path / 'metrics.csv'}: reading it failed with ZeroDivisionError: division by zero",
    )
    assert (
        report.in_language("zh").diagnosis.sources[0].note
        == "读取时出错：ZeroDivisionError: division by zero"
    )


def test_of_an_environment_dump_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log that it came with is judged."""
    monkeypatch.delenv("POSTMORTEM_DEBUG")
    monkeypatch.setattr(run_files.csv_metrics, "iter_records", broken)
    (tmp_path / "env.txt").write_text("step,loss\n1,0.5\n")
    (tmp_path / "run.log").write_text(TRACE)
    report = postmortem.analyze(tmp_path / "run.log", env=[tmp_path / "env.txt"])
    assert [source.kind for source in report.diagnosis.sources] == ["log", "ignored"]


def test_the_only_file_of_a_job_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what failed and how to report it."""
    monkeypatch.delenv("POSTMORTEM_DEBUG")
    monkeypatch.setattr(run_files.csv_metrics, "iter_records", broken)
    (tmp_path / "metrics.csv").write_text("step,loss\n1,0.5\n")
    with pytest.raises(InputError, match=r"ZeroDivisionError.*POSTMORTEM_DEBUG"):
        postmortem.analyze(tmp_path / "metrics.csv")


@pytest.mark.parametrize(
    ("error", "is_debugging"),
    [
        pytest.param(ZeroDivisionError, True, id="a fault of ours, for a developer"),
        pytest.param(PatternError, False, id="a wrong rule"),
    ],
)
def test_what_no_file_is_to_blame_for_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], *, is_debugging: bool
) -> None:
    """Faults are not hidden from those who can mend them."""

    def fail(*_: object, **__: object) -> None:
        raise error("so")

    if not is_debugging:
        monkeypatch.delenv("POSTMORTEM_DEBUG")
    monkeypatch.setattr(run_files.csv_metrics, "iter_records", fail)
    (tmp_path / "metrics.csv").write_text("step,loss\n1,0.5\n")
    with pytest.raises(error):
        postmortem.analyze(tmp_path)
