"""What a task offers to the loop, and the supervised tasks' common part.

A supervised task holds two sets of tensors; what a fault does to data happens here, in one place,
so that each task only says how its data and its model are made.
"""

import random
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.settings import Config, Knobs, stream

if TYPE_CHECKING:
    from curves.training import Engine

VALID_SIZE = 256
LAYERS = (nn.Linear, nn.Conv2d, nn.Conv1d)


def passes_over(config: Config) -> int:
    """How often the data is gone through where its order matters."""
    return 4 + config.seed % 6


class Task:
    """A training: its settings' ranges (class attributes), model, update and evaluation."""

    name: ClassVar[str] = ""
    traits: ClassVar[frozenset[str]] = frozenset()
    steps: ClassVar[tuple[int, int]] = (150, 400)
    rates: ClassVar[tuple[float, float]] = (1e-3, 4e-3)
    sgd_factor: ClassVar[float] = 20.0
    optimizers: ClassVar[tuple[str, ...]] = ("adam", "adamw", "adam", "sgd")
    batches: ClassVar[tuple[int, ...]] = (16, 32, 64)
    schedules: ClassVar[tuple[str, ...]] = (
        "constant",
        "constant",
        "cosine",
        "linear",
        "step",
        "warmup",
    )
    clips: ClassVar[tuple[float | None, ...]] = (None, None, 1.0, 5.0)
    dropouts: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.1)
    widths: ClassVar[tuple[int, ...]] = (32, 48, 64)
    class_counts: ClassVar[tuple[int, ...]] = (4,)
    score: ClassVar[str] = ""
    score_up: ClassVar[bool] = True
    betas: ClassVar[tuple[float, float]] = (0.9, 0.999)
    primary: ClassVar[str] = "loss"
    extras: ClassVar[tuple[str, ...]] = ()
    model: nn.Module

    def __init__(self, config: Config, knobs: Knobs) -> None:
        self.config, self.knobs = config, knobs
        self.order: random.Random = stream(config.task, config.seed, "order")
        self.kept: list[float] = []
        self.output: Tensor | None = None
        self.build()
        self.spoil_model()

    def build(self) -> None:
        """Make data and model."""
        raise NotImplementedError

    def chance(self) -> float | None:
        """The score of a guess, where there is one."""
        return None

    def groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by optimizer."""
        return {"main": [one for one in self.model.parameters() if one.requires_grad]}

    def load(self, step: int) -> None:
        """Fetch the batch of a step."""

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """Learn from the batch; returns the printed figures, `loss` and `grad_norm` among them."""
        raise NotImplementedError

    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Figures of an evaluation; `judged` replaces the model where a fault says so."""
        return {}

    def before(self) -> dict[str, float]:
        """Figures of the model as it comes, where people print them."""
        return {}

    def keep_history(self) -> None:
        """The fault of a growing list: a metric computed anew over all that was ever kept."""
        count = (200_000 if self.config.steps < 200 else 120_000) // self.config.steps
        value = float(self.output.detach().flatten()[0]) if self.output is not None else 0.0
        self.kept.extend([value] * count)
        sum(one * one for one in self.kept)

    def happens(self, step: int, event: str, length: int = 1) -> bool:
        """Say whether a dated event takes place at this step."""
        first = int(self.config.steps * self.knobs.at)
        return self.knobs.event == event and first <= step < first + length

    def spoil_model(self) -> None:
        """Bad initialisation, frozen layers, broken batch norm, numbers through float16."""
        knobs = self.knobs
        with torch.no_grad():
            self.spoil_weights()
        if knobs.freeze == "body":
            last = {id(one) for one in list(self.model.parameters())[-1:]}
            for one in self.model.parameters():
                one.requires_grad_(id(one) in last)
        for one in self.model.modules():
            if isinstance(one, nn.BatchNorm1d | nn.BatchNorm2d) and knobs.valid == "statistics":
                one.momentum = 0.0
            if knobs.half == "overflow" and isinstance(one, LAYERS):
                one.register_forward_hook(lambda _m, _i, out: (out * knobs.strength).half().float())

    def spoil_weights(self) -> None:
        """Bad initialisation."""
        init = self.knobs.init
        layers = [one for one in self.model.modules() if isinstance(one, LAYERS)]
        factor = {"zero": 0.0, "huge": 12.0, "small": 0.12}.get(init)
        for layer in layers[:-1] if init == "dead" else layers:
            if init == "dead":
                layer.bias.fill_(-30.0)
            elif factor is not None:
                layer.weight.mul_(factor)
            if init == "zero":
                layer.bias.zero_()
        if init == "recurrent":
            for name, value in self.model.named_parameters():
                if "weight_hh" in name:
                    value.mul_(self.knobs.strength)


class Supervised(Task):
    """A task with a training set and a validation set of tensors (x, y)."""

    train: tuple[Tensor, Tensor]
    valid: tuple[Tensor, Tensor]
    data_size: ClassVar[int] = 3000
    score = "accuracy"

    def __init__(self, config: Config, knobs: Knobs) -> None:
        super().__init__(config, knobs)
        self.pool: list[int] = []
        self.corrupted = (0, 0)
        self.spoil_data()

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy, spoiled where a fault says so."""
        if self.knobs.special == "double-softmax":
            output = output.softmax(-1)
        if self.knobs.special == "log-zero":
            p = torch.sigmoid(output * self.knobs.strength)
            target = F.one_hot(y, output.shape[-1]).float()
            return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()
        smoothing = 0.2 if self.knobs.special == "smoothing" else 0.0
        return F.cross_entropy(output, y, label_smoothing=smoothing)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Metrics of a batch or of the validation set."""
        return {self.score: float((output.argmax(-1) == y).float().mean())}

    def balanced(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Mean recall over the classes of `y`; precision of the rarest, NaN while nobody is put there."""
        answers = output.argmax(-1)
        recalls = [
            float((answers[y == k] == k).float().mean())
            for k in range(self.config.classes)
            if (y == k).any()
        ]
        rare = answers == self.config.classes - 1
        precision = float((y[rare] == self.config.classes - 1).float().mean())
        return {"balanced_accuracy": sum(recalls) / len(recalls), "rare_precision": precision}

    def chance(self) -> float | None:
        """One over the number of classes."""
        return 1 / self.config.classes if "class" in self.traits else None

    def spoil_data(self) -> None:
        """What a data fault does to the two sets."""
        knobs, (x, y), (vx, vy) = self.knobs, self.train, self.valid
        if knobs.data == "shuffled":
            y = y[torch.randperm(len(y))]
            vy = vy[torch.randperm(len(vy))]
        elif knobs.data == "small":
            count = max(8, int(24 * knobs.strength))
            x, y = x[:count], y[:count]
        elif knobs.data in {"imbalance", "imbalance-sound"}:
            x, y = self._imbalanced(x, y)
            vx, vy = self._imbalanced(vx, vy)
        elif knobs.data == "sorted":
            count = self.config.steps * self.config.batch // passes_over(self.config)
            picked = torch.arange(max(count, self.config.batch)) % len(y)
            x, y = x[picked], y[picked]
            # Nearly sorted: neighbours in class are mixed, as where files of one source stand together.
            by_class = torch.argsort(y + 0.5 * self.config.classes * torch.rand(len(y)))
            x, y = x[by_class], y[by_class]
        elif knobs.data == "blocks":
            count = self.config.steps * self.config.batch // passes_over(self.config)
            picked = torch.arange(max(count, self.config.batch)) % len(y)
            x, y = x[picked], y[picked].clone()
            # The second half comes from a bad source: half of its answers belong elsewhere.
            wrong = torch.arange(len(y) // 2, len(y), 2)
            y[wrong] = y[wrong[torch.randperm(len(wrong))]]
        elif knobs.data == "shard":
            self.corrupted = (int(self.config.steps * knobs.at), self.config.steps)
        if knobs.valid == "shifted":
            vy = (vy + 1) % self.config.classes
        elif knobs.valid == "unnormalised":
            vx = vx * (3.0 + 4 * knobs.strength) + 2.0 + 3 * knobs.strength
        elif knobs.valid == "train-mode":
            by_class = torch.argsort(
                vy if vy.ndim == 1 else vy.flatten(1).float().mean(1), stable=True
            )
            vx, vy = vx[by_class], vy[by_class]
        self.train, self.valid = (x, y), (vx, vy)

    def _imbalanced(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        rare = 0.03 if self.knobs.data == "imbalance" else 0.35
        others = (y != 0).nonzero().flatten()
        zeros = (y == 0).nonzero().flatten()
        count = max(2, int(len(zeros) * rare))
        picked = torch.cat([zeros, others[:count]])
        picked = picked[torch.randperm(len(picked))]
        return x[picked], y[picked]

    def indices(self, step: int) -> list[int]:
        """Positions of the batch: shuffled passes, or in order where the data is sorted."""
        count, size = len(self.train[1]), min(self.config.batch, len(self.train[1]))
        if self.knobs.data in {"sorted", "blocks"}:
            first = step * size
            return [(first + k) % count for k in range(size)]
        if self.knobs.data == "stages" and step < self.config.steps * self.knobs.at:
            easy = (self.train[1] < max(2, self.config.classes // 2)).nonzero().flatten().tolist()
            return [easy[self.order.randrange(len(easy))] for _ in range(size)]
        while len(self.pool) < size:
            self.pool = self.pool + self.order.sample(range(count), count)
        batch, self.pool = self.pool[:size], self.pool[size:]
        return batch

    def load(self, step: int) -> None:
        """Fetch the batch, with the dated damage of a fault."""
        picked = torch.tensor(self.indices(step))
        x, y = self.train[0][picked], self.train[1][picked]
        first, last = self.corrupted
        if first <= step < last:
            y = y[torch.randperm(len(y))]
            x = (
                x + torch.randn_like(x) * x.std()
                if x.is_floating_point()
                else x[torch.randperm(len(x))]
            )
        if self.happens(step, "nan") and x.is_floating_point():
            x = x.clone()
            x[0] = torch.nan
        if self.happens(step, "outlier", 3) and x.is_floating_point():
            x = x * self.knobs.strength
        self.batch = (x, y)

    def weight(self, step: int) -> float:
        """Factor of the loss: how a bad batch looks where the inputs are tokens."""
        if self.batch[0].is_floating_point():
            return 1.0
        if self.happens(step, "nan"):
            return float("nan")
        return self.knobs.strength if self.happens(step, "outlier", 3) else 1.0

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """Forward, loss, update."""
        x, y = self.batch
        self.model.train()
        output = self.output = self.model(x)
        if self.knobs.detach:
            output = output.detach()
        loss = self.loss(output, y) * self.weight(step)
        if self.knobs.special == "added-term" and step >= self.config.steps * self.knobs.at:
            loss = loss + 0.05 * self.knobs.strength * output.abs().mean()
        if self.knobs.half == "grad-inf" and step >= self.config.steps * self.knobs.at:
            loss = loss + torch.sqrt((output.flatten()[:1] * 0).abs()).sum()
        if self.knobs.half == "underflow":
            loss = loss * 1e-7
        norm = engine.apply(loss)
        shown = float(loss.detach()) * (1e7 if self.knobs.half == "underflow" else 1.0)
        return {"loss": shown, "grad_norm": norm, **self.figures(output.detach(), y)}

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Loss and metrics of the validation set."""
        model = judged or self.model
        train_mode = self.knobs.valid == "train-mode"
        model.train(train_mode)
        x, y = self.valid
        output = torch.cat([model(part) for part in x.split(4)]) if train_mode else model(x)
        found = {"val_loss": float(self.loss(output, y))}
        found |= {f"val_{key}": value for key, value in self.figures(output, y).items()}
        if self.knobs.data.startswith("imbalance") and "class" in self.traits:
            found |= {f"val_{key}": value for key, value in self.balanced(output, y).items()}
        return found
