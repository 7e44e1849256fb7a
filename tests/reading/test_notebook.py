"""Notebooks: what the cells printed, on the lines where it stands in the file."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import postmortem
from postmortem.reading import rewrapped_logs
from postmortem.reading.excerpt import read_lines_around

RECORDS = [
    "{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n",
    "{'loss': nan, 'learning_rate': 1e-05, 'epoch': 0.2}\n",
]
TABLE = [
    "<table>\n",
    " <tr><th>Step</th><th>Training Loss</th><th>Validation Loss</th></tr>\n",
    " <tr><td>10</td><td>No log</td><td>1.5</td></tr>\n",
    " <tr><td>20</td><td>1.25</td><td>nan</td></tr>\n",
    "</table>",
]
ERROR = [
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
    "\x1b[0;31mOutOfMemoryError\x1b[0m                          Traceback (most recent call last)",
    (
        "\x1b[0;32m<ipython-input-5-abc>\x1b[0m in \x1b[0;36m<cell line:"
        " 1>\x1b[0;34m()\x1b[0m\n\x1b[0;32m----> 1\x1b[0;31m"
        " trainer\x1b[0m\x1b[0;34m.\x1b[0mtrain()\n"
    ),
    (
        "\x1b[0;31mOutOfMemoryError\x1b[0m: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0"
        " has a total capacity of 14.75 GiB of which 1.20 GiB is free."
    ),
]


class Trickle:
    """Gives at most a few bytes at a time."""

    def __init__(self, data: bytes, most: int) -> None:
        self.stream, self.most = io.BytesIO(data), most

    def read(self, size: int, /) -> bytes:
        """Give less than was asked for."""
        return self.stream.read(min(size, self.most))


def outputs(raw: bytes, most: int = 1 << 20) -> bytes:
    """What a notebook printed, read in pieces."""
    printed = rewrapped_logs.NotebookOutput(Trickle(raw, most))
    return b"".join(iter(lambda: printed.read(1 << 16), b""))


def made(*results: dict[str, Any], source: str = "trainer.train()") -> dict[str, Any]:
    """A notebook of one cell."""
    return {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# loss: 0.5\n"]},
            {
                "cell_type": "code",
                "execution_count": 1,
                "metadata": {},
                "outputs": list(results),
                "source": [source],
            },
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def stream(*text: str) -> dict[str, Any]:
    """A stream as Jupyter saves it."""
    return {"name": "stdout", "output_type": "stream", "text": list(text)}


def pretty(content: dict[str, Any]) -> bytes:
    """As Jupyter writes a file."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def test_printed_lines_stand_where_the_file_holds_them() -> None:
    """Streams, tables and errors are given; source, pictures and prose are not."""
    raw = pretty(
        made(
            stream(*RECORDS),
            {
                "output_type": "display_data",
                "data": {
                    "text/html": TABLE,
                    "image/png": "aGVsbG8=",
                    "text/plain": ["<IPython.core.display.HTML object>"],
                },
                "metadata": {},
            },
            source="print('loss: 0.7')",
        )
    )
    lines, file = outputs(raw).decode().split("\n"), raw.decode().split("\n")
    assert len(lines) == len(file)
    assert [line for line in lines if line] == [
        *(one.strip("\n") for one in (*RECORDS, *TABLE)),
        "<IPython.core.display.HTML object>",
    ]
    assert all(
        json.dumps(line, ensure_ascii=False)[1:-1] in original
        for line, original in zip(lines, file, strict=True)
    )


def test_an_error_is_its_traceback_or_else_its_message() -> None:
    """The message is not given twice; a file without the traceback still tells what was raised."""
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no labels",
        "traceback": ["Traceback (most recent call last)", "ValueError: no labels"],
    }
    assert outputs(pretty(made(error))).decode().strip().split("\n") == [
        "Traceback (most recent call last)",
        "ValueError: no labels",
    ]
    assert (
        outputs(pretty(made(error | {"traceback": []}))).decode().strip() == "ValueError: no labels"
    )


@pytest.mark.parametrize("is_one_line", [False, True])
def test_a_notebook_is_analysed(tmp_path: Path, *, is_one_line: bool) -> None:
    """Records, the Trainer's table and the error of a cell are read, on lines of the file."""
    content = made(
        stream(*RECORDS),
        {"output_type": "display_data", "data": {"text/html": TABLE}, "metadata": {}},
        {
            "output_type": "error",
            "ename": "OutOfMemoryError",
            "evalue": "CUDA out of memory.",
            "traceback": ERROR,
        },
    )
    path = tmp_path / "train.ipynb"
    path.write_bytes(json.dumps(content).encode() if is_one_line else pretty(content))
    report = postmortem.analyze(path)
    assert report.verdict.cause == "memory.cuda-oom"
    source, failure = report.diagnosis.sources[0], report.diagnosis.first_failure
    assert (source.kind, source.lines) == ("notebook", len(path.read_text().splitlines()))
    assert failure is not None
    assert "Tried to allocate" in path.read_text().split("\n")[failure.line - 1]
    curves = {
        one.name: (one.points, one.nonfinite, one.first, one.last)
        for one in report.diagnosis.series
    }
    assert curves["loss"][:2] == (3, 1)
    assert curves["eval_loss"][:2] == (2, 1)
    around = read_lines_around(str(path), failure.line)
    assert around is not None
    assert any("Tried to allocate" in line for line in around[1])


def test_a_healthy_notebook_is_no_failure(tmp_path: Path) -> None:
    """Code and prose about errors are not output."""
    path = tmp_path / "train.ipynb"
    path.write_bytes(
        pretty(
            made(
                stream(*RECORDS[:1], "{'loss': 2.4, 'learning_rate': 1e-05, 'epoch': 0.2}\n"),
                source="raise RuntimeError('CUDA error: device-side assert triggered')",
            )
        )
    )
    report = postmortem.analyze(path)
    assert report.diagnosis.first_failure is None
    assert not report.diagnosis.signatures


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_notebook_cut_off_gives_what_is_there(cut: float) -> None:
    """Half a file is half the output."""
    raw = pretty(made(stream(*RECORDS * 20)))
    part = raw[: int(len(raw) * cut)]
    assert outputs(part).count(b"\n") == part.count(b"\n")
    assert outputs(part).count(b"'loss'") in {part.count(b"'loss'"), part.count(b"'loss'") - 1}


@pytest.mark.parametrize(
    ("head", "claimed"),
    [
        (pretty(made()), True),
        (b'{"cells": [{"cell_type": "code"}]}', True),
        (b'{"metadata": {}, "cells": []}', False),
        (b'{"loss": 0.5}\n', False),
        (b"step 1 loss 0.5\n", False),
        (b"", False),
    ],
)
def test_only_notebooks_are_claimed(head: bytes, *, claimed: bool) -> None:
    """Other JSON stays what it is."""
    assert rewrapped_logs.is_notebook(head) is claimed


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=6),
    st.sampled_from([None, 1, 2]),
    st.integers(1, 40),
)
def test_whatever_is_printed_comes_back(texts: list[str], indent: int | None, most: int) -> None:
    """Every printed string, in order, however little is read at once.

    Line breaks within one become returns.
    """
    raw = json.dumps(made(*(stream(text) for text in texts)), indent=indent).encode()
    given_back = outputs(raw).decode().replace("\n", "\r").split("\r")
    wanted = [
        part
        for text in texts
        for part in text.removesuffix("\n").replace("\r\n", "\r").replace("\n", "\r").split("\r")
        if part
    ]
    assert [part for part in given_back if part] == wanted
    assert outputs(raw).count(b"\n") == raw.count(b"\n")
    assert outputs(raw, most) == outputs(raw)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                '"text"',
                '"cells"',
                '"outputs"',
                "{",
                "}",
                "[",
                "]",
                ":",
                ",",
                '"a\\n"',
                '"',
                "\\",
                "\n",
                "1",
            ]
        ),
        max_size=60,
    ).map("".join)
)
def test_reading_never_fails(text: str) -> None:
    """Whatever the file, its lines keep their numbers."""
    assert outputs(text.encode()).count(b"\n") == text.count("\n")


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(b"[", id="lists"),
        pytest.param(b'{"text":[', id="objects"),
        pytest.param(b"]", id="closing brackets"),
    ],
)
def test_depth_costs_no_more_than_length(unit: bytes) -> None:
    """Containers within containers are counted, not remembered.

    What is printed behind them is found again.
    """
    depth = 20_000
    head = b'{"cells": [{"cell_type": "code", "outputs": ['
    close = {b"[": b"]", b'{"text":[': b"]}"}.get(unit, b"")

    def seconds(count: int) -> float:
        began = time.process_time()
        outputs(head + unit * count)
        return time.process_time() - began

    assert (
        min(seconds(4 * depth) for _ in range(3))
        < 12 * min(seconds(depth) for _ in range(3)) + 0.05
    )
    if close:
        assert (
            outputs(head + unit * depth + close * depth + b',{"text": ["loss: 0.5\\n"]}]}]}')
            == b"loss: 0.5"
        )


def test_a_string_without_end_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture costs no memory.

    A printed text beyond the limit is counted, and what follows is read.
    """
    monkeypatch.setattr(rewrapped_logs, "_LONGEST", 2000)
    monkeypatch.setattr(rewrapped_logs, "_PIECE", 300)
    long = 'x\\"' * 4000
    raw = pretty(
        made(
            {
                "output_type": "display_data",
                "data": {"image/png": long, "text/plain": ["shown\n"]},
                "metadata": {},
            },
            stream(long, "after it\n"),
        )
    )
    printed = rewrapped_logs.NotebookOutput(io.BytesIO(raw))
    found = b"".join(iter(lambda: printed.read(100), b""))
    assert [line for line in found.decode().split("\n") if line] == ["shown", "after it"]
    assert found.count(b"\n") == raw.count(b"\n")
    assert printed.passed_over == 1
