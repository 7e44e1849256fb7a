"""Classification: table, images, signals, token sequences, graph, fine-tuning, distillation."""

import itertools
from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.tasks.base import VALID_SIZE, Supervised
from curves.tasks.shapes import draw_shapes

CLASS_TRAITS = frozenset({"class", "float", "relu", "dropout", "finite", "valid"})


def mlp(*sizes: int, dropout: float = 0.0) -> nn.Sequential:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(sizes[:-1]):
        layers += [nn.Linear(left, right), nn.ReLU()] + ([nn.Dropout(dropout)] if dropout else [])
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


def clusters(
    classes: int, size: int, count: int, noise: float, shift: int = 0
) -> tuple[Tensor, Tensor]:
    """Points around three centres for each class; `shift` turns the centres for another task."""
    centres = torch.randn(
        classes * 3, size, generator=torch.Generator().manual_seed(size + classes + shift)
    )
    which = torch.randint(classes * 3, (count,))
    return centres[which] + noise * torch.randn(count, size), which % classes


def split(x: Tensor, y: Tensor) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Training and validation part."""
    return (x[VALID_SIZE:], y[VALID_SIZE:]), (x[:VALID_SIZE], y[:VALID_SIZE])


class TableMlp(Supervised):
    """An MLP on a table of numbers."""

    name = "table-mlp"
    traits = CLASS_TRAITS
    steps = (200, 500)
    class_counts = (3, 5, 8, 10)

    def build(self) -> None:
        """Clusters of 16 numbers."""
        c = self.config
        self.train, self.valid = split(*clusters(c.classes, 16, self.data_size, 0.9))
        depth = 2 + c.seed % 3
        self.model = mlp(16, *[c.width] * depth, c.classes, dropout=c.dropout)


class ShapesCnn(Supervised):
    """A CNN with batch norm on drawn shapes."""

    name = "shapes-cnn"
    traits = CLASS_TRAITS | {"bn"}
    steps = (110, 220)
    rates = (2e-3, 8e-3)
    class_counts = (3, 4, 5, 6)
    batches = (16, 32)
    widths = (8, 10, 12)

    def build(self) -> None:
        """Images of 14 × 14 with noise."""
        c = self.config
        images, kinds, _ = draw_shapes(1800 + VALID_SIZE, 14, c.classes, noise=0.25)
        self.train, self.valid = split(images, kinds)
        w = c.width
        self.model = nn.Sequential(
            nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(w, 2 * w, 3, padding=1), nn.BatchNorm2d(2 * w), nn.ReLU(), nn.AdaptiveMaxPool2d(2),
            nn.Flatten(), nn.Dropout(c.dropout), nn.Linear(8 * w, c.classes),
        )  # fmt: skip


class SignalConv(Supervised):
    """A one-dimensional CNN on waves of several kinds."""

    name = "signal-conv"
    traits = CLASS_TRAITS | {"bn"}
    steps = (120, 280)
    class_counts = (3, 4)
    batches = (16, 32)

    def build(self) -> None:
        """Sine, square, saw-tooth, chirp of 48 samples with noise."""
        c = self.config
        count = 2000 + VALID_SIZE
        t = torch.linspace(0, 6.28, 48)
        phase = torch.rand(count, 1) * 6.28 + t * (1.5 + 2 * torch.rand(count, 1))
        kinds = torch.stack(
            [phase.sin(), phase.sin().sign(), (phase / 3.14 % 2) - 1, (phase * (1 + t / 6)).sin()]
        )
        y = torch.randint(c.classes, (count,))
        x = kinds[y, torch.arange(count)] + 0.5 * torch.randn(count, 48)
        self.train, self.valid = split(x.unsqueeze(1), y)
        self.model = nn.Sequential(
            nn.Conv1d(1, 12, 7, padding=3), nn.BatchNorm1d(12), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(12, 24, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(),
            nn.Dropout(c.dropout), nn.Linear(96, c.classes),
        )  # fmt: skip


class Recurrent(nn.Module):
    """Embedding, recurrent layer, linear answer from the last state."""

    def __init__(self, symbols: int, width: int, classes: int, cell: str, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, 16)
        kinds = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN, "relu": nn.RNN}
        options = {"nonlinearity": "relu"} if cell == "relu" else {}
        self.recurrent = kinds[cell](16, width, batch_first=True, **options)
        self.dropout = nn.Dropout(dropout)
        self.answer = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits for tokens of shape (batch, time)."""
        states, _ = self.recurrent(self.embedding(x))
        return self.answer(self.dropout(states[:, -1]))


class SequenceRnn(Supervised):
    """Token sequences: which marker stands first."""

    name = "sequence-rnn"
    traits = frozenset({"class", "tokens", "rnn", "dropout", "finite", "valid"})
    steps = (130, 260)
    rates = (4e-3, 1e-2)
    class_counts = (3, 4, 6)
    batches = (16, 32)
    optimizers = ("adam", "adamw")
    widths = (24, 32)

    def build(self) -> None:
        """Sequences of 14 of 20 symbols; the answer is the marker at a random early place."""
        c = self.config
        count = self.data_size + VALID_SIZE
        x = torch.randint(8, 20, (count, 14))
        y = torch.randint(c.classes, (count,))
        x[torch.arange(count), torch.randint(3, 12, (count,))] = y
        self.train, self.valid = split(x, y)
        cell = ("lstm", "gru", "rnn")[c.seed % 3]
        self.model = Recurrent(
            20, c.width, c.classes, "relu" if self.knobs.init == "recurrent" else cell, c.dropout
        )


class Gcn(nn.Module):
    """Two graph convolutions over a fixed normalised adjacency."""

    def __init__(
        self, adjacency: Tensor, features: Tensor, width: int, classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.adjacency, self.features = adjacency, features
        self.first, self.second = nn.Linear(features.shape[1], width), nn.Linear(width, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, nodes: Tensor) -> Tensor:
        """Logits of the given nodes; the column of inputs is scaled with the nodes' own features."""
        scaled = self.features.index_copy(
            0, nodes[:, 0].long(), self.features[nodes[:, 0].long()] * nodes[:, 1:]
        )
        hidden = F.relu(self.first(self.adjacency @ scaled))
        return self.second(self.adjacency @ self.dropout(hidden))[nodes[:, 0].long()]


class GraphGcn(Supervised):
    """A graph network on a planted partition."""

    name = "graph-gcn"
    traits = frozenset({"class", "float", "dropout", "finite", "valid"})
    steps = (120, 260)
    rates = (5e-3, 2e-2)
    class_counts = (3, 4, 6)
    batches = (64, 128)
    dropouts = (0.0, 0.3, 0.5)
    optimizers = ("adam", "adamw")

    def build(self) -> None:
        """360 nodes; edges within a community are ten times as likely."""
        c = self.config
        count = 360
        y = torch.randint(c.classes, (count,))
        same = (y[:, None] == y[None]).float()
        edges = (torch.rand(count, count) < 0.006 + 0.06 * same).float().triu(1)
        adjacency = edges + edges.T + torch.eye(count)
        adjacency /= adjacency.sum(1, keepdim=True)
        features = F.one_hot(y, c.classes).float() * 0.9 + torch.randn(count, c.classes)
        features = torch.cat([features, torch.randn(count, 8)], 1)
        nodes = torch.stack([torch.arange(count).float(), torch.ones(count)], 1)
        self.train, self.valid = (nodes[120:], y[120:]), (nodes[:120], y[:120])
        self.model = Gcn(adjacency, features, c.width, c.classes, c.dropout)

    def load(self, step: int) -> None:
        """Damage goes to the nodes' factors, not to their numbers."""
        super().load(step)
        x, y = self.batch
        nodes = x[:, 0].nan_to_num(0).clamp(0, 359).round()
        factor = torch.ones(len(x))
        if self.happens(step, "nan"):
            factor[0] = torch.nan
        if self.happens(step, "outlier", 3):
            nodes, factor = nodes / self.knobs.strength, factor * self.knobs.strength
        self.batch = (torch.stack([nodes.round().clamp(0, 359), factor], 1), y)

    def spoil_data(self) -> None:
        """A validation that lacks the normalisation scales the factors only."""
        super().spoil_data()
        if self.knobs.valid == "unnormalised":
            nodes = torch.arange(120).float()
            self.valid = (torch.stack([nodes, torch.full((120,), -8.0)], 1), self.valid[1])


def fit(model: nn.Module, x: Tensor, y: Tensor, steps: int, rate: float = 5e-3) -> None:
    """Train a model in advance (pre-training, a teacher)."""
    optimizer = torch.optim.Adam(model.parameters(), rate, foreach=False)
    for step in range(steps):
        first = step * 64 % (len(x) - 64)
        optimizer.zero_grad()
        F.cross_entropy(model(x[first : first + 64]), y[first : first + 64]).backward()
        optimizer.step()


class FineTune(Supervised):
    """A small net, pre-trained on one task, is tuned on another; the old score is kept in view."""

    name = "fine-tune"
    traits = CLASS_TRAITS
    steps = (120, 300)
    rates = (3e-4, 1.5e-3)
    class_counts = (4, 6)
    sgd_factor = 10.0

    def build(self) -> None:
        """The old task's clusters lie elsewhere; a share of old data is rehearsed unless forgotten."""
        c = self.config
        old, old_y = clusters(c.classes, 16, 1500, 0.6, shift=500)
        new, new_y = clusters(c.classes, 16, self.data_size, 0.7)
        gap = 3.0 * torch.ones(16)
        old = old + gap
        self.model = mlp(16, c.width, c.width, c.classes, dropout=c.dropout)
        warm = self.knobs.special == "warm-start"
        pre_x, pre_y = (
            (torch.cat([old, new[:1500]]), torch.cat([old_y, new_y[:1500]]))
            if warm
            else (old, old_y)
        )
        mixed = torch.randperm(len(pre_x))
        fit(self.model, pre_x[mixed], pre_y[mixed], 220 if warm else 90)
        self.old = (old[-VALID_SIZE:], old_y[-VALID_SIZE:])
        if self.knobs.special == "forget":
            new_y = (new_y + 1) % c.classes
            new = new + gap * 0.9
        else:
            new, new_y = torch.cat([new, old[:1200]]), torch.cat([new_y, old_y[:1200]])
        mixed = torch.randperm(len(new))
        self.train, self.valid = split(new[mixed], new_y[mixed])

    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """The new task's figures and the old task's score."""
        found = super().evaluate(judged)
        return {**found, "val_old_accuracy": self.old_score(judged or self.model)}

    def before(self) -> dict[str, float]:
        """The old task's score before tuning."""
        return {"old_accuracy": self.old_score(self.model)}

    @torch.no_grad()
    def old_score(self, model: nn.Module) -> float:
        """Accuracy on the old task."""
        model.eval()
        x, y = self.old
        return float((model(x).argmax(-1) == y).float().mean())


class Distill(Supervised):
    """A student learns a teacher's soft answers."""

    name = "distill"
    traits = CLASS_TRAITS
    steps = (180, 400)
    class_counts = (5, 8, 10)
    data_size = 2400
    extras: ClassVar[tuple[str, ...]] = ("kd_loss", "ce_loss")

    def build(self) -> None:
        """The teacher is trained first; only the student's curve is printed."""
        c = self.config
        x, y = clusters(c.classes, 16, self.data_size, 0.9)
        self.teacher = mlp(16, 64, 64, c.classes)
        fit(self.teacher, x, y, 120)
        self.train, self.valid = split(x, y)
        self.model = mlp(16, c.width // 2, c.classes, dropout=c.dropout)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy mixed with the divergence from the teacher at temperature 2."""
        hard = super().loss(output, y)
        if not torch.is_grad_enabled():
            return hard
        with torch.no_grad():
            soft = (self.teacher(self.batch[0]) / 2).softmax(-1)
        close = F.kl_div((output / 2).log_softmax(-1), soft, reduction="batchmean") * 4
        self.parts = {"kd_loss": float(close.detach()), "ce_loss": float(hard.detach())}
        return 0.5 * hard + 0.5 * close

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Accuracy, and both parts of the loss in training."""
        parts = self.parts if torch.is_grad_enabled() else {}
        return {**super().figures(output, y), **parts}
