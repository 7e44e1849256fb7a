"""A log in memory, or behind a stream, is judged as the file is, and nothing is written."""

import gzip
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import samples
import xxhash

import postmortem
from postmortem import pipeline
from postmortem.core.errors import InputError
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.reading.excerpt import read_lines_again
from postmortem.reading.sources import Stream

GIVEN: dict[str, Callable[[str, bytes], Any]] = {
    "bytes": Stream,
    "stream": lambda name, content: Stream(name, io.BytesIO(content)),
    "packed": lambda name, content: Stream(name, gzip.compress(content)),
}
OOM = (
    "Traceback (most recent call last):\n"
    '  File "/home/carol/train.py", line 90, in <module>\n'
    "    loss.backward()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 23.69 GiB of which 1.20 GiB is free.\n"
)
STATE = {
    "log_history": [
        {"loss": 2.5 / step, "learning_rate": 1e-5, "epoch": step / 10, "step": step}
        for step in range(1, 9)
    ],
    "global_step": 8,
}
CELL = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": OOM.splitlines(True)}]}
LOGS = {
    "plain": OOM.encode(),
    "Windows line ends": OOM.replace("\n", "\r\n").encode(),
    "carriage returns": OOM.replace("\n", "\r").encode(),
    "UTF-16": OOM.encode("utf-16"),
    "UTF-16 without a mark": OOM.encode("utf-16-be"),
    "GBK": ("训练开始，加载模型参数\n" * 20 + OOM).encode("gbk"),
    "a state of the Trainer": json.dumps(STATE, indent=1).encode(),
    "a table": b"epoch,step,train_loss\n0,1,2.5\n0,2,2.25\n1,3,nan\n",
    "a notebook": json.dumps({"cells": [CELL], "nbformat": 4}, indent=1).encode(),
    "nothing": b"",
}


def report_of(*sources: Any, **given: Any) -> dict[str, Any]:
    """The report, but for the fixes, which name a file."""
    found = postmortem.analyze(sources, **given).to_dict()
    for cause in found["causes"]:
        del cause["fixes"]
    for source in found["sources"]:
        del source["compression"]
    return found


@pytest.mark.parametrize("content", LOGS.values(), ids=LOGS.keys())
@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN.keys())
def test_a_log_is_the_same_however_it_comes(
    tmp_path: Path, content: bytes, give: Callable[[str, bytes], Any]
) -> None:
    """Kind, encoding, line breaks and archives are told by the bytes."""
    path = tmp_path / "run.log"
    path.write_bytes(content)
    assert report_of(give(str(path), content)) == report_of(path)


@pytest.mark.parametrize("label", samples.labels_in(samples.ROOT / "sample_logs")[::25], ids=str)
def test_samples_are_judged_in_memory_as_on_disk(label: Path) -> None:
    """The files of a job included: what their names tell of the process counts for streams."""
    log = samples.input_of(label)
    paths = sorted(path for path in log.rglob("*") if path.is_file()) if log.is_dir() else [log]
    streams = [Stream(str(path), path.read_bytes()) for path in paths]
    assert report_of(*streams) == report_of(*paths)


def test_bytes_alone_are_a_log() -> None:
    """They need no name, and quote themselves."""
    report = postmortem.analyze(OOM.encode())
    assert report.verdict.cause == postmortem.analyze([OOM.encode()]).verdict.cause
    assert report.diagnosis.sources[0].path == "log"
    assert report.diagnosis.excerpt is not None
    assert OOM.splitlines()[-1] in report.diagnosis.excerpt.lines


def test_an_environment_dump_may_be_bytes_too() -> None:
    """It is read as a file of it is."""
    report = postmortem.analyze(
        OOM.encode(), env=[b"CUDA used to build PyTorch: 12.1\nGPU 0: Tesla V100\n"]
    )
    assert [(one.path, one.kind) for one in report.diagnosis.sources] == [
        ("log", "log"),
        ("log", "environment"),
    ]


@pytest.mark.parametrize("is_file", [True, False], ids=["a file", "bytes"])
def test_every_source_has_its_digest(tmp_path: Path, *, is_file: bool) -> None:
    """The same bytes have the same one, whatever they are called; what is not read has none."""
    path = tmp_path / "run.log"
    path.write_bytes(OOM.encode())
    job = pipeline.run_pipeline(
        [path if is_file else OOM.encode(), Stream("other.log", OOM.encode())]
    )
    first, second = job.sources
    assert first.digest == second.digest
    assert first.digest == f"xxh3-128:{xxhash.xxh3_128_hexdigest(OOM.encode())}"
    assert (first.is_file, second.is_file) == (is_file, False)


def test_no_file_is_opened_by_the_name_of_a_stream(tmp_path: Path) -> None:
    """Neither for the lines around the failure nor for those that the page quotes."""
    path = tmp_path / "run.log"
    path.write_text("".join(f"of another run {number}\n" for number in range(9)), encoding="utf-8")
    report = postmortem.analyze(Stream(str(path), io.BytesIO(b"step 1\n" * 50 + OOM.encode())))
    assert "CUDA out of memory" in report.render("html")
    assert "of another run" not in report.render("html")


def test_only_bytes_can_be_read_again() -> None:
    """A stream has been read."""
    assert read_lines_again(Stream("run.log", b"a\nb\nc\n"), [(2, 2)])[2].text == "b"
    assert read_lines_again(Stream("run.log", io.BytesIO(b"a\nb\nc\n")), [(2, 2)]) == {}


def test_one_of_several_streams_that_is_no_log_is_listed() -> None:
    """As a file is; alone it is an error."""
    binary = Stream("weights", bytes(range(256)) * 300)
    job = pipeline.run_pipeline([Stream("run.log", OOM.encode()), binary])
    assert [source.kind for source in job.sources] == ["log", "ignored"]
    assert "binary" in str(job.sources[1].note)
    with pytest.raises(InputError, match="binary"):
        pipeline.run_pipeline(binary)


def test_sharing_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its excerpts are judged where they are."""
    path = tmp_path / "run.log"
    path.write_text("step 1\n" * 500 + OOM, encoding="utf-8")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a temporary file")

    for name in ("TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "mkdtemp", "mkstemp"):
        monkeypatch.setattr(tempfile, name, refuse)
    made = build_minimal_excerpt([path])
    assert made.is_same
    assert made.lines < made.of
