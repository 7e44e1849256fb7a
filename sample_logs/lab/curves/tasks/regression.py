"""Numbers as answers: regression, forecasting, autoencoder, ratings, segmentation."""

import math
from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.tasks.base import VALID_SIZE, Supervised
from curves.tasks.classification import mlp, split
from curves.tasks.shapes import draw_shapes


class TableRegression(Supervised):
    """An MLP regression; odd seeds fit a Gaussian's mean and width, whose loss may be negative."""

    name = "table-regression"
    traits = frozenset({"float", "relu", "dropout", "finite", "valid"})
    steps = (200, 450)
    sgd_factor = 4.0
    score = "mae"
    score_up = False

    def build(self) -> None:
        """A smooth function of 8 numbers with small noise."""
        c = self.config
        x = torch.randn(self.data_size + VALID_SIZE, 8)
        y = (x[:, 0] * x[:, 1] + x[:, 2].sin() + 0.5 * x[:, 3]) / 1.5
        y = y + 0.05 * torch.randn(len(y))
        self.likelihood = c.seed % 2 == 1
        self.train, self.valid = split(x, y)
        self.model = mlp(8, c.width, c.width, 2 if self.likelihood else 1, dropout=c.dropout)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Squared error or the Gaussian's negative log-likelihood."""
        if self.likelihood:
            width = output[:, 1].clamp(-8, 8)
            return (width + 0.5 * (output[:, 0] - y) ** 2 * torch.exp(-2 * width)).mean()
        if self.knobs.special == "root":
            return root_of_margin(output[:, 0] - y, self.knobs.strength)
        return F.mse_loss(output[:, 0], y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Mean absolute error and R²."""
        wrong = output[:, 0] - y
        found = {"mae": float(wrong.abs().mean())}
        if len(y) > 100:
            found["r2"] = float(1 - wrong.pow(2).mean() / y.var())
        return found


def root_of_margin(wrong: Tensor, margin: float) -> Tensor:
    """The fault: the root's slope at 0 is infinite, and times a mask of 0 it is NaN."""
    return torch.sqrt(wrong.pow(2) * (wrong.pow(2) > margin)).mean()


class Forecaster(nn.Module):
    """A GRU (or a plain cell) over the past, a linear answer for the next values."""

    def __init__(self, width: int, ahead: int, *, plain: bool) -> None:
        super().__init__()
        self.recurrent = (
            nn.RNN(1, width, nonlinearity="relu", batch_first=True)
            if plain
            else nn.GRU(1, width, batch_first=True)
        )
        self.answer = nn.Linear(width, ahead)

    def forward(self, x: Tensor) -> Tensor:
        """Forecast of shape (batch, ahead) for a past of shape (batch, time)."""
        return self.answer(self.recurrent(x.unsqueeze(-1))[0][:, -1])


class ForecastGru(Supervised):
    """Time-series forecasting: seasonal series with a trend and noise."""

    name = "forecast-gru"
    traits = frozenset({"float", "rnn", "finite", "valid"})
    steps = (110, 230)
    rates = (3e-3, 1e-2)
    sgd_factor = 5.0
    batches = (16, 32)
    widths = (16, 24)
    score = "mae"
    score_up = False

    def build(self) -> None:
        """Windows of 18 values, 4 to forecast."""
        c = self.config
        count = 1600 + VALID_SIZE
        t = torch.arange(22).float()
        phase, period = torch.rand(count, 1) * 6.28, 5 + 6 * torch.rand(count, 1)
        series = (6.28 * t / period + phase).sin() + 0.3 * (6.28 * t / 3 + 2 * phase).sin()
        series = series + 0.03 * t * torch.randn(count, 1) + 0.08 * torch.randn(count, 22)
        self.train, self.valid = split(series[:, :18], series[:, 18:])
        self.model = Forecaster(c.width, 4, plain=self.knobs.init == "recurrent")

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Squared error."""
        return F.mse_loss(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Mean absolute error."""
        return {"mae": float((output - y).abs().mean())}


class Autoencoder(Supervised):
    """Reconstruction of drawn shapes through a narrow layer."""

    name = "autoencoder"
    traits = frozenset({"float", "relu", "finite", "valid", "dropout"})
    steps = (180, 360)
    rates = (1e-3, 5e-3)
    score = "psnr"

    def build(self) -> None:
        """Images of 12 × 12 as rows."""
        c = self.config
        images, kinds, _ = draw_shapes(2200, 12, 4, noise=0.05)
        flat = images.flatten(1)
        self.kinds = kinds
        self.train, self.valid = split(flat, flat)
        self.model = mlp(144, 2 * c.width, 16, 2 * c.width, 144, dropout=c.dropout)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Squared error of the pixels."""
        return F.mse_loss(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Peak signal-to-noise ratio in dB."""
        error = float(F.mse_loss(output, y))
        return {"psnr": -10 * math.log10(error) if error > 0 and math.isfinite(error) else math.nan}


class Ratings(nn.Module):
    """Matrix factorisation with biases."""

    def __init__(self, users: int, items: int, width: int) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.bias = nn.Linear(2, 1)
        self.offsets = nn.Embedding(users + items, 1)
        self.split = users
        for one in (self.users, self.items, self.offsets):
            nn.init.normal_(one.weight, 0.0, 0.1)

    def forward(self, pairs: Tensor) -> Tensor:
        """Ratings of (user, item) pairs."""
        u, i = pairs[:, 0], pairs[:, 1]
        inner = (self.users(u) * self.items(i)).sum(-1, keepdim=True)
        offset = self.offsets(u) + self.offsets(i + self.split)
        return self.bias(torch.cat([inner, offset], 1)).squeeze(1)


class Recommend(Supervised):
    """Recommendation: ratings of users for items."""

    name = "recommend-mf"
    traits = frozenset({"tokens", "finite", "valid"})
    steps = (250, 600)
    rates = (1e-2, 4e-2)
    optimizers = ("adam", "adamw")
    batches = (128, 256)
    widths = (4, 6)
    score = "rmse"
    score_up = False

    def build(self) -> None:
        """120 users, 80 items, ratings from three hidden tastes."""
        c = self.config
        tastes, kinds = torch.randn(120, 3), torch.randn(80, 3)
        pairs = torch.stack([torch.randint(120, (6000,)), torch.randint(80, (6000,))], 1)
        y = 3.4 + 0.6 * (tastes[pairs[:, 0]] * kinds[pairs[:, 1]]).sum(1) + 0.3 * torch.randn(6000)
        self.train, self.valid = split(pairs, y.clamp(1, 5))
        self.model = Ratings(120, 80, c.width)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Squared error."""
        return F.mse_loss(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Root mean squared error."""
        return {"rmse": float(F.mse_loss(output, y).sqrt())}


class Segmentation(Supervised):
    """A small encoder and decoder with a skip connection marks the drawn figure."""

    name = "segmentation"
    traits = frozenset({"float", "relu", "bn", "finite", "valid"})
    steps = (80, 150)
    rates = (3e-3, 1e-2)
    batches = (8, 16)
    widths = (6, 8)
    score = "miou"
    extras: ClassVar[tuple[str, ...]] = ("dice",)

    def build(self) -> None:
        """Images of 16 × 16 under strong noise."""
        images, _, masks = draw_shapes(900, 16, 5, noise=0.35)
        self.train, self.valid = (images[64:], masks[64:]), (images[:64], masks[:64])
        self.model = SmallUnet(self.config.width)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Binary cross-entropy of the pixels, by hand where a fault says so."""
        if self.knobs.special == "log-zero":
            p = torch.sigmoid(output * self.knobs.strength)
            return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
        return F.binary_cross_entropy_with_logits(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Mean intersection over union of both classes, Dice of the figure."""
        found, real = output > 0, y > 0.5
        shares = []
        for one, other in ((found, real), (~found, ~real)):
            union = float((one | other).sum())
            shares.append(float((one & other).sum()) / union if union else 1.0)
        both = float(found.sum() + real.sum())
        return {
            "miou": sum(shares) / 2,
            "dice": 2 * float((found & real).sum()) / both if both else 0.0,
        }


class SmallUnet(nn.Module):
    """Down, up, and across, once."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.low = nn.Sequential(
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU()
        )
        self.up = nn.Sequential(nn.Conv2d(3 * width, width, 3, padding=1), nn.ReLU())
        self.answer = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (batch, height, width)."""
        high = self.down(x)
        low = F.interpolate(self.low(F.max_pool2d(high, 2)), scale_factor=2.0)
        return self.answer(self.up(torch.cat([high, low], 1))).squeeze(1)
