"""Which process of a job is named where another tells of its failure."""

import json
from pathlib import Path

import pytest

import postmortem
from postmortem.facts.clock import time_of
from postmortem.reading.file_names import processes_of
from postmortem.reading.prefixes import clean


@pytest.mark.parametrize(
    ("name", "node"),
    [
        pytest.param("gpu-b11.dmesg.txt", "gpu-b11", id="the host first"),
        pytest.param("dmesg-hpc07.log", "hpc07", id="the host last"),
        pytest.param("nvidia-smi-rack4-n2.txt", "rack4-n2", id="a dump of the card"),
        pytest.param("dmesg.txt", None, id="no host"),
        pytest.param("dmesg-all.txt", None, id="a word"),
        pytest.param("train-b11.log", None, id="no log of a machine"),
    ],
)
def test_a_machine_is_told_by_the_name_of_its_log(name: str, node: str | None) -> None:
    """What is left beside the kind of log is the machine's name."""
    assert processes_of([f"job/{name}", "job/run.out"])[f"job/{name}"].node == node


def test_the_process_that_explains_itself_is_the_one(tmp_path: Path) -> None:
    """Where no clock tells, a known cause goes before exceptions that nothing explains."""
    for number in range(4):
        message = (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
            if number == 2
            else "RuntimeError: stream synchronisation failed, code 507"
        )
        (tmp_path / f"worker_{number}.log").write_text(
            'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'
            f"    main()\n{message}\n",
            encoding="utf-8",
        )
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    assert report["sources"][first["source"]]["path"].endswith("worker_2.log")


@pytest.mark.parametrize(
    ("line", "time"),
    [
        pytest.param("[04/11 10:02:20 d2.utils.events]: iter: 19", "--04-11T10:02:20", id="d2"),
        pytest.param("01-16 04:12:39 step:201 - x", "--01-16T04:12:39", id="no year"),
        pytest.param("22-12-06 08:52:51.550 - INFO: x", "2022-12-06T08:52:51.550", id="two digits"),
        pytest.param("13-40 04:12:39 x", None, id="no date"),
        pytest.param("step 3 of 04/11 10:02:20", None, id="not in front"),
    ],
)
def test_short_stamps_are_clocks(line: str, time: str | None) -> None:
    """A stamp without a year, or with two digits of it."""
    assert time_of(line) == time


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("train loss : **-0.07**", "train loss : -0.07", id="a figure"),
        pytest.param("**loss: 0.7** acc 3", "loss: 0.7 acc 3", id="a pair"),
        pytest.param("**loss**: 0.7", "loss: 0.7", id="a name"),
        pytest.param("f(**kwargs, **other)", "f(**kwargs, **other)", id="code"),
        pytest.param("***** Running training *****", "***** Running training *****", id="stars"),
    ],
)
def test_bold_type_is_taken_off_figures(line: str, text: str) -> None:
    """Whoever pastes a log makes figures bold."""
    assert clean(line).text == text
