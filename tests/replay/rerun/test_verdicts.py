"""Small trainings that fail each for one reason, recorded by hand: replay proves the right one.

And no other: a poisoned sample also stays finite in float32, a broken weight also at a lower rate.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from postmortem.core.diagnosis import Replayed
from postmortem.core.message import Message
from postmortem.replay.capsule.manifest import LossRecipe

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

from postmortem.replay.rerun.requested_replay import replay_capsule  # noqa: E402
from tests.recorded_windows import Training, built, record, tree  # noqa: E402

WIDE = ("Linear", {"in_features": 8, "out_features": 32})
NARROW = ("Linear", {"in_features": 32, "out_features": 4})
SMOOTH = tree(WIDE, ("Tanh", {}), NARROW)
SHARP = tree(WIDE, ("ReLU", {}), NARROW)
WORDS = tree(("Embedding", {"num_embeddings": 50, "embedding_dim": 8}), ("Flatten", {}), NARROW)
MEAN = LossRecipe("torch", function="mse_loss", inputs=["input"], target="target")
CLASSES = LossRecipe("torch", function="cross_entropy", inputs=["input"], target="target")


def squares(model: Any, batch: Any) -> Any:
    """The loss of `MEAN`."""
    return torch.nn.functional.mse_loss(model(batch["input"]), batch["target"])


def entropy(model: Any, batch: Any) -> Any:
    """The loss of `CLASSES`."""
    return torch.nn.functional.cross_entropy(model(batch["input"]), batch["target"])


def numbers(count: int, size: int = 16) -> list[dict[str, Any]]:
    """Batches of numbers with numbers as targets."""
    made = torch.Generator().manual_seed(1)
    return [
        {
            "input": torch.randn(size, 8, generator=made),
            "target": torch.randn(size, 4, generator=made),
        }
        for _ in range(count)
    ]


def labelled(count: int, size: int = 16) -> list[dict[str, Any]]:
    """Batches of numbers with classes as targets."""
    made = torch.Generator().manual_seed(2)
    return [
        one | {"target": torch.randint(0, 4, (size,), generator=made)}
        for one in numbers(count, size)
    ]


def healthy() -> Training:
    """Nothing is wrong."""
    return Training(SMOOTH, built(SMOOTH), labelled(5), CLASSES, entropy)


def poisoned() -> Training:
    """NaN in one sample among 64."""
    batches = labelled(4, 64)
    batches[3]["input"][17] = math.nan
    return Training(SMOOTH, built(SMOOTH), batches, CLASSES, entropy)


def outlier() -> Training:
    """A sample far beyond the others."""
    batches = numbers(4, 64)
    batches[2]["input"][5] *= 1e25
    return Training(SHARP, built(SHARP), batches, MEAN, squares)


def rate() -> Training:
    """A rate with which the loss grows from step to step."""
    return Training(SHARP, built(SHARP), numbers(1, 32) * 60, MEAN, squares, rate=3.0)


def broken_weight() -> Training:
    """A weight that is NaN from the start."""
    model = built(SMOOTH)
    model[2].weight.data[1, 3] = math.nan
    return Training(SMOOTH, model, labelled(2), CLASSES, entropy)


def flipped_bit() -> Training:
    """A weight with a bit of its exponent flipped."""
    model = built(SHARP)
    model[0].weight.data[1, 3] = 1e38
    return Training(SHARP, model, numbers(2), MEAN, squares)


def half(**options: Any) -> Training:
    """Activations beyond what float16 holds."""
    model = built(SHARP)
    model[2].weight.data *= 300
    batches = numbers(3)
    for batch in batches:
        batch["input"] *= 300
    given = {"autocast": "float16", "rate": 1e-12} | options
    return Training(SHARP, model, batches, MEAN, squares, **given)


def masked() -> Training:
    """A batch without any label."""
    batches = labelled(3)
    batches[2]["target"][:] = -100
    return Training(SMOOTH, built(SMOOTH), batches, CLASSES, entropy)


def untrained() -> Training:
    """A new token whose row holds what lay in the memory."""
    made = torch.Generator().manual_seed(3)
    batches = [
        {
            "input": torch.randint(0, 48, (8, 4), generator=made),
            "target": torch.randint(0, 4, (8,), generator=made),
        }
        for _ in range(3)
    ]
    for sample in range(6):
        batches[2]["input"][sample, 0] = 48 + sample % 2
    model = built(WORDS)
    with torch.no_grad():
        model[0].weight[48:] = math.inf
    return Training(WORDS, model, batches, CLASSES, entropy)


CASES: dict[str, tuple[Callable[[], Training], str, str]] = {
    "healthy": (healthy, "", ""),
    "a poisoned sample": (poisoned, "numerics.bad-batch", ""),
    "an outlier": (outlier, "numerics.bad-batch", ""),
    "a rate too high": (rate, "numerics.lr-divergence", ""),
    "a broken weight": (broken_weight, "numerics.corrupt-weights", "2"),
    "a flipped bit": (flipped_bit, "numerics.corrupt-weights", ""),
    "float16": (half, "numerics.fp16-overflow", ""),
    "float16 with a scaler": (lambda: half(scale=1024.0), "numerics.fp16-overflow", ""),
    "labels masked": (masked, "numerics.labels-all-masked", ""),
    "untrained embeddings": (untrained, "numerics.untrained-embeddings", "0"),
}
_KEPT: dict[str, Replayed[Message]] = {}


def seen(case: str, folder: Path) -> Replayed[Message]:
    """The replay of a case, run once."""
    if case not in _KEPT:
        torch.manual_seed(0)
        _KEPT[case] = replay_capsule(
            record(folder / "a.capsule", CASES[case][0]()), device="cpu", seconds=60
        )
    return _KEPT[case]


@pytest.mark.parametrize("case", CASES)
def test_the_right_cause_is_confirmed_and_no_other(case: str, tmp_path: Path) -> None:
    """One cause at most, and it is named in the table."""
    _, cause, module = CASES[case]
    found = seen(case, tmp_path)
    assert [one.cause for one in found.confirmed] == ([cause] if cause else [])
    assert str(found.fidelity).startswith(("bit-equal", "no finite loss"))
    if module:
        assert found.module == module


@pytest.mark.parametrize("case", CASES)
def test_the_true_cause_is_never_refuted(case: str, tmp_path: Path) -> None:
    """A refutation is a statement too."""
    found = seen(case, tmp_path)
    refuted = {one.cause for one in found.tested if one.verdict == "refuted"}
    assert CASES[case][1] not in refuted


def test_the_culprit_is_named_without_its_contents(tmp_path: Path) -> None:
    """Its place, its index in the data set, shapes and ranges."""
    (one,) = seen("a poisoned sample", tmp_path).culprits
    assert (one.step, one.position, one.index) == (4, 17, 417)
    assert [str(text) for text in one.preview] == [
        "input: float32[8]; 8 NaN, 0 inf",
        f"target: int64[] {one.preview[1].text('en').split()[-1]} …"
        f" {one.preview[1].text('en').split()[-1]}",
    ]


def test_nothing_is_said_of_a_healthy_stretch(tmp_path: Path) -> None:
    """Every cause is left open: a stretch proves nothing about the rest of the run."""
    found = seen("healthy", tmp_path)
    assert found.reproduced == "nothing-failed"
    assert {one.verdict for one in found.tested} == {"not-testable"}


def test_what_does_not_come_again_is_not_reproduced(tmp_path: Path) -> None:
    """Recorded as NaN, finite when it is run again: no cause is confirmed or refuted."""
    torch.manual_seed(0)
    folder = record(tmp_path / "a.capsule", healthy(), reason="nonfinite-loss")
    found = replay_capsule(folder, device="cpu")
    assert found.reproduced == "no"
    assert {one.verdict for one in found.tested} == {"not-reproduced"}


def test_what_does_not_fit_into_the_time_is_skipped_and_proves_nothing(tmp_path: Path) -> None:
    """With no time at all there are no trials, and no cause is confirmed."""
    torch.manual_seed(0)
    found = replay_capsule(record(tmp_path / "a.capsule", rate()), device="cpu", seconds=0.001)
    assert found.reproduced == "not-run"
    assert {one.verdict for one in found.tested} == {"not-testable"}
    assert all(one.outcome == "skipped" for one in found.trials if one.id == "rate-tenth")


def test_half_precision_on_a_cpu_is_told(tmp_path: Path) -> None:
    """The page says where it was computed."""
    said = [str(one) for one in seen("float16", tmp_path).notes]
    assert any("computed on a CPU" in one for one in said)
    assert seen("float16", tmp_path).limit == 65504.0


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_says_the_same(case: str, tmp_path: Path) -> None:
    """The same capsules on CUDA: the same causes."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    torch.manual_seed(0)
    found = replay_capsule(record(tmp_path / "a.capsule", CASES[case][0]()), device="cuda")
    assert {one.cause for one in found.confirmed} <= {CASES[case][1]}
