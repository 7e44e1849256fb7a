"""What of a curve is printed, and how it is rounded: the plan of a print, and its records.

A plan depends on task, fault and seed only through a hash, so the styles of sound and faulty runs
are drawn alike. `Sheet` holds the values; `Plan.text` is the only place that rounds.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from curves.settings import Config, Knobs, stream
from curves.tasks.base import Task
from curves.training import History

SHARES = frozenset({
    "accuracy", "knn_acc", "recall_at_1", "token_accuracy", "balanced_accuracy", "old_accuracy", "miou", "dice",
})  # fmt: skip
TIMES = frozenset({"data_time", "step_time"})
COUNTS = (4, 8, 20, 20, 50, 100, 400)


@dataclass(slots=True)
class Plan:
    """How a run is printed."""

    style: str
    layout: str
    rng: random.Random
    records: int
    printed: frozenset[str]
    digits: int
    form: str
    percent: bool
    averaged: bool
    head_cut: float
    tail_cut: float
    header: bool
    ending: bool
    talk: float
    time_scale: float
    count_from: int
    thin: bool

    def text(self, name: str, value: float) -> str:
        """A number as it is printed."""
        bare = name.removeprefix("val_")
        if not math.isfinite(value):
            return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
        special = {
            "lr": {"fixed": ".6f", "round": ".4g"}.get(self.form, ".4e"),
            "throughput": ".1f", "loss_scale": ".1f", "modes": ".0f",
            **dict.fromkeys(TIMES, ".4f" if value < 1 else ".3f"),
        }  # fmt: skip
        if bare in special:
            return format(value, special[bare])
        if self.percent and bare in SHARES:
            return f"{value * 100:.{min(self.digits, 2)}f}"
        if self.form == "round":
            return repr(round(value, self.digits))
        return format(value, f".{self.digits}" + {"general": "g", "sci": "e"}.get(self.form, "f"))

    def read(self, name: str, value: float) -> float:
        """The number that a reader gets from the print; shares in per cent are given back as shares."""
        number = float(self.text(name, value))
        return number / 100 if self.percent and name.removeprefix("val_") in SHARES else number


@dataclass(slots=True)
class Record:
    """One printed record: step and epoch (from 1), figures of training and of an evaluation, seconds."""

    step: int
    epoch: int
    values: dict[str, float]
    valid: dict[str, float]
    clock: float


@dataclass(slots=True)
class Sheet:
    """All printed records of a run and the ends that they are counted against."""

    task: type[Task]
    config: Config
    records: list[Record]
    total_steps: int
    total_epochs: int
    offset: int
    complete: bool
    seconds: float
    per_epoch: int = 0
    events: list[str] = field(default_factory=list)

    def series(self, plan: Plan) -> dict[str, list[tuple[int, float]]]:
        """Printed series by canonical name: pairs of step and value as printed; the main loss is `loss`."""
        found: dict[str, list[tuple[int, float]]] = {}
        for record in self.records:
            for name, value in (*record.values.items(), *record.valid.items()):
                key = "loss" if name == self.task.primary else name
                found.setdefault(key, []).append((record.step, plan.read(name, value)))
        return found


def draw_plan(task: type[Task], fault: str, seed: int, layouts: dict[str, tuple[str, ...]]) -> Plan:
    """Draw the style of a run; `layouts` gives the layouts of each style."""
    rng = stream(task.name, fault, seed, "print")
    style = rng.choice(sorted(layouts))
    optional = {"lr": 0.45, "grad_norm": 0.35, "throughput": 0.25, "loss_scale": 0.6}
    printed = {name for name, share in optional.items() if rng.random() < share}
    if rng.random() < 0.45:
        printed |= {"step_time", "data_time"} if rng.random() < 0.75 else {"step_time"}
    printed |= {name for name in ("val_loss", "val_score") if rng.random() < 0.78}
    printed |= {name for name in ("score", *task.extras) if rng.random() < 0.7}
    printed |= {
        name
        for name in ("val_old_accuracy", "val_balanced_accuracy", "val_more")
        if rng.random() < 0.75
    }
    cut = rng.random()
    return Plan(
        style=style,
        layout=rng.choice(layouts[style]),
        rng=rng,
        records=rng.choice(COUNTS),
        printed=frozenset(printed),
        digits=rng.choice((2, 3, 3, 4, 4, 4, 5, 6)),
        form=rng.choice(
            ("fixed", "fixed", "fixed", "round", "general", "sci")
            if rng.random() < 0.5
            else ("fixed",)
        ),
        percent=rng.random() < 0.35,
        averaged=rng.random() < 0.6,
        head_cut=0.2 + 0.55 * rng.random() if cut < 0.12 else 0.0,
        tail_cut=0.1 + 0.5 * rng.random() if 0.12 <= cut < 0.32 else 0.0,
        header=rng.random() < 0.65,
        ending=rng.random() < 0.65,
        talk=rng.choice((0.0, 0.0, 0.03, 0.08, 0.2)),
        time_scale=10 ** (0.7 + 2.2 * rng.random()),
        count_from=rng.choice((0, 1)),
        thin=rng.random() < 0.4,
    )


def fit_plan(plan: Plan, task: type[Task], twin: History) -> None:
    """Give small figures enough digits, as people do once they see 0.00."""
    values = sorted(abs(one[task.primary]) for one in twin.steps)
    middle = values[len(values) // 2]
    if plan.form in {"fixed", "round"} and middle * 10**plan.digits < 20:
        plan.digits = min(8, plan.digits + 2 + (middle * 10**plan.digits < 0.2))
    if plan.form == "general":
        plan.digits = max(plan.digits, 3)


def mean(values: list[float]) -> float:
    """The mean; NaN and infinity go through."""
    return sum(values) / len(values) if values else math.nan


class Printout:
    """Turns a history into a sheet under a plan."""

    def __init__(self, task: type[Task], history: History, plan: Plan, knobs: Knobs) -> None:
        self.task, self.history, self.plan, self.knobs = task, history, plan, knobs
        self.config = history.config
        done = len(history.steps)
        fresh = knobs.special == "fresh-resume"
        self.offset = (
            int(done * knobs.resume / (1 - knobs.resume))
            // self.config.per_epoch
            * self.config.per_epoch
            if fresh
            else 0
        )
        resumed = (
            int(self.config.steps * knobs.resume) // self.config.per_epoch * self.config.per_epoch
        )
        self.first = 0 if fresh else resumed
        self.clocks: list[float] = []
        now = 0.0
        for step, figures in enumerate(history.steps):
            if step >= self.first:
                now += figures["step_time"] + history.evals.get(step, {}).get("eval_time", 0.0)
            self.clocks.append(now * plan.time_scale)

    def train_values(self, first: int, last: int) -> dict[str, float]:
        """Figures of the record that covers the steps first..last (from 0, the last one included)."""
        steps, plan = self.history.steps, self.plan
        part = (
            steps[first : last + 1]
            if plan.averaged or plan.layout == "epoch"
            else steps[last : last + 1]
        )
        names = [self.task.primary]
        names += [one for one in self.task.extras if one in plan.printed]
        if "score" in plan.printed and self.task.score in steps[last]:
            names.append(self.task.score)
        names += [
            one
            for one in ("lr", "grad_norm", "loss_scale")
            if one in plan.printed and one in steps[last]
        ]
        names += [one for one in ("data_time", "step_time") if one in plan.printed]
        found = {}
        for name in dict.fromkeys(names):
            late = name in {"lr", "loss_scale"}
            found[name] = steps[last][name] if late else mean([one[name] for one in part])
            if name in TIMES:
                found[name] *= plan.time_scale
        if "throughput" in plan.printed:
            span = sum(one["step_time"] for one in part) * plan.time_scale
            found["throughput"] = self.config.batch * len(part) / span if span else 0.0
        return found

    def valid_values(self, step: int) -> dict[str, float]:
        """Figures of the evaluation after a step, as far as they are printed."""
        found = {}
        for name, value in self.history.evals.get(step, {}).items():
            key = "val_score" if name == f"val_{self.task.score}" else name
            if key in self.plan.printed or (
                key
                not in {
                    "val_loss",
                    "val_score",
                    "val_old_accuracy",
                    "val_balanced_accuracy",
                    "eval_time",
                }
                and "val_more" in self.plan.printed
            ):
                found[name] = value
        return found

    def epoch_records(self) -> Iterator[Record]:
        """One record for each epoch, training and evaluation together."""
        size, done = self.config.per_epoch, len(self.history.steps)
        epochs = done // size
        stride = max(1, round(epochs / self.plan.records)) if self.plan.thin else 1
        for epoch in range(1, epochs + 1):
            last = epoch * size - 1
            if (epoch % stride == 0 or epoch == epochs) and last >= self.first:
                values = self.train_values(last - size + 1, last)
                yield Record(
                    last + 1 + self.offset,
                    epoch + self.offset // size,
                    values,
                    self.valid_values(last),
                    self.clocks[last],
                )

    def step_records(self) -> Iterator[Record]:
        """Records of training every few steps, evaluations on lines of their own."""
        size, done = self.config.per_epoch, len(self.history.steps)
        stride = max(1, done // self.plan.records)
        if stride > 10:
            stride -= stride % 5
        for step in range(self.first, done):
            epoch = (step + self.offset) // size + 1
            if (step + 1) % stride == 0:
                values = self.train_values(max(step - stride + 1, self.first), step)
                yield Record(step + 1 + self.offset, epoch, values, {}, self.clocks[step])
            valid = self.valid_values(step)
            if valid:
                yield Record(step + 1 + self.offset, epoch, {}, valid, self.clocks[step])

    def sheet(self) -> Sheet:
        """The records after cutting head and tail."""
        records = list(self.epoch_records() if self.plan.layout == "epoch" else self.step_records())
        count = len(records)
        keep = records[int(count * self.plan.head_cut) : count - int(count * self.plan.tail_cut)]
        cut = len(keep) < 3
        whole = bool(keep) and keep[-1].step == records[-1].step
        if cut:
            keep = records
            self.plan.head_cut = self.plan.tail_cut = 0.0
            whole = True
        size = self.config.per_epoch
        total = self.config.steps + self.offset
        return Sheet(
            self.task, self.config, keep, total, total // size, self.offset, whole, self.clocks[-1], size
        )  # fmt: skip
