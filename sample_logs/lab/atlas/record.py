"""Train a small network with the faults of training-failure-atlas, on other data and another model.

    python sample_logs/lab/atlas/record.py FOLDER [--first 0] [--seeds 5] [--sound 15] [FAULT...]

In: a folder. Out: for each run FOLDER/FAULT-SEED.log and its label (.yaml). The faults are those that
https://github.com/riddhimaSD/training-failure-atlas describes: twelve, each one change of a sound
run; it injects them into an MLP on scikit-learn's digits. Here a one-dimensional CNN learns which of
eight waves a noisy signal is. A log holds the telemetry that it describes: before the first step the
statistics of the inputs, the norm of each layer's gradient and the share of dead units; after each
epoch loss and accuracy of training and validation, the spread of the losses of the batches, the
gradient's norm in the first and the last layer, dead units.

Needs torch and PyYAML; a run takes a few seconds of one core. Same seed, same log.
"""

import argparse
import dataclasses
import itertools
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812
import yaml
from torch import Tensor, nn

CLASSES: Final = 8
LENGTH: Final = 64
VALIDATION: Final = 400
MISMATCH: Final = "learning.validation-mismatch"
PLATEAU: Final = "learning.plateau"
COLLAPSE: Final = "learning.collapse"
RATE: Final = "numerics.lr-divergence"
EXPLOSION: Final = "numerics.gradient-explosion"
SOUND: Final = "healthy.completed"
UNKNOWN: Final = "numerics.nonfinite-unknown"


@dataclasses.dataclass(frozen=True)
class Run:
    """The settings of a sound run, and what a fault changes in them."""

    seed: int
    rate: float = 0.05
    epochs: int = 30
    batch: int = 32
    samples: int = 1500
    width: int = 24
    depth: int = 3
    dropout: float = 0.0
    activation: Callable[[Tensor], Tensor] = F.relu
    gain: float = 1.0
    bias: float = 0.0
    noise: float = 0.0
    """Share of training labels that are replaced at random."""
    shift: float = 0.0
    """Added to the inputs of the validation, in standard deviations."""
    is_shuffled: bool = True
    is_normalized: bool = True
    is_leaked: bool = False
    """The validation is drawn from the training set."""
    is_relabelled: bool = False
    """The validation has another mapping of the classes."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """What a fault changes, and the causes that are right for it, the likeliest first."""

    changes: dict[str, object]
    causes: tuple[str, ...]


FAULTS: Final[dict[str, Fault]] = {
    "rate-too-high": Fault({"rate": 1.5}, (RATE, EXPLOSION, COLLAPSE)),
    "rate-too-low": Fault({"rate": 2e-4}, ("learning.too-slow", PLATEAU)),
    "overfitting": Fault({"samples": 100, "width": 96, "epochs": 60}, ("learning.overfitting",)),
    "label-noise": Fault({"noise": 0.5}, (SOUND, "learning.overfitting")),
    "unshuffled": Fault({"is_shuffled": False}, ("learning.data-order",)),
    "unnormalized-inputs": Fault({"is_normalized": False}, (PLATEAU, COLLAPSE, EXPLOSION, RATE)),
    "dead-relus": Fault({"bias": -4.0}, (PLATEAU, "learning.no-gradient", COLLAPSE)),
    "vanishing-gradients": Fault(
        {"depth": 8, "activation": torch.sigmoid},
        (PLATEAU, "learning.no-gradient", "learning.too-slow"),
    ),
    "exploding-initialization": Fault({"depth": 8, "gain": 5.0}, (EXPLOSION, RATE, COLLAPSE)),
    "validation-shift": Fault({"shift": 3.0}, (MISMATCH,)),
    "validation-leakage": Fault({"is_leaked": True}, (SOUND,)),
    "validation-labels": Fault({"is_relabelled": True}, (MISMATCH,)),
}
"""Wrong labels and a leak have no name in `patterns/taxonomy.yaml`: such a run completes, so that only
an accusation of something else is wrong. A larger net learns the wrong labels in the end and overfits.
"""


def draw_run(name: str, seed: int) -> Run:
    """Draw the settings of a run, near those of the others."""
    rng = random.Random(f"atlas/{seed}")
    run = Run(
        seed,
        rate=rng.choice((0.03, 0.05, 0.05)),
        epochs=rng.choice((20, 30, 30)),
        batch=rng.choice((32, 32, 64)),
        samples=rng.choice((1200, 1500, 2000)),
        width=rng.choice((16, 24, 32)),
        dropout=rng.choice((0.0, 0.0, 0.2)),
    )
    return dataclasses.replace(run, **FAULTS[name].changes) if name in FAULTS else run  # type: ignore[arg-type]


def make_waves(count: int) -> tuple[Tensor, Tensor]:
    """Make signals of shape (count, 1, LENGTH) and their classes: four forms, slow or fast."""
    answers = torch.randint(CLASSES, (count,))
    speed = torch.where(answers >= CLASSES // 2, 4.5, 2.0) * (0.9 + 0.2 * torch.rand(count))
    phase = torch.rand(count, 1) * 6.28 + torch.linspace(0, 6.28, LENGTH) * speed.unsqueeze(1)
    forms = torch.stack(
        [phase.sin(), phase.sin().sign(), phase / 3.14 % 2 - 1, phase.sin().asin() / 1.57]
    )
    waves = forms[answers % (CLASSES // 2), torch.arange(count)]
    return (waves + 0.4 * torch.randn(count, LENGTH)).unsqueeze(1), answers


def make_data(run: Run) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Make the training and the validation set of a run."""
    inputs, answers = make_waves(run.samples + VALIDATION)
    inputs = (inputs - inputs.mean()) / inputs.std()
    train, answers_of = inputs[: run.samples], answers[: run.samples]
    valid, truth = inputs[run.samples :], answers[run.samples :]
    if run.is_leaked:
        valid, truth = train[:VALIDATION], answers_of[:VALIDATION]
    if run.is_relabelled:
        truth = torch.randperm(CLASSES)[truth]
    if run.noise:
        wrong = torch.rand(run.samples) < run.noise
        answers_of = torch.where(wrong, torch.randint(CLASSES, (run.samples,)), answers_of)
    if not run.is_normalized:  # as a converter of 12 bits gives them
        train, valid = (2048 + 96 * one for one in (train, valid))
    if not run.is_shuffled:
        order = answers_of.argsort()
        train, answers_of = train[order], answers_of[order]
    return (train, answers_of), (valid + run.shift, truth)


class WaveNet(nn.Module):
    """Convolutions, the mean over time, a linear answer."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        widths = [1, *[run.width] * run.depth]
        self.layers = nn.ModuleList(
            nn.Conv1d(
                before, after, 7 if number == 0 else 3, stride=2 if number < 3 else 1, padding=1
            )
            for number, (before, after) in enumerate(itertools.pairwise(widths))
        )
        self.answer = nn.Linear(run.width, CLASSES)
        self.activation, self.dropout = run.activation, run.dropout
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            layer.weight.data *= run.gain
            nn.init.constant_(layer.bias, run.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Give logits of shape (batch, CLASSES) for inputs of shape (batch, 1, LENGTH)."""
        for layer in self.layers:
            inputs = self.activation(layer(inputs))
        return self.answer(F.dropout(inputs.mean(2), self.dropout, self.training))

    def list_weights(self) -> list[Tensor]:
        """List the weights of the layers, the first one first."""
        return [*(layer.weight for layer in self.layers), self.answer.weight]

    def compute_dead_share(self, inputs: Tensor) -> float:
        """Give the share of units of the first layer that no input moves."""
        with torch.no_grad():
            return float(
                (self.activation(self.layers[0](inputs)) <= 0).all(2).all(0).float().mean()
            )


def iter_lines(run: Run) -> Iterator[str]:
    """Train, and yield the lines of the log."""
    torch.manual_seed(run.seed)
    (inputs, answers), valid = make_data(run)
    model = WaveNet(run)
    optimizer = torch.optim.SGD(model.parameters(), run.rate, momentum=0.9)
    yield (
        f"epochs={run.epochs} batch_size={run.batch} num_classes={CLASSES} optimizer=sgd"
        f" lr={run.rate:g} parameters={sum(one.numel() for one in model.parameters())}"
    )
    F.cross_entropy(model(inputs[:256]), answers[:256]).backward()
    norms = " ".join(f"{float(weight.grad.norm()):.2e}" for weight in model.list_weights())
    yield (
        f"before training: n_train={run.samples} input mean |x|={float(inputs.abs().mean()):.2f}"
        f" input std={float(inputs.std()):.2f}"
    )
    yield f"before training: gradient norms, first to last layer: {norms}"
    yield f"before training: inactive units, first layer: {model.compute_dead_share(inputs[:256]):.2f}"
    for epoch in range(1, run.epochs + 1):
        figures = train_epoch(model, optimizer, run, inputs, answers) | evaluate(model, *valid)
        figures["dead_units"] = model.compute_dead_share(inputs[:256])
        shown = " ".join(f"{name}={value:.4g}" for name, value in figures.items())
        yield f"epoch {epoch}/{run.epochs} {shown}"
    yield "training finished"


def train_epoch(
    model: WaveNet, optimizer: torch.optim.Optimizer, run: Run, inputs: Tensor, answers: Tensor
) -> dict[str, float]:
    """Go over the training set once; gives what the log shows of it."""
    model.train()
    order = torch.randperm(len(inputs)) if run.is_shuffled else torch.arange(len(inputs))
    losses, right, ends = [], 0, list[tuple[float, float]]()
    for part in order.split(run.batch):
        logits = model(inputs[part])
        loss = F.cross_entropy(logits, answers[part])
        optimizer.zero_grad()
        loss.backward()
        weights = model.list_weights()
        ends.append((float(weights[0].grad.norm()), float(weights[-1].grad.norm())))
        optimizer.step()
        losses.append(float(loss.detach()))
        right += int((logits.argmax(1) == answers[part]).sum())
    first, last = zip(*ends, strict=True)
    return {
        "train_loss": statistics.fmean(losses),
        "train_acc": right / len(inputs),
        "batch_loss_std": float(torch.tensor(losses).std()),
        "grad_norm_first": statistics.fmean(first),
        "grad_norm_last": statistics.fmean(last),
    }


def evaluate(model: WaveNet, inputs: Tensor, answers: Tensor) -> dict[str, float]:
    """Give loss and accuracy of the validation."""
    model.eval()
    with torch.no_grad():
        logits = model(inputs)
    right = (logits.argmax(1) == answers).float().mean()
    return {"val_loss": float(F.cross_entropy(logits, answers)), "val_acc": float(right)}


def describe(name: str, run: Run, lines: list[str]) -> dict[str, object]:
    """Give the label.

    A NaN in the first record tells nobody where it began. Where the order of the data keeps the net
    from learning anything, that is what the log shows.
    """
    cause, *also = FAULTS[name].causes if name in FAULTS else (SOUND,)
    records = [line for line in lines if line.startswith("epoch ")]
    if "train_loss=nan" in records[0]:
        also.append(UNKNOWN)
    share = float(records[-1].split("train_acc=")[1].split()[0])
    if name == "unshuffled" and share < 1.5 / CLASSES:
        also.append(PLATEAU)
    fault = name if name in FAULTS else None
    return {"cause": cause, "also": also, "task": "atlas", "fault": fault, "seed": run.seed}


def record(name: str, seed: int, out: Path) -> None:
    """Train a run and write its log and label."""
    run = draw_run(name, seed)
    lines = list(iter_lines(run))
    label = yaml.safe_dump(describe(name, run, lines), sort_keys=False)
    (out / f"{name}-{seed}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / f"{name}-{seed}.yaml").write_text(label, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Record the runs that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("faults", nargs="*", help="default: all, and sound runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each fault")
    parser.add_argument("--sound", type=int, default=15, help="sound runs")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name in options.faults or [*FAULTS, "sound"]:
        for seed in range(options.sound if name == "sound" else options.seeds):
            record(name, options.first + seed, options.out)
            print(f"{name}-{options.first + seed}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
