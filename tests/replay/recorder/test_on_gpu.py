"""On a CUDA device: the recorder waits for nothing, and what it copied aside is as it was."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from postmortem.recorder import Recorder  # noqa: E402
from postmortem.replay.capsule.opening import open_capsule  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]


class Training:
    """A training on the device that keeps its weights before each step."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        layers = [torch.nn.Linear(256, 256) for _ in range(24)]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(256, 8)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, foreach=True)
        self.criterion = torch.nn.CrossEntropyLoss()
        self.inputs = torch.randn(64, 256, device="cuda")
        self.target = torch.randint(0, 8, (64,), device="cuda")
        self.before: list[dict[str, Any]] = []

    def step(self, *, poisoned: bool = False) -> None:
        """Take a step."""
        self.before.append({n: p.detach().clone() for n, p in self.model.named_parameters()})
        inputs = self.inputs * torch.nan if poisoned else self.inputs
        with torch.autocast("cuda", torch.bfloat16):
            loss = self.criterion(self.model(inputs), self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def recorder(self, folder: Path, **options: Any) -> Recorder:
        """Give its recorder."""
        return Recorder(
            self.model, self.optimizer, loss=self.criterion, folder=folder, every=4, **options
        )


def test_nothing_is_waited_for(tmp_path: Path) -> None:
    """No call of the recorder makes the host wait for the device."""
    training = Training()
    with training.recorder(tmp_path) as recorder:
        for _ in range(9):  # both snapshots have their memory then
            training.step()
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(12):
                training.step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert recorder.write("to see that it still records") is not None


def test_the_snapshot_is_of_the_step_it_says(tmp_path: Path) -> None:
    """The optimiser does not change a weight before it is copied, nor is a batch changed later."""
    training = Training()
    with training.recorder(tmp_path) as recorder:
        for _ in range(14):
            training.step()
            training.inputs.mul_(1.01)
        path = recorder.write()
    assert path is not None
    opened = open_capsule(path)
    window = opened.manifest.window
    weights = opened.load_tensors("weights.safetensors")
    for name, before in training.before[window.first].items():
        assert torch.equal(weights[name], before.cpu()), name
    batches = opened.load_tensors("batches.safetensors")
    scales = [
        float(batches[one.micro_batches[0].batch["items"]["input"]["key"]].abs().max())
        for one in window.steps
    ]
    assert scales == sorted({*scales})
    assert opened.manifest.partial == ()
    assert opened.manifest.precision.autocast is not None
    assert opened.manifest.precision.autocast.enabled
    assert opened.manifest.device.type == "cuda"
    assert "cuda:0" in {key.rpartition("/")[2] for key in opened.load_tensors("rng.safetensors")}


def test_a_bad_step_is_found_one_step_later(tmp_path: Path) -> None:
    """The window ends with the bad step, and begins before it."""
    training = Training()
    with training.recorder(tmp_path) as recorder:
        for step in range(15):
            training.step(poisoned=step == 10)
            torch.cuda.synchronize()
            if recorder.written:
                break
    assert len(training.before) <= 13
    manifest = open_capsule(recorder.written[0]).manifest
    assert (manifest.reason.kind, manifest.reason.step) == ("nonfinite-loss", 10)
    assert (manifest.window.first, manifest.window.last) == (4, 10)


def test_a_scaler_on_the_device(tmp_path: Path) -> None:
    """Its scale comes over with the other figures; a step that it skips is no reason."""
    training = Training()
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**40)
    with training.recorder(tmp_path, scaler=scaler) as recorder:
        for _ in range(30):
            with torch.autocast("cuda", torch.float16):
                loss = training.criterion(training.model(training.inputs), training.target)
            scaler.scale(loss).backward()
            scaler.step(training.optimizer)
            scaler.update()
            training.optimizer.zero_grad()
        path = recorder.write()
    assert recorder.written == [path]
    steps = open_capsule(recorder.written[0]).manifest.window.steps
    assert all(step.scale is not None for step in steps)
    assert not steps[-1].skipped
