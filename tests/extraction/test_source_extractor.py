"""One pass over a log: block borders change nothing, and parts can be merged.

Nothing but the log grows with the log.
"""

import dataclasses
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from postmortem import pipeline
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import NOWHERE, Finding, ProcessId
from postmortem.extraction import job, points, template_reader
from postmortem.extraction.extract import FIRST, LAST, Extract, KeptFindings, Sighting
from postmortem.extraction.facts import series as series_module
from postmortem.extraction.facts.series import Series
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import iter_blocks
from postmortem.reading.windows import Allowance
from postmortem.report.display import translate_analysis

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 77.90 GiB memory in use. "
    "Of the allocated memory 75.00 GiB is allocated by PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated."
)
WRAPPED_OOM = [
    "OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total",
    "capacity of 14.58 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this",
    "process has 13.55 GiB memory in use. Of the allocated memory 12.31 GiB is allocated by",
    "PyTorch, and 1.11 GiB is reserved by PyTorch but unallocated.",
]
EXCEPTIONS = (
    "RuntimeError: CUDA error: device-side assert triggered",
    "ValueError: bad",
    "KeyboardInterrupt",
    OOM,
    "KeyError: 'labels'",
)
BEHIND = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "",
)
FAILURES = (
    "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled cuda error",
    "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ",
    "ModuleNotFoundError: No module named 'flash_attn'",
    "[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800123 milliseconds before timing out.",
)
Piece = Callable[[random.Random, str, int], list[str]]


def analyze(paths: Any, **given: Any) -> Diagnosis:
    """A job in English."""
    return translate_analysis(pipeline.run_pipeline(paths, **given), "en")


def loss(choice: random.Random) -> str:
    """A printed loss, now and then a bad one."""
    return choice.choice(["nan", "0.0", "inf", *[f"{choice.random() * 3:.4f}" for _ in range(6)]])


def trainer(choice: random.Random, label: str, step: int) -> list[str]:
    """A record of the Trainer."""
    return [
        f"{label}{{'loss': {loss(choice)}, 'grad_norm': {choice.choice(['nan', repr(choice.random() * 9)])}, 'learning_rate': {choice.random() * 1e-5!r}, 'epoch': {step / 5000:.2f}}}"
    ]


def other_records(choice: random.Random, label: str, step: int) -> list[str]:
    """Records of other frameworks and of a plain script."""
    return [
        choice.choice(
            [
                f"{label}[2024-05-01 12:00:{step % 60:02d},123] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[{choice.random() * 1e-5:.6g}], mom=[(0.9, 0.999)]",
                f"08/02 10:00:00 - mmengine - INFO - Epoch(train)  [{step % 9 + 1}][{step % 270:3d}/270]  lr: 2.0000e-05  eta: 1:02:03  time: 0.5123  memory: {step}  grad_norm: {loss(choice)}  loss: {loss(choice)}",
                f"{label}epoch {step % 10} step {step} train loss {loss(choice)} lr 1e-4",
                f"[deepspeed] OVERFLOW! Rank {step % 4} Skipping step. Attempted loss scale: {65536 >> step % 4}, reducing to {32768 >> step % 4}",
            ]
        )
    ]


def raised(choice: random.Random, label: str, step: int) -> list[str]:
    """A traceback."""
    frames = [
        text
        for _ in range(choice.randrange(1, 12))
        for text in (
            f'  File "/home/u/{choice.choice("abc")}.py", line {choice.randrange(99)}, in f{step % 9}',
            "    x = model(y)",
        )
    ]
    return [
        label + text
        for text in [
            "Traceback (most recent call last):",
            *frames,
            choice.choice(EXCEPTIONS),
            *BEHIND[: choice.randrange(4)],
        ]
    ]


def bars(choice: random.Random, label: str, step: int) -> list[str]:
    """Progress bars, with a record or an error glued to the last frame."""
    frames = "".join(
        f"\r{now:3d}%|{'█' * (now // 10)}| {now}/100 [00:{now:02d}<01:00, loss={choice.random():.3f}]"
        for now in range(0, 100, choice.randrange(5, 30))
    )
    return [
        label
        + frames
        + choice.choice(
            [
                "",
                "RuntimeError: CUDA out of memory.",
                f"\r{{'loss': {loss(choice)}, 'learning_rate': 1e-05, 'epoch': 0.1}}",
                f"{{'loss': {loss(choice)}, 'learning_rate': 1e-05, 'epoch': 0.1}}",
            ]
        )
    ]


def chinese(choice: random.Random, label: str, step: int) -> list[str]:
    """Chinese text in colour."""
    return [
        f"{label}\x1b[31m训练失败：显存不足，第 {step} 步\x1b[0m loss 异常",
        "错误信息 RuntimeError: 训练中断",
    ]


def facts(choice: random.Random, label: str, step: int) -> list[str]:
    """Versions, GPUs and settings."""
    return [
        f"torch==2.{choice.randrange(9)}.0",
        f"transformers==4.4{choice.randrange(9)}.0",
        "GPU 0: NVIDIA A100-SXM4-80GB",
        f"Saving model checkpoint to out/checkpoint-{step}",
        "***** Running training *****",
    ]


def others(choice: random.Random, label: str, step: int) -> list[str]:
    """Failures on one line or on several, and noise."""
    return choice.choice(
        [
            WRAPPED_OOM,
            [label + choice.choice(FAILURES)],
            [f"loading shard {step} of the data " + "word " * choice.randrange(40)],
            [label + OOM],
        ]
    )


PIECES: list[Piece] = [
    trainer,
    trainer,
    other_records,
    other_records,
    raised,
    bars,
    chinese,
    facts,
    others,
    others,
    others,
    others,
]


def log(seed: int, size: int = 310_000, long_line: str = "") -> bytes:
    """A log of all of these in any order, with a long line in its middle."""
    choice, parts, length = random.Random(seed), [], 0
    while length < size:
        if long_line and length > size // 3:
            parts, long_line = [*parts, long_line + "\n"], ""
        label = choice.choice(
            [
                "",
                "",
                "",
                f"[rank{choice.randrange(4)}]: ",
                f"[default{choice.randrange(2)}]:",
                "2024-05-01T12:00:00.123456Z ",
                "\x1b[36m(Worker pid=12)\x1b[0m ",
            ]
        )
        end = choice.choice(["\n"] * 6 + ["\r\n"])
        lines = choice.choice(PIECES)(choice, label, choice.randrange(10_000))
        parts += [line + end for line in lines]
        length += sum(map(len, lines))
    return "".join(parts).encode()


def shown(diagnosis: Diagnosis) -> dict[str, str]:
    """Every field as text, so that NaN equals NaN."""
    return {
        field.name: repr(getattr(diagnosis, field.name)) for field in dataclasses.fields(diagnosis)
    }


def assert_equal(one: Diagnosis, other: Diagnosis) -> None:
    """Field by field, so that a difference is readable."""
    first, second = shown(one), shown(other)
    for name, text in first.items():
        place = next(
            (index for index, (a, b) in enumerate(zip(text, second[name], strict=False)) if a != b),
            min(len(text), len(second[name])),
        )
        assert text == second[name], (
            f"{name}: …{text[max(0, place - 200) : place + 80]}… and …{second[name][max(0, place - 200) : place + 80]}…"
        )


LONG_LINES = {
    "filler": "x" * 200_000,
    "one bar": "".join(
        f"\r{index / 10:.0f}%|{'█' * (index // 100)}| {index}/1000 [00:01<01:00, loss={index / 7:.3f}]"
        for index in range(1000)
    )
    * 4,
    "filler, then an error": "x" * 200_000 + " RuntimeError: CUDA out of memory.",
}


@pytest.mark.parametrize("kind", LONG_LINES)
@settings(max_examples=6, deadline=None)
@example(seed=268275253, size=3283)  # two findings on one line, one of which a template counts
@given(
    seed=st.integers(0, 1 << 30),
    size=st.one_of(st.integers(1 << 10, 1 << 12), st.integers(1 << 12, 350_000)),
)
def test_block_borders_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int, size: int
) -> None:
    """The diagnosis of a log is the same whatever the size of the blocks in which it is read."""
    path = tmp_path_factory.mktemp("blocks") / "run.log"
    path.write_bytes(log(seed, long_line=LONG_LINES[kind]))
    assert path.stat().st_size > 300_000
    whole = analyze(path, block_size=1 << 24)
    every = [*whole.series, *whole.other_series]
    if len(whole.attempts) == 1:  # else the last one may hold little
        assert len(whole.signatures) > 2
        assert sum(series.points for series in every) > 100
    assert_equal(analyze(path, block_size=size), whole)


@pytest.mark.parametrize("size", [1 << 10, 5000])
def test_borders_within_a_line_change_nothing(tmp_path: Path, size: int) -> None:
    """The same where a border falls into a line without end that is full of literals."""
    path = tmp_path / "run.log"
    line = (
        "{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1} epoch 3 loss: 0.5 "
        + "y" * 2500
        + "RuntimeError: CUDA out of memory. "
        + "z" * 700
    ) * 60
    path.write_text("first line\n" * 100 + line + "\nlast line\n")
    assert_equal(analyze(path, block_size=size), analyze(path, block_size=1 << 24))


def test_carriage_returns_alone_are_lines(tmp_path: Path) -> None:
    """A file that breaks by return counts its frames and says so."""
    path = tmp_path / "run.log"
    path.write_bytes(log(3).replace(b"\r\n", b"\n").replace(b"\n", b"\r"))
    whole = analyze(path)
    assert whole.sources[0].lines == path.read_bytes().count(b"\r")
    assert "carriage returns" in whole.sources[0].note


def test_borders_within_a_frame_change_nothing(tmp_path: Path) -> None:
    """The same where carriage returns are the only breaks, so that borders fall into records."""
    path = tmp_path / "run.log"
    path.write_text(
        "".join(
            f"{{'loss': {number / 7:.4f}, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {number / 1000}}}\r"
            for number in range(3000)
        )
    )
    assert_equal(analyze(path, block_size=1000), analyze(path, block_size=1 << 24))


def test_borders_change_nothing_where_series_are_thinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The envelope of a long series does not depend on the blocks either."""
    monkeypatch.setattr(series_module, "EXACT", 300)
    monkeypatch.setattr(Series.thin, "__defaults__", (60,))
    path = tmp_path / "run.log"
    choice = random.Random(1)
    path.write_text(
        "".join(
            f"{{'loss': {choice.choice([choice.random(), choice.random(), float('nan')])}, 'learning_rate': 1e-05, 'epoch': {number / 100}}}\n"
            for number in range(5000)
        )
    )
    whole = analyze(path, block_size=1 << 24)
    assert {series.points for series in whole.series} == {5000}
    for size in (1 << 10, 7777, 70_000):
        assert_equal(analyze(path, block_size=size), whole)


@pytest.mark.parametrize("seed", range(4))
def test_learnt_templates_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The fast path for metric lines is fast, and nothing else."""
    path = tmp_path / "run.log"
    path.write_bytes(log(seed))
    learnt = analyze(path)
    monkeypatch.setattr(template_reader, "CREDIT", 0.0)
    assert_equal(learnt, analyze(path))


@pytest.mark.parametrize(
    ("healthy", "bad", "signature"),
    [
        pytest.param(
            "{'loss': 1.5, 'grad_norm': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
            "{'loss': nan, 'grad_norm': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
            "numerics.nan.loss-record",
            id="NaN",
        ),
        pytest.param(
            "{'loss': 1.5, 'grad_norm': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
            "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}",
            "numerics.nan.hidden-record",
            id="hidden NaN",
        ),
        pytest.param(
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 32768, reducing to 16384",
            "numerics.loss-scale.deepspeed-overflow",
            id="overflow",
        ),
    ],
)
def test_a_signature_on_a_metric_line_is_seen_behind_a_thousand_others(
    tmp_path: Path, healthy: str, bad: str, signature: str
) -> None:
    """A template that has learnt the line does not hide what a signature finds in it."""
    path = tmp_path / "run.log"
    path.write_text((healthy + "\n") * 1000 + (bad + "\n") * 30)
    hits = [hit for hit in analyze(path).signatures if hit.id == signature]
    assert {hit.count for hit in hits} == {
        1030 if signature == "numerics.loss-scale.deepspeed-overflow" else 30
    }
    assert hits[-1].line == 1030


# -- merging
# ------------------------------------------------------------------------------------------------


def test_a_folder_is_its_files(tmp_path: Path) -> None:
    """Two files given one by one and their folder give the same diagnosis."""
    for number in (0, 1):
        (tmp_path / f"rank{number}.log").write_bytes(log(number + 20, 60_000))
    files = analyze([tmp_path / "rank0.log", tmp_path / "rank1.log"])
    assert files.given == tuple(str(tmp_path / f"rank{number}.log") for number in (0, 1))
    assert_equal(dataclasses.replace(files, given=(str(tmp_path),)), analyze(tmp_path))


def test_a_job_holds_what_its_files_hold(tmp_path: Path) -> None:
    """Signatures, series and lines of a job are those of its files, source by source."""
    for number in (0, 1):
        (tmp_path / f"part{number}.log").write_bytes(log(number + 30, 60_000))
    job = analyze(tmp_path)
    for source in (0, 1):
        alone = analyze(tmp_path / f"part{source}.log")
        assert job.sources[source].lines == alone.sources[0].lines
        mine = sorted(
            (hit.id, repr(hit.where), hit.line, hit.count)
            for hit in job.signatures
            if hit.source == source
        )
        assert mine == sorted(
            (hit.id, repr(hit.where), hit.line, hit.count) for hit in alone.signatures
        )
        curves = sorted(
            (one.name, one.producer, repr(one.where), one.points, repr(one.samples))
            for one in job.series
            if one.source == source
        )
        assert curves == sorted(
            (one.name, one.producer, repr(one.where), one.points, repr(one.samples))
            for one in alone.series
        )


def gathered(raw: bytes, source: int = 0, size: int = 1 << 23) -> Extract:
    """What one pass finds."""
    gathering = SourceExtractor(get_matcher(()), source)
    for block in iter_blocks(io.BytesIO(raw), size):
        gathering.feed(block)
    return gathering.snapshot()


def test_findings_on_one_line_are_in_order_of_their_ids() -> None:
    """Whatever the rules were asked in, and whatever was found on earlier lines."""
    record = "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
    lone = "{'loss': 1.5, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
    for raw in (record * 3, lone + record * 3, record * 400 + lone * 400):
        found = [one.finding for one in gathered(raw.encode()).seen()]
        places = [(one.offset, one.signature) for one in found]
        assert len({offset for offset, _ in places}) < len(places)
        assert places == sorted(places)


def _box(number: int) -> str:
    return (
        "╭──── Traceback (most recent call last) ────╮\n"
        f"│ /app/module_{number}.py:{number} in function_{number} │\n"
    )


def _deeper(number: int) -> str:
    return " " * (number % 60) + "Traceback (most recent call last):\n"


def _plain(number: int) -> str:
    return (
        f'Traceback (most recent call last):\n  File "/app/m{number}.py", line 3, in f\n    g()\n'
    )


def _chained(number: int) -> str:
    return (
        f"{_plain(number)}ValueError: {number}\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
    )


def _of_a_rank(number: int) -> str:
    lines = _box(number).splitlines()
    return "".join(f"[rank{number % 8}]: {line}\n" for line in lines)


@pytest.mark.parametrize("piece", [_box, _deeper, _plain, _chained, _of_a_rank])
def test_following_tracebacks_is_linear(
    piece: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many begin and never end: no line is followed over more than some two hundred times."""
    followed: list[int] = []
    monkeypatch.setattr(Allowance, "spend", lambda _, amount: followed.append(amount))
    raw = "".join(map(piece, range(1200)))
    gathered(raw.encode())
    assert sum(followed) < 200 * raw.count("\n")


def test_merging_adds_up() -> None:
    """Counts of both parts are added; what belongs to one source stays with it."""
    one, other = gathered(log(40, 40_000)), gathered(log(41, 40_000), 1)
    before = (
        one.traceback_count,
        sum(kept.count for kept in one.findings.values()),
        dict(one.records),
        one.facts.framework_lines["transformers-trainer"],
    )
    one.merge(other)
    assert one.traceback_count == before[0] + other.traceback_count
    assert sum(kept.count for kept in one.findings.values()) == before[1] + sum(
        kept.count for kept in other.findings.values()
    )
    assert one.records == {**before[2], **other.records}
    assert (
        one.facts.framework_lines["transformers-trainer"]
        == before[3] + other.facts.framework_lines["transformers-trainer"]
    )
    assert {key[2] for key in one.series} == {0, 1}
    assert set(one.tails) == set(one.lines) == {0, 1}


def test_merging_into_nothing_is_the_part() -> None:
    """An empty job and a part is the part."""
    part, empty = gathered(log(42, 40_000)), Extract()
    empty.merge(part)
    assert repr(empty.findings) == repr(part.findings)
    assert repr(empty.tracebacks) == repr(part.tracebacks)
    assert (empty.lines, empty.tails, empty.records, empty.last_record, empty.first_record) == (
        part.lines,
        part.tails,
        part.records,
        part.last_record,
        part.first_record,
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 120), st.integers(0, 120))
def test_first_and_last_findings_survive_a_merge(count: int, cut: int) -> None:
    """The first 20 and the last 5 of two parts are those of the whole, and the count is exact."""
    found = [
        Sighting(Finding("a.b", "cause", 0, NOWHERE, line, line, line, "x"), 0, (0, ""))
        for line in range(1, count + 1)
    ]
    whole, first, second = KeptFindings(), KeptFindings(), KeptFindings()
    for seen in found:
        whole.add(seen)
        (first if seen.finding.line <= cut else second).add(seen)
    one, other = (
        Extract(findings={("a.b", 0, NOWHERE): first}),
        Extract(findings={("a.b", 0, NOWHERE): second}),
    )
    one.merge(other)
    assert (first.all(), first.count) == (whole.all(), whole.count)


def all_of(part: Extract) -> str:
    """All that a part holds, the points of its series too."""
    points = {key: (*series.kept(), series.points) for key, series in part.series.items()}
    facts = (part.facts.facts, part.facts.checkpoints, part.facts.framework_lines)
    fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return repr(fields | {"series": points, "facts": facts})


def test_snapshots_do_not_disturb() -> None:
    """A log that is still growing may be looked at at any time; the end is the same."""
    raw = log(43, 60_000)
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(raw), 3000):
        gathering.feed(block)
        gathering.snapshot()
    assert repr(gathering.snapshot().findings) == repr(gathered(raw).findings)


def test_a_snapshot_is_a_value_of_its_own() -> None:
    """What is fed later, merged into it or into what it came from, changes it no more."""
    raw = log(47, 160_000)
    first, *rest = iter_blocks(io.BytesIO(raw), 40_000)
    gathering = SourceExtractor(get_matcher(()), 0)
    gathering.feed(first)
    early = gathering.snapshot()
    before = all_of(early)
    for block in rest:
        gathering.feed(block)
    assert all_of(early) == before
    late = gathering.snapshot()
    assert all_of(late) != before
    after = all_of(late)
    early.merge(gathered(raw))
    late_again = gathering.snapshot()
    late_again.merge(early)
    assert (all_of(late), all_of(gathering.snapshot())) == (after, after)


# -- bounds
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        pytest.param(
            "ModuleNotFoundError: No module named 'flash_attn'",
            "environment.missing-module",
            id="a failure",
        ),
        pytest.param(
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "numerics.loss-scale.deepspeed-overflow",
            id="a metric line",
        ),
    ],
)
def test_a_hundred_thousand_equal_lines_keep_twenty_five(
    tmp_path: Path, line: str, signature: str
) -> None:
    """The first and last findings are kept, the count is exact."""
    path = tmp_path / "run.log"
    path.write_text((line + "\n") * 100_000)
    hits = [hit for hit in analyze(path).signatures if hit.id == signature]
    assert len(hits) == FIRST + LAST
    assert {hit.count for hit in hits} == {100_000}
    assert [hit.line for hit in hits] == [*range(1, FIRST + 1), *range(100_001 - LAST, 100_001)]


CRASH = "RuntimeError: CUDA error: device-side assert triggered"


@pytest.mark.parametrize(
    ("processes", "times", "each"),
    [
        pytest.param(1, 100, FIRST + LAST, id="one process keeps its first and last findings"),
        pytest.param(100, 30, FIRST + LAST, id="a hundred keep as many each"),
        pytest.param(1024, 3, 3, id="a thousand that say it three times keep all of it"),
    ],
)
def test_what_processes_keep_does_not_depend_on_how_many_there_are(
    processes: int, times: int, each: int
) -> None:
    """As far as a job of a thousand ranks goes, each process keeps its findings.

    Every count is exact.
    """
    result = gathered(
        "".join(
            f"[rank{rank}]: {CRASH}\n" for _ in range(times) for rank in range(processes)
        ).encode()
    )
    kept = [
        one
        for (signature, _, _), one in result.findings.items()
        if signature == "cuda.assert-triggered"
    ]
    assert [(len(one.all()), one.count) for one in kept] == [(each, times)] * processes


def test_a_crowd_keeps_the_first_and_last_of_each_process() -> None:
    """Twenty errors of each of a thousand ranks keep some thousand findings.

    What is taken into a job is the same.
    """
    result = gathered(
        "".join(f"[rank{rank}]: {CRASH}\n" for _ in range(20) for rank in range(1024)).encode()
    )
    kept = [
        one
        for (signature, _, _), one in result.findings.items()
        if signature == "cuda.assert-triggered"
    ]
    assert len(kept) == 1024
    assert sum(len(one.all()) for one in kept) <= 3072 + 2 * 1024
    assert all(
        (one.first[0].finding.line, one.all()[-1].finding.line, one.count)
        == (rank + 1, 19 * 1024 + rank + 1, 20)
        for rank, one in enumerate(kept)
    )
    job = Extract()
    job.merge(result)
    assert repr(job.findings) == repr(result.findings)


def test_processes_that_are_too_many_are_counted_together(tmp_path: Path) -> None:
    """Beyond a thousand and some, processes share a count, which the report tells."""
    path = tmp_path / "run.log"
    path.write_text("".join(f"[rank{rank}]: {CRASH}\n" for rank in range(3000)))
    diagnosis = analyze(path)
    hits = [hit for hit in diagnosis.signatures if hit.id == "cuda.assert-triggered"]
    assert [hit.line for hit in hits[:1025]] == [*range(1, 1026)]
    assert hits[-1].line == 3000
    assert len(hits) < 1024 + FIRST + LAST + 1
    assert (hits[0].count, hits[-1].count) == (1, 3000 - 1024)
    assert any("too many to be told apart" in one for one in diagnosis.warnings)


def test_ten_thousand_ranks_are_bounded() -> None:
    """A log that invents processes fills neither findings nor series nor templates."""
    raw = "".join(
        f"[rank{number}]: RuntimeError: CUDA error: device-side assert triggered\n[rank{number}]: epoch {number} loss: 0.5\n[rank{number}]: {{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}}\n"
        for number in range(10_000)
    )
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(raw.encode()), 1 << 16):
        gathering.feed(block)
    result = gathering.snapshot()
    assert len({where for _, _, where in result.findings}) <= 4097
    assert len(result.series) <= 5000
    assert sum(len(kept.all()) for kept in result.findings.values()) <= 4096 * 4 + FIRST + LAST
    told = sum(
        kept.count for name, kept in result.findings.items() if name[0] == "cuda.assert-triggered"
    )
    assert 1024 < told <= 10_000
    whole = 5000 // 2  # processes of which both series are kept
    assert 2 * whole < sum(result.records.values()) <= 20_000
    assert result.crowded_out > 0
    assert gathering._metrics.quick.paths.count() <= 6


def test_names_of_metrics_are_bounded_and_told(tmp_path: Path) -> None:
    """Of 5,500 names the first are kept, and the report says once how many values were left out."""
    path = tmp_path / "run.log"
    path.write_text(
        "".join(
            f"{{'loss': {step / 7:.4f}, 'layer.{step}/norm': 0.5, 'learning_rate': 1e-05, 'epoch': {step / 100}}}\n"
            for step in range(5_500)
        )
    )
    report = analyze(path)
    assert [warning for warning in report.warnings if "names" in warning] == [
        "503 values were left out: their metrics have more names than can be kept"
    ]
    assert next(series for series in report.series if series.name == "loss").points == 5_500


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "{{'loss': 0.1234, 'm{n}': 1.0, 'learning_rate': 1e-05, 'epoch': 0.1}}\n",
            id="another metric on every line",
        ),
        pytest.param("node{n}: step {n} loss nan\n", id="another node on every line"),
    ],
)
def test_what_is_never_the_same_again_is_read_in_part_and_told(line: str, tmp_path: Path) -> None:
    """Beyond the bounds a look is paid for with bytes of the log.

    The report says so, and a rare failure is seen all the same.
    """
    path = tmp_path / "run.log"
    path.write_text(
        "".join(line.format(n=n) for n in range(20_000))
        + "RuntimeError: CUDA error: device-side assert triggered\n"
    )
    report = analyze(path)
    assert [
        warning
        for warning in report.warnings
        if "more processes or metrics than can be kept" in warning
    ]
    assert "cuda.assert-triggered" in {hit.id for hit in report.signatures}


@pytest.mark.parametrize("files", [1, 6])
def test_points_are_bounded_over_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """The points of a job are bounded, however many files hold them.

    Counts and extremes stay exact.
    """
    monkeypatch.setattr(job, "MOST_POINTS", 20_000)
    monkeypatch.setattr(points, "MOST_POINTS", 20_000)
    for number in range(files):
        (tmp_path / f"rank{number}.log").write_text(
            "".join(
                f"{{'loss': {3 - step / 9000:.4f}, 'learning_rate': 1e-05, 'epoch': {step / 100}}}\n"
                for step in range(9000)
            )
        )
    whole = job.read(tmp_path, get_matcher(()))
    assert sum(len(series.values) for series in whole.series.values()) <= 20_000
    for series in whole.series.values():
        series.settle()
    assert {
        (series.points, series.min, series.max)
        for series in whole.series.values()
        if series.name == "loss"
    } == {(9000, 2.0001, 3.0)}


def test_ten_thousand_tracebacks_are_bounded() -> None:
    """Of endless tracebacks the first and the last are kept, and all are counted."""
    raw = "".join(
        f'Traceback (most recent call last):\n  File "a.py", line {number}, in f\n    x\nValueError: {number}\n\n'
        for number in range(10_000)
    )
    result = gathered(raw.encode())
    assert result.traceback_count == 10_000
    assert len(result.tracebacks) <= 10 * (FIRST + LAST)
    assert [result.tracebacks[index][0].message for index in (0, -1)] == ["0", "9999"]


def test_one_endless_line_is_bounded() -> None:
    """Ten thousand errors on one line are counted window by window, and the texts stay short."""
    result = gathered(("RuntimeError: CUDA out of memory. " * 10_000).encode(), size=1 << 16)
    assert all(len(seen.finding.text) <= 1000 for seen in result.seen())
    assert all(len(seen.context[1]) <= 30_000 for seen in result.seen())
    assert sum(len(kept.all()) for kept in result.findings.values()) <= len(result.findings) * (
        FIRST + LAST
    )


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        pytest.param(b"", 0, id="empty"),
        pytest.param(b"a", 1, id="no break"),
        pytest.param(b"a\n", 1, id="one line"),
        pytest.param(b"a\nb", 2, id="cut"),
        pytest.param(b"\n\n\n", 3, id="blank lines"),
        pytest.param(b"a\r\nb\r\n", 2, id="Windows line ends"),
        pytest.param(b"1\r2\r3\n", 1, id="frames"),
    ],
)
def test_lines_are_counted_as_sed_counts(raw: bytes, lines: int) -> None:
    """Breaks, and the rest behind the last of them."""
    for size in (1, 2, 1 << 20):
        assert gathered(raw, size=size).lines.get(0, 0) == lines


@pytest.mark.parametrize("size", [1 << 10, 1 << 23])
def test_raw_line_numbers(size: int) -> None:
    """A finding, a traceback and a point name the raw line that an editor shows."""
    raw = "".join(f"line {number}\n" for number in range(1, 30_000)) + (
        "\r1%|x\r2%|x\n[rank1]: RuntimeError: CUDA error: device-side assert triggered\r\n\n\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n'
        "{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
    )
    lines, result = raw.split("\n"), gathered(raw.encode(), size=size)
    assert {
        "device-side assert" in lines[seen.finding.line - 1]
        for seen in result.seen()
        if "device-side" in seen.finding.text
    } == {True}
    assert [
        (lines[one.line - 1], lines[one.exception_line - 1]) for one, _ in result.tracebacks
    ] == [("Traceback (most recent call last):", "ValueError: x")]
    assert {
        lines[point.line - 1][:7] for series in result.series.values() for point in series.kept()
    } == {"{'loss'"}


def test_the_name_of_a_file_tells_the_process() -> None:
    """Lines that name no process are of the one that the file's name tells."""
    gathering = SourceExtractor(get_matcher(()), 0, ProcessId(rank=3))
    for block in iter_blocks(
        io.BytesIO(
            b"ModuleNotFoundError: No module named 'x'\n[rank5]: ModuleNotFoundError: No module named 'x'\n{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
        )
    ):
        gathering.feed(block)
    result = gathering.snapshot()
    assert {where.rank for _, _, where in result.findings} == {3, 5}
    assert {where.rank for _, _, _, where in result.series} == {3}
