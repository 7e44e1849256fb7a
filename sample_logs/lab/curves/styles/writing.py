"""What all styles share: names of metrics in a dialect, clock times, bars, positions."""

import datetime as dt
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from curves.sheet import Plan, Record, Sheet

OF_THE_RUN = frozenset(
    {"lr", "grad_norm", "data_time", "step_time", "throughput", "loss_scale", "epsilon"}
)
CHINESE = {
    "loss": "损失", "accuracy": "准确率", "lr": "学习率", "grad_norm": "梯度范数", "data_time": "数据耗时",
    "step_time": "每步耗时", "throughput": "吞吐", "reward": "奖励", "entropy": "熵", "return": "回报",
    "perplexity": "困惑度", "recon": "重构损失", "kl": "KL", "mae": "平均绝对误差", "rmse": "均方根误差",
    "loss_scale": "损失缩放", "old_accuracy": "旧任务准确率", "true_reward": "真实奖励",
}  # fmt: skip


def dialect_name(name: str, dialect: str, choice: int) -> str:
    """A metric's printed name; `choice` selects among synonyms and stays the same within a log."""
    valid, bare = name.startswith("val_"), name.removeprefix("val_")
    if dialect == "chinese":
        word = CHINESE.get(bare, bare)
        return ("验证" if valid else "训练" if bare in {"loss", "accuracy"} else "") + word
    if bare == "accuracy":
        bare = ("accuracy", "acc", "acc", "top1", "accuracy")[choice % 5]
    if bare == "lr" and dialect in {"hf", "keras"}:
        return "learning_rate"
    train, held_out = "", "val_"
    if dialect == "hf":
        held_out = "eval_"
    elif dialect == "slash":
        train, held_out = "train/", "val/" if choice % 2 else "eval/"
    elif dialect == "plain":
        train, held_out = "train_" if choice % 4 else "", ("val_", "valid_", "dev_")[choice % 3]
    elif dialect == "title":
        short = bare.upper() if bare != "acc" else "Acc"
        bare_shown = bare.replace("_", " ").title() if len(bare) > 3 else short
        train, held_out = "Train ", ("Val ", "Valid ", "Validation ", "Test ")[choice % 4]
        return (held_out if valid else "" if bare in OF_THE_RUN else train) + bare_shown
    return (held_out if valid else "" if bare in OF_THE_RUN else train) + bare


@dataclass(slots=True)
class Writer:
    """Renders names, numbers and places of one log."""

    sheet: Sheet
    plan: Plan
    dialect: str = "keras"
    choice: int = 0
    start: dt.datetime = field(default_factory=lambda: dt.datetime(2025, 3, 1, tzinfo=dt.UTC))
    names: dict[str, str] = field(default_factory=dict)

    @property
    def rng(self) -> random.Random:
        """The plan's generator."""
        return self.plan.rng

    def name(self, canonical: str) -> str:
        """The printed name; kept, so that the label can list it."""
        task = self.sheet.task
        shown = dialect_name(canonical, self.dialect, self.choice)
        key = "loss" if canonical == task.primary else canonical
        self.names[key] = shown
        return shown

    def text(self, canonical: str, value: float) -> str:
        """The printed number, with a sign of per cent where shares are printed so."""
        return self.plan.text(canonical, value)

    def pairs(self, values: dict[str, float]) -> list[tuple[str, str]]:
        """Printed names and numbers of a record."""
        return [
            (self.name(key), self.text(key, value))
            for key, value in values.items()
            if key != "eval_time"
        ]

    def joined(self, values: dict[str, float], link: str = ": ", separator: str = ", ") -> str:
        """Pairs on a line."""
        return separator.join(f"{name}{link}{text}" for name, text in self.pairs(values))

    def clock(self, record: Record, form: str = "%Y-%m-%d %H:%M:%S") -> str:
        """The clock time of a record."""
        return (self.start + dt.timedelta(seconds=record.clock)).strftime(form)

    def remaining(self, record: Record) -> float:
        """Seconds to the end at the mean speed so far."""
        return (
            record.clock
            / max(record.step - self.sheet.offset, 1)
            * (self.sheet.total_steps - record.step)
        )

    def in_epoch(self, record: Record) -> int:
        """The step within its epoch, from 1."""
        return (record.step - 1) % self.sheet.per_epoch + 1


def span(seconds: float) -> str:
    """H:MM:SS."""
    return str(dt.timedelta(seconds=int(seconds)))


def short_span(seconds: float) -> str:
    """MM:SS or H:MM:SS, as tqdm prints."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return (
        f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
        if hours
        else f"{rest // 60:02d}:{rest % 60:02d}"
    )


def bar(done: float, width: int, full: str = "█") -> str:
    """A bar filled to a share."""
    filled = int(done * width)
    return full * filled + " " * (width - filled)


Style = Callable[[Writer], Iterator[str]]
