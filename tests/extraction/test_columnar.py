"""Lines that are read by their shape give what they give when each is read the slow way.

The slow way is the same program that may learn no shape; the other learns each as early as it can
and cuts the smallest regions.
"""

import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction import finding_lines, rule_sieve, table_rows
from postmortem.extraction.columnar import (
    cut_regions,
    line_shapes,
    row_columns,
    row_cutter,
    shaped_lines,
    units,
)
from postmortem.extraction.extract import Extract
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher
from postmortem.reading import sources
from postmortem.reading.windows import View

Line = Callable[[random.Random, int], str]


def figure(choice: random.Random) -> str:
    """A figure in one of the spellings that programs print."""
    return choice.choice(
        [
            *[f"{choice.random() * 3:.4f}" for _ in range(12)],
            "nan",
            "inf",
            "1,234",
            "0",
            "1e-05",
            "3.2E+01",
            "tensor(0.5, device='cuda:0')",
        ]
    )


def plain(choice: random.Random) -> str:
    """A figure with a point."""
    return f"{choice.random() * 3:.4f}"


KINDS: dict[str, Line] = {
    "glued": lambda c, n: (
        f"[rank{c.randrange(6)}]: RuntimeError: CUDA error: device-side assert triggered in step"
        f" {n}Epoch: {n // 50}, Step: {n}, Rank: {c.randrange(6)}, loss = {plain(c)}"
    ),
    "error-of-text": lambda c, n: (
        f"Epoch: {n // 50}, Step: {n}, Rank: {c.randrange(6)}, loss = {plain(c)}"
        " RuntimeError: CUDA error: device-side assert triggered"
    ),
    "trainer": lambda c, n: (
        f"{{'loss': {figure(c)}, 'grad_norm': {plain(c)}, 'learning_rate': {c.random():.3g},"
        f" 'epoch': {n / 50:.2f}}}"
    ),
    "trainer-eval": lambda c, n: f"{{'eval_loss': {plain(c)}, 'epoch': {n / 50:.2f}}}",
    "quoted": lambda c, n: (
        f"{{'loss': '{plain(c)}', 'grad_norm': '{plain(c)}', 'epoch': '{n / 50:.2f}',"
        f" 'global_step/max_steps': '{n}/500'}}"
    ),
    "generic": lambda c, n: f"step {n} loss {figure(c)} lr {c.random():.3e}",
    "learnt": lambda c, n: f"[rank{c.randrange(3)}]: round {n} purity: {plain(c)} depth: {n}",
    "learnt-alone": lambda c, _: f"purity: {figure(c)}",
    "learnt-unit": lambda c, n: f"Epoch {n}\ntrain loss: {plain(c)}\nval acc: {plain(c)}",
    "generic-eval": lambda c, n: f"step {n} val loss {plain(c)}",
    "epochs": lambda c, n: f"epoch {n // 40} step {n % 40} loss {plain(c)}",
    "ranks": lambda c, n: f"[rank{n % 12}]: step {n // 12} loss {plain(c)}",
    "ranks-by-chance": lambda c, n: (
        f"[rank{c.randint(0, 11)}]: step {n // 12} loss {c.choice(['0.6931', plain(c)])}"
    ),
    "by-chance": lambda c, n: f"step {n} loss {c.choice(['0.6931', plain(c)])}",
    "stamped": lambda c, n: (
        f"2024-05-01 12:{n // 60 % 60:02d}:{n % 60:02d},123 - mmengine - INFO - Iter(train)"
        f" [{n:5d}/9000]  lr: 2.0e-05  eta: {n % 24}:00:02  time: {plain(c)}  memory: {n + 900}"
        f"  loss: {figure(c)}"
    ),
    "megatron": lambda c, n: (
        f" iteration {n:8d}/ 500000 | consumed samples: {n * 256:12d} | elapsed time per iteration"
        f" (ms): {plain(c)} | learning rate: 1.5E-04 | lm loss: {figure(c)} | grad norm: {plain(c)} |"
    ),
    "scale": lambda _, n: (
        f"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {2 ** (n % 20)},"
        f" reducing to {2 ** (n % 20) // 2}"
    ),
    "bad": lambda _, n: f"step {n} loss nan lr 2e-5",
    "classes": lambda c, n: (
        f"epoch {n}: loss {plain(c)}, classes predicted: {c.randint(1, 5)} of 5"
    ),
    "doubled": lambda c, n: f"step {n} loss {plain(c)} loss {plain(c)} step {n}",
    "talk": lambda c, n: f"INFO:data:shard {n:06d}: {c.randint(1, 9)} samples from the cache",
    "saving": lambda _, n: f"Saving model checkpoint to out/checkpoint-{n}",
    "failing": lambda *_: "RuntimeError: CUDA error: device-side assert triggered",
    "bar": lambda c, n: (
        f"\rEpoch {n // 50}: {n % 50 * 2:3d}%|{'#' * (n % 50 // 5):<10}| {n % 50}/50"
        f" [00:{n % 60:02d}<00:50,  {plain(c)}it/s, loss={plain(c)}]"
    ),
    "other-bar": lambda c, n: (
        f"\rTrain: {n % 90}%|{'#' * (n % 9):<9}| {n}/900 [00:{n % 60:02d}<00:50, {plain(c)}s/it,"
        f" loss={plain(c)}]"
    ),
    "lightning": lambda c, n: (
        f"\rEpoch {n // 50}: {n % 50 * 2:3d}%|{'█' * (n % 50 // 5):<10}| {n % 50}/50"
        f" [00:{n % 60:02d}<00:50,  {plain(c)}it/s, v_num=3, train_loss={plain(c)}]"
    ),
    "bar-ahead": lambda c, n: (
        f"\rEpoch {n // 50}: {n % 50 * 2}%|{'#' * (n % 50 // 5):<10}| {n % 51}/50"
        f" [00:{n % 60:02d}<00:50, loss={plain(c)}]"
    ),
    "bar-without-epoch": lambda c, n: (
        f"\r{n // 9:3d}%|{'=' * (n // 90):<10}| {n}/900 [00:{n % 60:02d}<09:00,"
        f" {plain(c)}it/s, loss={figure(c)}, lr={c.random():.2e}]"
    ),
    "hours": lambda c, n: (
        f"\r{n // 9:3d}%|{'#' * (n // 90):<10}| {n}/900 [{n // 9}:00:00<99:10:00, {plain(c)}it/s]"
    ),
    "out-of-memory": lambda c, n: (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"
        f" {c.randint(1, 9)}.00 GiB. GPU {n % 8} has a total capacity of 79.15 GiB of which"
        " 1.20 GiB is free."
    ),
    "older-out-of-memory": lambda c, n: (
        f"RuntimeError: CUDA out of memory. Tried to allocate {c.randint(1, 900)}.00 MiB (GPU"
        f" {n % 8}; 15.78 GiB total capacity; {c.randint(1, 14)}.25 GiB already allocated;"
        f" {c.randint(1, 900)}.75 MiB free; 14.02 GiB reserved in total by PyTorch)"
    ),
    "out-of-memory-of-ranks": lambda c, n: (
        f"[rank{c.randint(0, 3)}]: {KINDS['out-of-memory'](c, n)}"
    ),
    "bare-out-of-memory": lambda *_: "RuntimeError: CUDA out of memory.",
    "tqdm": lambda _, n: f"\r {n // 9}%|{'#' * (n // 90):<10}| {n}/900 [00:{n % 60:02d}<09:00]",
    "tqdm-of-blocks": lambda c, n: (
        f"\rTrain: {n % 901 // 9:3d}%|{'█' * (n % 901 // 90)}{' ▏▎▍▌▋▊▉'[n % 8]:<3}| {n % 901}/900"
        f" [{n // 60:02d}:{n % 60:02d}<1:{n % 60:02d}:00,  {plain(c)}s/it]"
    ),
    "eval-of-blocks": lambda c, n: (
        f"\rEvaluating: {n % 101}%|{'█' * (n % 101 // 10):<10}| {n % 101}/100 [00:{n % 60:02d}<00:50,"
        f" {plain(c)}it/s]"
    ),
    "download": lambda c, n: (
        f"Downloading model.safetensors: {n % 101:3d}%|{'█' * (n % 101 // 10):<10}|"
        f" {n % 101 / 10:.2f}G/9.98G [00:{n % 60:02d}<00:34, {c.randint(1, 300)}MB/s]\x1b[A"
    ),
    "bar-of-zero": lambda c, n: (
        f"\r  0%|          | {c.choice([0, 0, n])}/90000 [00:00<{c.choice(['?, ?', f'01:00, {plain(c)}'])}"
        "it/s]"
    ),
    "coloured": lambda c, n: (
        f"[\x1b[37m13/09/24 09:{n // 60 % 60:02d}:{n % 60:02d}\x1b[0m] \x1b[34mINFO\x1b[0m   Epoch {n}:"
        f" loss {figure(c)}  kl \x1b[1m{plain(c)}\x1b[0m"
    ),
    "coloured-number": lambda c, n: (
        f"step {n // 10}\x1b[1m{n % 10}\x1b[0m loss {c.randint(1, 9)}.\x1b[32m{c.randint(10, 99)}\x1b[0m"
    ),
    "coloured-rank": lambda c, n: (
        f"\x1b[36m(Worker pid={4000 + n % 3})\x1b[0m {{'loss': {plain(c)}, 'learning_rate': 4.5e-05,"
        f" 'epoch': {n / 50:.2f}}}\x1b[0m"
    ),
    "megatron-scale": lambda c, n: (
        f" iteration {n:8d}/ 500000 | consumed samples: {n * 256:12d} | elapsed time per iteration"
        f" (ms): {plain(c)} | learning rate: 1.5E-04 | lm loss: {figure(c)}"
        f" | loss scale: {c.choice(['1.0', '1.0', '1.0', '2.0', '65536.0'])} | grad norm: {plain(c)} |"
    ),
    "table": lambda c, n: f"| {n} | {plain(c)} | {plain(c)} |",
    "only-a-loss": lambda c, _: f"loss: {figure(c)}",
    "step-above": lambda c, n: f"iter {n}\nloss = {plain(c)}",
    "whole-reward": lambda c, n: f"Episode {n}\tReward: {c.randint(-99, 99)}",
    "four-lines": lambda c, n: (
        f"Epoch {n}\ntrain loss: {plain(c)}\nval loss: {figure(c)}\nval acc: {plain(c)}"
    ),
    "stamped-lines": lambda c, n: (
        f"2024-05-01 12:{n // 60 % 60:02d}:{n % 60:02d} INFO iteration: {n}\n"
        f"2024-05-01 12:{n // 60 % 60:02d}:{n % 60:02d} INFO train loss: {plain(c)}\n"
        f"2024-05-01 12:{n // 60 % 60:02d}:{n % 60:02d} INFO reward: {c.randint(-9, 9)}"
    ),
    "box": lambda c, n: (
        f"{'-' * 30}\n| rollout/   |          |\n|    ep_rew_mean | {c.random() * 200:<9.3g}|\n"
        f"|    total_timesteps | {n * 2048:<8d}|\n|    loss | {plain(c)}   |\n{'-' * 30}"
    ),
    "nested": lambda c, n: (
        f"  info:\n    learner:\n      policy_loss: {plain(c)}\n      total_loss: {figure(c)}\n"
        f"  timesteps_total: {n}\n"
    ),
    "heading": lambda *_: "step | loss | val_loss",
    "prose": lambda c, n: " ".join(
        c.choices(
            ["the loss", "an error", f"{n % 7}", "reward", "failed", "nan", "CUDA out of memory"],
            k=6,
        )
    ),
    "caught": lambda _, n: (
        f'Traceback (most recent call last):\n  File "a.py", line {n}, in main\n    work()\n'
        f"ValueError: part {n}"
    ),
    "cut": lambda c, _: f"{{'loss': {plain(c)}, 'grad_nor"[: c.randint(3, 30)],
}


def logs(kinds: list[str], seed: int, end: str, count: int) -> bytes:
    """A log of these kinds of lines, most often several of one in a row."""
    choice, lines, number = random.Random(seed), [], 0
    while number < count:
        kind = KINDS[choice.choice(kinds)]
        for _ in range(choice.choice([1, 2, 3, 20, 60])):
            number += 1
            for _ in range(choice.choice([1, 1, 1, 2])):
                lines += [kind(choice, number)]
    return end.join(lines).encode() + choice.choice([b"", end.encode()])


UNORDERED = {"findings", "_limits"}
"""Fields whose keys are in no order: whoever takes findings sorts them by their places."""


def plainly(value: Any) -> Any:
    """A value as lists and texts, which are equal when all that it holds is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(one.name, plainly(getattr(value, one.name))) for one in dataclasses.fields(value)]
        return [
            (name, sorted(part, key=lambda item: item[0]) if name in UNORDERED else part)
            for name, part in parts
        ]
    if isinstance(value, dict):
        return [(repr(key), plainly(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [plainly(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    if (slots or hasattr(value, "__dict__")) and not isinstance(value, (str, float)):
        names = sorted({*slots, *getattr(value, "__dict__", {})})
        return [(name, plainly(getattr(value, name, None))) for name in names]
    return repr(list(value)) if type(value).__name__ in {"array", "deque"} else repr(value)


@pytest.fixture(autouse=True, scope="module")
def _eager() -> Iterator[None]:
    """Learn every shape at once, and cut whatever there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_regions, "LONG", 0)
        patch.setattr(cut_regions, "OFTEN", 2)
        patch.setattr(cut_regions, "SPARSE", 1 << 30)
        patch.setattr(cut_regions, "SPARSE_ALL", 1 << 30)
        patch.setattr(row_cutter, "FEWEST_ROWS", 2)
        patch.setattr(cut_regions, "LONG_UNITS", 0)
        patch.setattr(units, "FIRST_TRY", 2)
        patch.setattr(units, "NEXT_TRY", 2)
        patch.setattr(rule_sieve, "FEWEST", 1)
        patch.setattr(rule_sieve, "LEAST", 0)
        patch.setattr(line_shapes, "FIRST_TRY", 2)
        patch.setattr(line_shapes, "NEXT_TRY", 2)
        yield


def gathered(log: bytes, *, by_shape: bool, part: int) -> Extract:
    """Read a log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_shapes, "CREDIT", 1e9 if by_shape else -1e9)
        patch.setattr(units, "CREDIT", 1e9 if by_shape else -1e9)
        patch.setattr(rule_sieve, "OFTEN", 2 if by_shape else 10**9)
        patch.setattr(table_rows, "FIRST_TRY", 2 if by_shape else 10**9)
        patch.setattr(table_rows, "FEWEST", 2)
        patch.setattr(sources, "PART", part)
        patch.setattr(sources, "LEAST_PART", part)
        return read([log], get_matcher(()))


def assert_same(log: bytes, part: int = 3000) -> None:
    """Read it both ways."""
    slow, quick = (gathered(log, by_shape=by_shape, part=part) for by_shape in (False, True))
    assert plainly(quick) == plainly(slow)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True),
    st.integers(0, 2**32),
    st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]),
    st.sampled_from([700, 3000, 20_000]),
)
def test_shapes_change_nothing(kinds: list[str], seed: int, end: str, part: int) -> None:
    """Any kinds of lines, mixed anyhow, with any ends of lines, in regions of any size."""
    assert_same(logs(kinds, seed, end, 250), part)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_alone(kind: str) -> None:
    """Many lines of one kind."""
    assert_same(logs([kind], 7, "\n", 600))


BARS = ["bar", "bar-ahead", "bar-without-epoch", "other-bar", "lightning"]


@pytest.mark.parametrize("kinds", [*([bar] for bar in BARS), ["bar", "lightning"], BARS])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_bars_of_many_positions(kinds: list[str], end: str) -> None:
    """Draws that come again, positions and epochs that fall back, and others between them."""
    choice, lines = random.Random(7), []
    for number in range(1, 900):
        for kind in choice.sample(kinds, choice.choice([1, len(kinds)])):
            lines += [KINDS[kind](choice, number)] * choice.choice([1, 1, 2, 3])
        if choice.random() < 0.02:
            lines.append("\r" + " " * 40 + "\n" + KINDS[choice.choice(["talk", "bad"])](choice, 1))
    assert_same(end.join(lines).encode(), 20_000)


def test_draws_of_a_bar_become_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly a draw is read in its turn."""
    alone = 0
    read_serial = shaped_lines.ShapedLines.read_serial

    def counted(self: Any, *given_: Any) -> None:
        nonlocal alone
        alone += 1
        read_serial(self, *given_)

    monkeypatch.setattr(shaped_lines.ShapedLines, "read_serial", counted)
    choice = random.Random(7)
    for kind in ["bar", "bar-ahead", "other-bar", "lightning"]:
        draws = "".join(KINDS[kind](choice, number) for number in range(1, 2000))
        alone = 0
        gathered(draws.encode(), by_shape=True, part=20_000)
        assert 0 < alone < 200, kind


BEHIND: dict[str, Line] = {
    "noise": lambda _, n: f"alpha bravo {n}",
    "figures": KINDS["generic"],
    "goes-on": lambda *_: (
        " Process 4242 has 78.1 GiB memory in use. Of the allocated memory 60.00 GiB"
        " is allocated by PyTorch, and 9.00 GiB is reserved by PyTorch but unallocated."
    ),
    "older": KINDS["older-out-of-memory"],
    "bare": KINDS["bare-out-of-memory"],
    "other-blanks": lambda *_: "RuntimeError: CUDA  out of  memory",
    "torn": lambda *_: "RuntimeError: CUDA out of\nmemory",
    "coloured": lambda *_: "\x1b[31mRuntimeError: CUDA out of mem\x1b[0mory",
    "bold": lambda *_: "RuntimeError: CUDA out of mem**ory** 3",
    "of-a-rank": lambda c, _: f"[rank{c.randint(0, 3)}]: RuntimeError: CUDA out of\tmemory",
    "of-a-rank-noise": lambda c, n: f"[rank{c.randint(0, 3)}]: alpha bravo {n}",
    "redrawn": lambda *_: "alpha\rRuntimeError: CUDA out of\x0bmemory\rbravo",
    "long": lambda *_: "alpha " * 180,
    "of-memory": lambda *_: "the memory of the host is large",
}
"""What may stand behind an out-of-memory message, and be part of what it says."""


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([kind for kind in sorted(KINDS) if "out-of-memory" in kind]),
    st.lists(st.sampled_from(sorted(BEHIND)), min_size=1, max_size=3, unique=True),
    st.integers(0, 2**32),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
    st.sampled_from([(2, 1000), (12, 1000), (12, 22)]),
)
def test_what_stands_behind_a_line(
    kind: str, behind: list[str], seed: int, end: str, bounds: tuple[int, int]
) -> None:
    """Where no rule of several lines may hold behind a line it is not asked, and else it is.

    `bounds`: lines from which a shape is learnt, and findings on long lines that are shown long.
    """
    choice, lines = random.Random(seed), []
    for number in range(200):
        lines.append(KINDS[kind](choice, number))
        one = BEHIND[choice.choice(behind)]
        lines += [one(choice, number) for _ in range(choice.choice([0, 1, 1, 3, 9]))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_shapes, "FIRST_TRY", bounds[0])
        patch.setattr(finding_lines, "_MOST_LONG", bounds[1])
        assert_same(end.join(lines).encode(), 3000)


@pytest.mark.parametrize("kind", ["out-of-memory", "older-out-of-memory", "out-of-memory-of-ranks"])
def test_a_finding_of_several_lines_costs_a_count(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the second half of a log hardly one of three looks at a line is left."""
    looks = 0
    take = finding_lines.FindingLines.take

    def counted(self: Any, index: int, view: View, base: int) -> None:
        nonlocal looks
        looks += view.number > 6000
        take(self, index, view, base)

    choice, lines = random.Random(7), []
    for number in range(3000):
        lines += [f"alpha bravo {choice.randint(0, 99)}"] * 3
        lines.append(KINDS[kind](choice, number))
    monkeypatch.setattr(line_shapes, "FIRST_TRY", 12)
    monkeypatch.setattr(finding_lines.FindingLines, "take", counted)
    found = gathered("\n".join(lines).encode(), by_shape=True, part=100_000)
    counts = [kept.count for key, kept in found.findings.items() if "cuda-oom.torch" in key[0]]
    assert sum(counts) == 3000
    assert looks < 1500


def test_rows_are_counted_where_a_signature_is_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss on which a rule hangs does not part the rows of a thousand processes.

    How many records stand before each is known all the same.
    """
    put = 0
    put_plain = row_columns.RowColumns.put_plain

    def counted(self: Any, due: Any) -> None:
        nonlocal put
        put += bool(due)
        put_plain(self, due)

    monkeypatch.setattr(row_columns.RowColumns, "put_plain", counted)
    choice, lines = random.Random(7), []
    for number in range(6000):
        line = f"[rank{number % 100}]: step {number // 100} loss"
        lines.append(f"{line} {'0.6931' if number % 397 == 0 else plain(choice)}")
        if number % 7 == 0:
            lines.append(f"step {number} loss {plain(choice)}")
    log = "\n".join(lines).encode()
    gathered(log, by_shape=True, part=60_000)
    assert put < 10
    assert_same(log, 60_000)


@pytest.mark.parametrize("kind", ["trainer", "generic", "stamped", "megatron", "bar", "lightning"])
def test_lines_of_a_kind_are_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the others prove is no empty promise: these lines do become columns."""
    rows = 0
    cut = row_cutter.RowCutter.cut

    def counted(self: Any, *given_: Any) -> Any:
        nonlocal rows
        found = cut(self, *given_)
        rows += sum(len(one.borders) for one in found)
        return found

    monkeypatch.setattr(row_cutter.RowCutter, "cut", counted)
    choice = random.Random(7)
    lines = "\n".join(KINDS[kind](choice, number) for number in range(1, 2000))
    gathered(lines.encode(), by_shape=True, part=20_000)
    assert rows > 1000


@pytest.mark.parametrize("kind", ["tqdm-of-blocks", "lightning"])
def test_a_bar_of_blocks_is_one_shape(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How full it is is left open, so that a whole run of it is learnt at once, even from 0 on."""
    learnt = 0
    keep = line_shapes.LineShapes._keep

    def counted(self: Any, *given_: Any) -> None:
        nonlocal learnt
        learnt += 1
        keep(self, *given_)

    monkeypatch.setattr(line_shapes.LineShapes, "_keep", counted)
    choice = random.Random(7)
    draws = "".join(KINDS[kind](choice, number) for number in range(900))
    gathered(draws.encode(), by_shape=True, part=20_000)
    assert 0 < learnt < 9


def test_a_figure_that_stays_is_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A literal that holds a figure, on every line, does not let its rules look at every line."""
    asked = 0
    is_vain = line_shapes.LineShapes.is_vain

    def counted(self: Any, *given_: Any) -> bool:
        nonlocal asked
        asked += 1
        return is_vain(self, *given_)

    monkeypatch.setattr(line_shapes.LineShapes, "is_vain", counted)
    lines = [
        f" iteration {n:8d}/ 500000 | consumed samples: {n * 256:12d} | elapsed time per iteration"
        f" (ms): 9{n % 97}.1 | learning rate: 1.5E-04 | lm loss: {3 - n / 9000:.6E}"
        f" | loss scale: 1.0 | grad norm: 0.{n % 89:03d} |"
        for n in range(2000)
    ]
    gathered("\n".join(lines).encode(), by_shape=True, part=20_000)
    assert asked < 100


def test_few_lines_of_known_shapes_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cutting costs as much as reading a line now and then."""
    monkeypatch.setattr(cut_regions, "SPARSE_ALL", 2 << 10)
    choice = random.Random(7)
    lines = []
    for number in range(300):
        lines += [
            KINDS["generic"](choice, number),
            *["alpha bravo charlie delta foxtrot golf"] * 90,
        ]
    cuts = 0
    cut = row_cutter.RowCutter.cut

    def counted(self: Any, *given_: Any) -> Any:
        nonlocal cuts
        cuts += 1
        return cut(self, *given_)

    monkeypatch.setattr(row_cutter.RowCutter, "cut", counted)
    log = "\n".join(lines).encode()
    gathered(log, by_shape=True, part=100_000)
    assert cuts == 0
    assert_same(log, 100_000)


def test_a_number_that_changes_its_spelling_late() -> None:
    """Ten thousand records are spelled alike, the next ones are not."""
    lines = [f"step {number} loss {3 - number / 9000:.4f} lr 2e-5" for number in range(1, 10_001)]
    lines += [f"step {number} loss {number / 7:.3e} lr 0.1" for number in range(10_001, 10_300)]
    lines += [f"step {number} loss nan lr 0.1" for number in range(10_300, 10_400)]
    assert_same("\n".join(lines).encode(), 1 << 20)


def test_a_figure_on_which_a_rule_hangs() -> None:
    """Of lines that look alike a rule takes those alone with a 1 in them."""
    lines = [
        f"Epoch {n:02d}: loss 1.{n:04d}, val_acc 0.22, classes predicted: {1 + (n % 90 == 0) * 0 if n > 300 else 5} of 5"
        for n in range(600)
    ]
    assert_same("\n".join(lines).encode())


def test_findings_that_are_only_counted() -> None:
    """Of a signature on thousands of lines the first and the last are kept, and all are counted."""
    lines = [f"step {number} loss nan lr 2e-5" for number in range(1, 3000)]
    found = gathered("\n".join(lines).encode(), by_shape=True, part=20_000)
    (kept,) = (kept for key, kept in found.findings.items() if key[0] == "numerics.nan.loss-record")
    assert kept.count == len(lines)
    assert [seen.finding.line for seen in kept.last] == list(range(2995, 3000))
    assert_same("\n".join(lines).encode(), 20_000)
