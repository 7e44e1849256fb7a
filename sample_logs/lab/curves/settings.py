"""What is drawn for a training (`Config`) and what is changed in it on purpose (`Knobs`)."""

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, pi


def stream(*parts: object) -> random.Random:
    """A generator that depends on the parts only, not on the process."""
    return random.Random(zlib.crc32("/".join(map(str, parts)).encode()))


@dataclass(frozen=True, slots=True)
class Config:
    """The sound settings of one task and seed; all runs of that pair share them."""

    task: str
    seed: int
    steps: int
    epochs: int
    batch: int
    lr: float
    optimizer: str
    schedule: str
    clip: float | None
    decay: float
    dropout: float
    width: int
    classes: int

    @property
    def per_epoch(self) -> int:
        """Steps of an epoch."""
        return self.steps // self.epochs


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a fault or a frightening but sound variant changes; the defaults change nothing.

    Fractions (`at`, `resume`) are of the run's steps; `loader` is seconds slept for each step.
    """

    lr: float = 1.0
    schedule: str = ""
    optimizer: str = ""
    parameters: str = "all"
    freeze: str = ""
    detach: bool = False
    accumulate: bool = False
    clip: float | None = None
    sign: float = 1.0
    print_signed: bool = False
    decay: float | None = None
    dropout: float | None = None
    batch: int | None = None
    init: str = ""
    data: str = ""
    valid: str = ""
    event: str = ""
    at: float = 0.5
    strength: float = 1.0
    half: str = ""
    loader: float = 0.0
    slower: bool = False
    longer: float = 1.0
    special: str = ""
    resume: float = 0.0
    stop_early: bool = False

    def apply(self, config: Config) -> Config:
        """The settings that the loop runs with."""
        steps = int(config.steps * self.longer) // config.epochs * config.epochs
        return replace(
            config,
            steps=steps,
            lr=config.lr * self.lr,
            batch=self.batch or config.batch,
            schedule=self.schedule or config.schedule,
            optimizer=self.optimizer or config.optimizer,
            clip=config.clip if self.clip is None else self.clip,
            decay=config.decay if self.decay is None else self.decay,
            dropout=config.dropout if self.dropout is None else self.dropout,
        )


def draw_config(task: "type", seed: int) -> Config:
    """Draw the settings of a pair of task and seed; `task` is a subclass of `tasks.base.Task`."""
    rng = stream(task.name, seed, "config")
    epochs = rng.choice((4, 5, 6, 8, 10, 10, 12, 15, 20, 20, 25, 30, 40, 50))
    low, high = task.steps
    steps = max(1, rng.randint(low, high) // epochs) * epochs
    slow, fast = task.rates
    optimizer = rng.choice(task.optimizers)
    rate = slow * (fast / slow) ** rng.random() * (task.sgd_factor if optimizer == "sgd" else 1)
    return Config(
        task=task.name,
        seed=seed,
        steps=steps,
        epochs=epochs,
        batch=rng.choice(task.batches),
        lr=float(f"{rate:.1g}"),
        optimizer=optimizer,
        schedule=rng.choice(task.schedules),
        clip=rng.choice(task.clips),
        decay=rng.choice((0.0, 0.0, 1e-4, 1e-2 if optimizer == "adamw" else 1e-4)),
        dropout=rng.choice(task.dropouts),
        width=rng.choice(task.widths),
        classes=rng.choice(task.class_counts),
    )


def rate_factors(name: str, steps: int) -> list[float]:
    """Factors of the learning rate for each step under a schedule."""

    def wave(share: float) -> float:
        return 0.01 + 0.495 * (1 + cos(pi * share))

    shapes: dict[str, Callable[[float], float]] = {
        "constant": lambda _done: 1.0,
        "cosine": wave,
        "linear": lambda done: max(1 - done, 0.0),
        "step": lambda done: 0.1 ** sum(done >= edge for edge in (0.5, 0.8)),
        "warmup": lambda done: min(1.0, done / 0.1 + 0.01) * wave(max(done - 0.1, 0) / 0.9),
        "long-warmup": lambda done: min(1.0, done / 0.5 + 0.005),
        "restarts": lambda done: wave(done * 3.999 % 1),
        "cut": lambda done: max(1 - done / 0.025, 0.0),
        "early-end": lambda done: 0.5 ** (done * 120),
    }
    return [shapes[name](step / max(1, steps - 1)) for step in range(steps)]
