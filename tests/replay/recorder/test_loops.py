"""A plain loop is recorded, its capsule suffices to run the window again, and the loop is the same."""

import logging
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from postmortem.recorder import Recorder  # noqa: E402
from postmortem.replay.capsule.manifest import Manifest  # noqa: E402
from postmortem.replay.capsule.opening import open_capsule  # noqa: E402
from tests.replay.recorder.reruns import rerun, same  # noqa: E402

STEPS = 23


class Loop:
    """A small training, with one thing or another that goes wrong in it."""

    def __init__(self, *, passes: int = 1, half: bool = False, rate: float = 1e-2) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(8, 16),
            torch.nn.BatchNorm1d(16),
            torch.nn.Dropout(0.1),
            torch.nn.ReLU(),
            torch.nn.Linear(16, 3),
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate)
        self.criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if half else None
        self.passes = passes
        self.change: Callable[[int, Any], Any] = lambda _, inputs: inputs
        data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
        self.loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)

    def batches(self) -> Iterator[tuple[Any, Any]]:
        """Give batches without end."""
        while True:
            yield from self.loader

    def run(self, steps: int = STEPS, **options: Any) -> list[Path]:
        """Train, with a recorder if there are options."""
        recorder = Recorder(
            self.model, self.optimizer, scaler=self.scaler, loss=self.criterion, **options
        )
        with recorder if options else nullcontext():
            batches = self.batches()
            for step in range(steps):
                for _ in range(self.passes):
                    inputs, target = next(batches)
                    inputs = self.change(step, inputs.clone())
                    with torch.autocast("cpu", torch.float16, enabled=self.scaler is not None):
                        loss = self.criterion(self.model(inputs), target) / self.passes
                    (self.scaler.scale(loss) if self.scaler else loss).backward()
                self.step()
        return recorder.written

    def step(self) -> None:
        """Step, with the scaler if there is one."""
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.optimizer.zero_grad()


def poison(step: int, inputs: Any) -> Any:
    """Put a NaN into the last step."""
    if step == STEPS - 1:
        inputs[1, 2] = torch.nan
    return inputs


def manifest_of(folder: Path) -> Manifest:
    """Read what a capsule says."""
    return open_capsule(folder).manifest


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("half", [False, True], ids=["float32", "float16"])
def test_a_window_runs_again_to_the_last_bit(tmp_path: Path, passes: int, *, half: bool) -> None:
    """Weights, optimiser, scaler, batches, draws and factors are all there."""
    loop = Loop(passes=passes, half=half)
    loop.change = poison
    (capsule,) = loop.run(folder=tmp_path, every=5, loader=loop.loader)
    told = manifest_of(capsule)
    assert (told.reason.kind, told.reason.step) == ("nonfinite-loss", STEPS - 1)
    assert (told.window.first, told.window.last, told.accumulation) == (15, STEPS - 1, passes)
    assert told.partial == ()
    assert all(one.factor == 1 / passes for step in told.window.steps for one in step.micro_batches)
    _, losses, recorded = rerun(capsule)
    assert same(losses, recorded)


def test_the_loop_is_the_same_with_a_recorder(tmp_path: Path) -> None:
    """No weight and no draw differs in a bit."""
    without = Loop(half=True)
    without.run()
    state = torch.get_rng_state()
    with_one = Loop(half=True)
    assert with_one.run(folder=tmp_path, every=4) == []
    assert torch.equal(torch.get_rng_state(), state)
    for left, right in zip(with_one.model.parameters(), without.model.parameters(), strict=True):
        assert torch.equal(left, right)


def test_the_indices_are_those_of_the_samples(tmp_path: Path) -> None:
    """Each batch is that of its indices."""
    loop = Loop()
    loop.change = poison
    (capsule,) = loop.run(folder=tmp_path, every=5, loader=loop.loader)
    opened = open_capsule(capsule)
    tensors = opened.load_tensors("batches.safetensors")
    for step in opened.manifest.window.steps[:-1]:
        (one,) = step.micro_batches
        inputs = torch.stack([loop.loader.dataset[index][0] for index in one.samples])
        assert torch.equal(tensors[one.batch["items"]["input"]["key"]], inputs)


def infinite(loop: Loop) -> None:
    """One batch is inf."""
    loop.change = lambda step, inputs: inputs * (torch.inf if step == 9 else 1)


def overflow_in_gradients(loop: Loop) -> None:
    """The scale is too large at first, as scales are."""
    loop.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)


def collapse(loop: Loop) -> None:
    """Gradients overflow however small the scale is."""
    loop.scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    loop.model[4].weight.register_hook(lambda gradient: gradient * torch.inf)


def gradients_only(loop: Loop) -> None:
    """The loss is finite, one gradient is not."""
    calls = iter(range(100))
    loop.model[4].weight.register_hook(
        lambda gradient: gradient * (torch.nan if next(calls) == 12 else 1)
    )


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(lambda _: None, None, id="nothing is wrong"),
        pytest.param(infinite, ("nonfinite-loss", 9), id="a loss that is no number"),
        pytest.param(overflow_in_gradients, None, id="a scaler that finds its scale"),
        pytest.param(collapse, ("scale-collapsed", 7), id="a scale below one"),
        pytest.param(gradients_only, ("nonfinite-gradient", 12), id="a gradient alone"),
    ],
)
def test_why_a_capsule_is_written(
    tmp_path: Path, spoil: Callable[[Loop], None], reason: tuple[str, int] | None
) -> None:
    """Not for a step that the scaler skips, but for all that does not come right again."""
    loop = Loop()
    spoil(loop)
    written = loop.run(folder=tmp_path, every=5)
    found = [(one.kind, one.step) for one in (manifest_of(path).reason for path in written)]
    assert found == ([] if reason is None else [reason])


def test_the_weights_are_as_before_the_step(tmp_path: Path) -> None:
    """A gradient is looked at before the optimiser makes it part of the weights."""
    loop = Loop()
    gradients_only(loop)
    weights: list[Any] = []
    loop.optimizer.register_step_pre_hook(
        lambda *_: weights.append([one.detach().clone() for one in loop.model.parameters()])
    )
    (capsule,) = loop.run(folder=tmp_path, every=5)
    model, *_ = rerun(capsule)
    assert math.isfinite(sum(float(one.sum()) for one in weights[12]))
    for left, right in zip(model.parameters(), weights[12], strict=True):
        assert torch.equal(left, right)


def test_an_exception_passes(tmp_path: Path) -> None:
    """It is a reason by itself, reaches the user, and the half-done step is in the capsule."""
    loop = Loop()

    def fail(step: int, inputs: Any) -> Any:
        if step == 12:
            raise KeyError("speaker")
        return inputs

    loop.change = fail
    recorder = Recorder(loop.model, loop.optimizer, loss=loop.criterion, folder=tmp_path)
    with pytest.raises(KeyError), recorder:
        loop.run()
    told = manifest_of(recorder.written[0])
    assert (told.reason.kind, told.reason.message) == ("exception", "KeyError: 'speaker'")
    assert told.window.last == 11


def test_a_loop_that_stops_by_itself_is_looked_at_last(tmp_path: Path) -> None:
    """A loss that is not finite is found where no further step is taken."""
    loop = Loop()
    with Recorder(loop.model, loop.optimizer, loss=loop.criterion, folder=tmp_path) as recorder:
        inputs, target = next(loop.batches())
        loop.criterion(loop.model(inputs * torch.nan), target)
    assert manifest_of(recorder.written[0]).reason.kind == "nonfinite-loss"


def test_a_capsule_is_asked_for(tmp_path: Path) -> None:
    """The recording goes on behind it."""
    loop = Loop()
    with Recorder(
        loop.model, loop.optimizer, loss=loop.criterion, folder=tmp_path, every=4
    ) as recorder:
        loop.run(10)
        first = recorder.write("so far")
        loop.run(10)
        second = recorder.write()
    assert recorder.written == [first, second]
    assert [manifest_of(path).reason.step for path in recorder.written] == [9, 19]
    for path in recorder.written:
        _, losses, recorded = rerun(path)
        assert same(losses, recorded)


def test_nothing_raises_into_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What goes wrong in the recorder is told once, and it lets go of everything."""
    blocked = tmp_path / "a file"
    blocked.write_text("")
    loop = Loop()
    loop.change = poison
    with caplog.at_level(logging.WARNING, "postmortem.recorder"):
        assert loop.run(STEPS + 3, folder=blocked / "capsules") == []
    assert len(caplog.messages) == 1
    assert "the training goes on" in caplog.messages[0]
    assert not loop.model._forward_pre_hooks
    assert not loop.optimizer._optimizer_step_pre_hooks


def test_a_recorder_that_cannot_begin_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """A wrong optimiser, or a wrong option's value, ends nothing."""
    loop = Loop()
    with caplog.at_level(logging.WARNING), Recorder(loop.model, "sgd", every="often") as recorder:
        assert recorder.loss(1.5) == 1.5
        recorder.batch({})
        recorder.step()
        assert recorder.write() is None
    assert len(caplog.messages) == 1


def test_all_hooks_are_taken_off(tmp_path: Path) -> None:
    """Behind the `with`, model, loss, optimiser, scaler and loader are as they were."""
    loop = Loop(half=True)
    sampler = loop.loader.batch_sampler.sampler
    loop.run(3, folder=tmp_path, loader=loop.loader)
    parts = (loop.model, *loop.model, loop.criterion)
    assert not any(one._forward_pre_hooks or one._forward_hooks for one in parts)
    assert not loop.optimizer._optimizer_step_pre_hooks
    assert "step" not in vars(loop.scaler)
    assert loop.loader.batch_sampler.sampler is sampler


def test_little_memory_makes_it_partial(tmp_path: Path) -> None:
    """It says what is missing, and keeps what there is room for."""
    weights = sum(one.numel() * 4 for one in Loop().model.parameters())
    loop = Loop()
    loop.change = poison
    (capsule,) = loop.run(folder=tmp_path, every=5, memory=4 * weights + 200)
    told = manifest_of(capsule)
    assert "optimizer state: larger than the recorder's memory" in told.partial
    assert told.weights.trainable
    assert told.optimizer is not None
    assert told.optimizer.file is None


def test_a_small_capsule_leaves_the_optimizer_out(tmp_path: Path) -> None:
    """The limit of its size is held, and said."""
    loop = Loop()
    loop.change = poison
    (capsule,) = loop.run(folder=tmp_path, every=5, most_bytes=60_000)
    assert manifest_of(capsule).partial == (
        "optimizer state: the capsule would be larger than its limit",
    )


def test_it_takes_little_along() -> None:
    """A training that is recorded imports nothing of the rest of the program."""
    code = (
        "import sys, postmortem.recorder; from postmortem.recorder import Recorder;"
        "print([n for n in ('click', 'pydantic', 'hyperscan', 'yaml', 'cattrs') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_uncaught_exception_is_seen_without_a_with(tmp_path: Path) -> None:
    """Where a framework tells of no exception, the interpreter does."""
    code = f"""
import torch
from postmortem.recorder import Recorder
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
Recorder(model, optimizer, loss=(loss := torch.nn.MSELoss()), folder={str(tmp_path)!r}).start()
for step in range(9):
    loss(model(torch.ones(2, 4)), torch.ones(2, 1)).backward()
    optimizer.step()
raise RuntimeError("disk")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: disk" in done.stderr
    (capsule,) = tmp_path.iterdir()
    assert manifest_of(capsule).reason.kind == "exception"
