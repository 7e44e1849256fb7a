"""Data as its own answer: GAN, VAE, diffusion, flow, contrastive and metric learning."""

import math
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.tasks.base import Supervised, Task
from curves.tasks.classification import clusters, mlp, split
from curves.tasks.shapes import draw_shapes

if TYPE_CHECKING:
    from curves.training import Engine


def ring(count: int, modes: int = 8, width: float = 0.08) -> tuple[Tensor, Tensor]:
    """Points near `modes` places of a circle of radius 2, and which place."""
    which = torch.randint(modes, (count,))
    angle = which * (2 * math.pi / modes)
    return torch.stack([2 * angle.cos(), 2 * angle.sin()], 1) + width * torch.randn(count, 2), which


class GanRing(Task):
    """A GAN on eight places of a circle; neither loss falls in a sound run."""

    name = "gan-ring"
    traits = frozenset({"relu"})
    steps = (350, 600)
    rates = (2e-3, 4e-3)
    optimizers = ("adam",)
    schedules = ("constant",)
    clips = (None,)
    batches = (128, 192)
    betas = (0.5, 0.9)
    primary = "loss_g"
    score = "modes"
    extras: ClassVar[tuple[str, ...]] = ("loss_d", "d_real", "d_fake")

    def build(self) -> None:
        """Generator from 4 numbers, discriminator of pairs with a penalty of its slope."""
        w = 64
        self.generator, self.discriminator = mlp(4, w, w, 2), mlp(2, w, w, 1)
        with torch.no_grad():
            for layer in self.generator[:-1:2]:
                layer.weight.mul_(2.0)
        self.model = nn.ModuleList([self.generator, self.discriminator])

    def groups(self) -> dict[str, list[nn.Parameter]]:
        """One optimizer for each net."""
        return {"g": list(self.generator.parameters()), "d": list(self.discriminator.parameters())}

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """One step of the discriminator, one of the generator."""
        size = self.config.batch
        real, _ = ring(size, 8, 0.2)
        if self.happens(step, "nan"):
            real[0] = torch.nan
        if self.happens(step, "outlier", 3):
            real = real * self.knobs.strength
        if self.knobs.special == "one-mode":
            fake = self.generator(torch.randn(size, 4) * 0.05)
        else:
            fake = self.generator(torch.randn(size, 4) * 1.5)
        on_real = self.discriminator(real + 0.4 * torch.randn(size, 2))
        on_fake = self.discriminator(fake.detach() + 0.4 * torch.randn(size, 2))
        loss_d = F.softplus(-on_real).mean() + F.softplus(on_fake).mean()
        engine.apply(loss_d, "d")
        self.output = fake
        judged = fake.detach() if self.knobs.detach else fake
        loss_g = F.softplus(-self.discriminator(judged)).mean()
        norm = engine.apply(loss_g, "g")
        return {
            "loss_g": float(loss_g.detach()), "loss_d": float(loss_d.detach()), "grad_norm": norm,
            "d_real": float(on_real.detach().sigmoid().mean()), "d_fake": float(on_fake.detach().sigmoid().mean()),
        }  # fmt: skip

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """How many of the eight places are reached, and the mean distance to the nearest."""
        scale = 0.05 if self.knobs.special == "one-mode" else 1.5
        fake = self.generator(torch.randn(400, 4) * scale)
        angle = torch.arange(8) * (2 * math.pi / 8)
        centres = torch.stack([2 * angle.cos(), 2 * angle.sin()], 1)
        distance, nearest = torch.cdist(fake, centres).min(1)
        counts = torch.bincount(nearest[distance < 0.6], minlength=8)
        return {"val_modes": float((counts >= 8).sum()), "val_distance": float(distance.mean())}


class Vae(Supervised):
    """A variational autoencoder of drawn shapes; its loss is reconstruction plus KL."""

    name = "vae"
    traits = frozenset({"float", "relu", "finite", "valid"})
    steps = (180, 360)
    rates = (1e-3, 4e-3)
    sgd_factor = 1.0
    optimizers = ("adam", "adam", "adamw")
    score = "recon"
    score_up = False
    extras: ClassVar[tuple[str, ...]] = ("recon", "kl")

    def build(self) -> None:
        """Images of 12 × 12 as rows, 8 latent numbers."""
        images, _, _ = draw_shapes(2200, 12, 4, noise=0.05)
        flat = images.flatten(1)
        self.train, self.valid = split(flat, flat)
        self.step_now = 0
        self.model = mlp(144, 2 * self.config.width, 16)
        self.decoder = mlp(8, 2 * self.config.width, 144)
        self.model.add_module("decoder", nn.Identity())
        self.model = VaeNet(self.model, self.decoder)

    def kl_weight(self) -> float:
        """Weight of the KL term: constant, or growing under annealing."""
        if self.knobs.special == "anneal":
            return min(1.0, self.step_now / (0.6 * self.config.steps)) * 1.0
        return 60.0 if self.knobs.special == "strong-kl" else 1.0

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Sum of squared errors over the pixels, and KL."""
        image, mean, log_var = output[:, :144], output[:, 144:152], output[:, 152:160]
        recon = 5 * (image - y).pow(2).sum(1).mean()
        kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(1).mean()
        self.parts = {"recon": float(recon.detach()), "kl": float(kl.detach())}
        return recon + self.kl_weight() * kl

    def load(self, step: int) -> None:
        """Keep the step for the annealing."""
        super().load(step)
        self.step_now = step

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Both parts."""
        return dict(self.parts)


class VaeNet(nn.Module):
    """Encoder, sampling, decoder; returns image, mean and log variance in one row."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, x: Tensor) -> Tensor:
        """Rows of 144 + 8 + 8 numbers."""
        mean, log_var = self.encoder(x).chunk(2, 1)
        drawn = mean + (0.5 * log_var).exp() * torch.randn_like(mean) if self.training else mean
        return torch.cat([self.decoder(drawn), mean, log_var], 1)


class Diffusion(Supervised):
    """Denoising diffusion of the points of a circle; the noise is predicted."""

    name = "diffusion-2d"
    traits = frozenset({"float", "relu", "valid"})
    steps = (200, 450)
    rates = (2e-3, 6e-3)
    sgd_factor = 10.0
    batches = (64, 128)
    score = "mse"
    score_up = False

    def build(self) -> None:
        """Rows of point, noise and time; the net sees the mixture and the time."""
        points, _ = ring(4000)
        noise, times = torch.randn(4000, 2), torch.rand(4000, 1)
        kept = (times * math.pi / 2).cos()
        mixed = kept * points + (1 - kept**2).sqrt() * noise
        rows = torch.cat([mixed, times, (times * 6.28).sin(), (times * 6.28).cos()], 1)
        self.train, self.valid = split(rows, noise)
        self.model = mlp(5, 2 * self.config.width, 2 * self.config.width, 2)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Squared error of the noise."""
        return F.mse_loss(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Nothing but the loss."""
        return {}


class Coupling(nn.Module):
    """Four affine couplings of two numbers: returns base point and log determinant."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.nets = nn.ModuleList(mlp(1, width, 2) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        """Rows (z1, z2, log determinant)."""
        first, second, total = x[:, :1], x[:, 1:2], 0.0
        for net in self.nets:
            scale, shift = net(first).chunk(2, 1)
            scale = 1.5 * scale.tanh()
            first, second = second * scale.exp() + shift, first
            total = total + scale
        return torch.cat([first, second, total], 1)


class Flow(Supervised):
    """A normalising flow of narrow points; its negative log-likelihood falls below zero."""

    name = "flow-density"
    traits = frozenset({"float", "relu", "valid", "negative"})
    steps = (150, 350)
    rates = (3e-3, 8e-3)
    sgd_factor = 2.0
    optimizers = ("adam", "adamw")
    batches = (64, 128)
    clips = (1.0, 5.0)
    score = "nll"
    score_up = False

    def build(self) -> None:
        """Points along a parabola with narrow noise."""
        a = torch.randn(4000, 1) * 0.4
        points = torch.cat([a, a.pow(2) - 0.2 + 0.05 * torch.randn(4000, 1)], 1)
        self.train, self.valid = split(points, points)
        self.model = Coupling(self.config.width)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Negative log-likelihood in nats."""
        base = -0.5 * output[:, :2].pow(2).sum(1) - math.log(2 * math.pi)
        return -(base + output[:, 2]).mean()

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Nothing but the loss."""
        return {}


class Contrastive(Supervised):
    """SimCLR-like: two noisy views of a row are drawn together, others apart; judged by neighbours."""

    name = "contrastive"
    traits = frozenset({"relu", "float"})
    steps = (150, 300)
    rates = (1e-3, 4e-3)
    optimizers = ("adam", "adamw")
    batches = (64, 96)
    class_counts = (5, 8)
    score = "knn_acc"
    extras: ClassVar[tuple[str, ...]] = ("embed_std",)

    def build(self) -> None:
        """Clusters of 16 numbers; the answers are only used in the evaluation."""
        x, y = clusters(self.config.classes, 16, 2200, 0.8)
        self.train, self.valid = split(x, y)
        self.model = mlp(16, 64, 64, 16)

    def embed(self, x: Tensor) -> Tensor:
        """Unit vectors."""
        return F.normalize(self.model(x), dim=1)

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """InfoNCE at temperature 0.2, or without negatives where a fault says so."""
        x, _ = self.batch
        one, two = (
            self.embed(x + 0.5 * torch.randn_like(x)),
            self.embed(x + 0.5 * torch.randn_like(x)),
        )
        self.output = one
        if self.knobs.special == "no-negatives":
            loss = -(one * two).sum(1).mean()
        else:
            loss = F.cross_entropy(one @ two.T / 0.2, torch.arange(len(x)))
        if self.knobs.detach:
            loss = loss.detach()
        norm = engine.apply(loss)
        spread = float(one.detach().std(0).mean())
        return {"loss": float(loss.detach()), "grad_norm": norm, "embed_std": spread}

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Accuracy of the nearest of 400 neighbours, which is 1 / classes for a constant."""
        x, y = self.valid
        near = (self.embed(x) + 1e-6 * torch.randn(len(x), 16)) @ self.embed(self.train[0][:400]).T
        return {"val_knn_acc": float((self.train[1][:400][near.argmax(1)] == y).float().mean())}

    def chance(self) -> float | None:
        """One over the number of classes."""
        return 1 / self.config.classes


class Triplet(Contrastive):
    """Metric learning with triplets: the loss stays at the margin where all points fall together."""

    name = "metric-triplet"
    rates = (1e-3, 3e-3)
    batches = (32, 48)
    score = "recall_at_1"
    extras: ClassVar[tuple[str, ...]] = ("pos_dist", "neg_dist")

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """All triplets of the batch with margin 0.5."""
        x, y = self.batch
        states = self.model(x) if self.knobs.special == "no-norm" else self.embed(x)
        distance = (states[:, None] - states[None]).pow(2).sum(-1).clamp_min(1e-9).sqrt()
        if self.knobs.special == "root":
            distance = (states[:, None] - states[None]).pow(2).sum(-1).sqrt()
        self.output = states
        same = y[:, None] == y[None]
        far = (distance * same).sum(1) / same.sum(1)
        near = (distance * ~same).sum(1) / (~same).sum(1).clamp_min(1)
        if self.knobs.special == "pull-only":
            loss = far.mean()
        else:
            every = F.relu(distance[:, :, None] - distance[:, None] + 0.5)
            kept = (same[:, :, None] & ~same[:, None]).float()
            loss = (every * kept).sum() / kept.sum().clamp_min(1)
        if self.knobs.detach:
            loss = loss.detach()
        norm = engine.apply(loss)
        return {
            "loss": float(loss.detach()), "grad_norm": norm,
            "pos_dist": float(far.detach().mean()), "neg_dist": float(near.detach().mean()),
        }  # fmt: skip

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Share of points whose nearest neighbour is of their class."""
        return {"val_recall_at_1": super().evaluate(judged)["val_knn_acc"]}
