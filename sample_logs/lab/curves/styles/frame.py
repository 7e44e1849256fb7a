"""What stands around the records: settings at the head, talk between, the end."""

import datetime as dt
import json
from collections.abc import Iterator

from curves.settings import Knobs
from curves.sheet import Plan, Record, Sheet
from curves.styles import STYLES
from curves.styles.writing import Writer, span
from curves.training import History

OPENING = (
    "INFO: GPU available: False, used: False",
    "wandb: Tracking run with wandb version 0.19.8",
    "Reusing cached dataset /data/cache/part-0001.arrow",
    "[W] Unable to register cuDNN factory: already registered",
)
WARNINGS = (
    "UserWarning: The dataloader, train_dataloader, does not have many workers which may be a bottleneck.",
    "/opt/venv/lib/python3.11/site-packages/torch/optim/lr_scheduler.py:62: UserWarning: The verbose parameter is deprecated.",
    "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.",
)


class Frame:
    """Writes a whole log: `lines` gives its text, afterwards `shown` says which settings it names."""

    def __init__(self, sheet: Sheet, plan: Plan, knobs: Knobs, history: History) -> None:
        self.sheet, self.plan, self.knobs, self.before = sheet, plan, knobs, history.before
        self.early = knobs.stop_early and len(history.steps) < history.config.steps
        self.rng = plan.rng
        start = dt.datetime(2025, 1, 3, 8, tzinfo=dt.UTC) + dt.timedelta(
            seconds=self.rng.randrange(3 * 10**7)
        )
        self.writer = Writer(sheet, plan, choice=self.rng.randrange(60), start=start)
        config = sheet.config
        settings = {
            "batch_size": config.batch, "lr": float(f"{config.lr:.3g}"), "optimizer": config.optimizer,
            "epochs": sheet.total_epochs, "seed": config.seed, "scheduler": config.schedule,
            "weight_decay": float(f"{config.decay:.2g}"), "dropout": config.dropout, "clip": None if not config.clip else float(f"{config.clip:.2g}"),
            "parameters": history.parameters,
        }  # fmt: skip
        if "class" in sheet.task.traits:
            settings["num_classes"] = config.classes
        if config.schedule in {"cut", "early-end"}:
            settings.pop("scheduler")
        names = list(settings)
        self.shown = (
            sorted(self.rng.sample(names, self.rng.randint(2, len(names)))) if plan.header else []
        )
        self.settings = {name: settings[name] for name in names if name in self.shown}
        self.end_line = False

    def header(self) -> Iterator[str]:
        """Settings and first messages."""
        if self.rng.random() < 0.4:
            yield self.rng.choice(OPENING + WARNINGS)
        if self.settings:
            yield from self._settings()
        for name, value in self.before.items():
            if self.rng.random() < 0.6:
                self.shown.append(f"before/{name}")
                yield f"Before training: {name} {self.plan.text(name, value)}"
        if self.sheet.offset or self.knobs.resume:
            first = self.sheet.records[0].step
            at = max(first // self.sheet.per_epoch - 1, 0) * self.sheet.per_epoch
            if not self.plan.head_cut:
                yield self.rng.choice(
                    (
                        f"Resuming from checkpoint at step {at}",
                        f"=> loaded checkpoint 'ckpt/last.pt' (step {at})",
                        f"Resume training from step {at}",
                    )
                )

    def _settings(self) -> Iterator[str]:
        form = self.rng.randrange(5)
        values = self.settings
        if form == 0:
            yield (
                "Namespace(" + ", ".join(f"{key}={value!r}" for key, value in values.items()) + ")"
            )
        elif form == 1:
            yield from (f"{key}: {value}" for key, value in values.items())
        elif form == 2:
            yield json.dumps(values)
        elif form == 3:
            yield "***** Running training *****"
            yield from (
                f"  {key.replace('_', ' ').capitalize()} = {value}" for key, value in values.items()
            )
        else:
            yield "=" * 40
            yield from (f"  {key:<14}{value}" for key, value in values.items())
            yield "=" * 40

    def talk(self, record: Record, best: dict[str, float]) -> Iterator[str]:
        """Chatter after a record: checkpoints, the best so far (true), harmless warnings."""
        score = record.valid.get("val_loss")
        if score is not None and score < best.get("val_loss", float("inf")):
            best["val_loss"] = score
            if self.rng.random() < self.plan.talk * 4:
                yield self.rng.choice(
                    (
                        f"New best val_loss: {score:.4f}, saving checkpoint",
                        "Saving best model ...",
                        f"val_loss improved to {score:.4f}",
                    )
                )
        if self.rng.random() < self.plan.talk:
            yield self.rng.choice(
                (
                    f"Saving model checkpoint to ./runs/exp/checkpoint-{record.step}",
                    f"checkpoint saved: ckpt_{record.step}.pt",
                    self.rng.choice(WARNINGS),
                    f"[{self.writer.clock(record)}] heartbeat: rank 0 alive",
                )
            )

    def footer(self) -> Iterator[str]:
        """The end, where the run came to one and says so."""
        last = self.sheet.records[-1]
        if not self.sheet.complete:
            return
        if self.early:
            self.end_line = True
            yield self.rng.choice(
                (
                    f"Early stopping at epoch {last.epoch}: no improvement for 3 evaluations",
                    "EarlyStopping: val_loss did not improve in the last 3 epochs. Stopping.",
                )
            )
        elif self.plan.ending:
            self.end_line = True
            if self.plan.style == "trainer":
                steps = max(self.sheet.total_steps - self.sheet.offset, 1)
                seconds = max(self.sheet.seconds, 0.01)
                yield f"{{'train_runtime': {seconds:.4f}, 'train_samples_per_second': {steps * self.sheet.config.batch / seconds:.3f}, 'train_steps_per_second': {steps / seconds:.3f}, 'epoch': {self.sheet.total_epochs}}}"
            else:
                yield self.rng.choice(
                    (
                        f"Training finished in {span(self.sheet.seconds)}",
                        "Training complete.",
                        "Done.",
                        f"`Trainer.fit` stopped: `max_epochs={self.sheet.total_epochs}` reached.",
                        "训练完成",
                        f"Saved final model to ./runs/exp/final.pt (total {span(self.sheet.seconds)})",
                    )
                )

    def lines(self) -> list[str]:
        """The log's lines."""
        if self.plan.style in {"csv", "jsonl"} and self.rng.random() < 0.6:
            self.shown = []
            return list(STYLES[self.plan.style][0](self.writer))
        head = [] if self.plan.head_cut else list(self.header())
        if self.plan.head_cut:
            self.shown = []
        body = list(STYLES[self.plan.style][0](self.writer))
        if self.plan.talk and self.plan.style not in {"csv", "jsonl", "table", "blocks"}:
            body = self._mixed(body)
        return [*head, *body, *self.footer()]

    def _mixed(self, body: list[str]) -> list[str]:
        """Talk after lines that end a record; lines and records run in step, several lines for one at most."""
        ratio = max(1, len(body) // len(self.sheet.records))
        best: dict[str, float] = {}
        found = []
        for place, line in enumerate(body):
            found.append(line)
            if (place + 1) % ratio == 0 and place // ratio < len(self.sheet.records):
                found += self.talk(self.sheet.records[place // ratio], best)
        return found
