"""Runs groups of trainings and writes a log and a label for each.

A group is a pair of task and seed: the sound twin is trained once and serves all its members.
`members` names them; it depends on the numbers alone, so a longer list begins with the shorter.
"""

import gzip
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from curves.faults import BY_NAME, FAULTS, VARIANTS, VARIANTS_BY_NAME, Fault
from curves.judging import Evidence, Judgement, fall, finite, indistinguishable, noise, overfitting
from curves.judging_special import ALL_RULES
from curves.settings import Config, Knobs, draw_config, stream
from curves.sheet import Plan, Printout, Sheet, draw_plan, fit_plan
from curves.styles import LAYOUTS
from curves.styles.frame import Frame
from curves.tasks import TASKS
from curves.tasks.base import Task, passes_over
from curves.training import History, train

# Raise it after a change of prints or rules: older logs are then written again from their curves.
VERSION = 10
# What the print shows where a fault does not show as itself.
GENERAL = {
    "nonfinite": "numerics.nonfinite-unknown",
    "vanished_entropy": "learning.collapse",
    "stuck": "learning.plateau",
    "blow_up": "numerics.lr-divergence",
    "overfitting": "learning.overfitting",
    "slow": "learning.too-slow",
    "rough": "numerics.lr-divergence",
}
CLOCKED = frozenset(
    {
        "prefixed",
        "mmengine",
        "detectron",
        "fairseq",
        "tqdm",
        "keras",
        "lightning",
        "table",
        "estimator",
        "blocks",
    }
)


@dataclass(frozen=True, slots=True)
class Member:
    """One run of the list."""

    task: str
    name: str  # a fault's, a variant's, or `sound`
    seed: int

    @property
    def id(self) -> str:
        """The run's file name without ending."""
        return f"{self.task}-{self.name}-{self.seed:04d}"


def members(count: int) -> list[Member]:
    """The first `count` runs: for each seed and task the sound one, one or two variants, three faults.

    Faults are taken where they are rarest so far, so that each comes about as often as it can.
    """
    found: list[Member] = []
    used: Counter[str] = Counter()
    seed = 0
    while len(found) < count:
        for name, task in TASKS.items():
            rng = stream(name, seed, "members")
            faults = [one.name for one in FAULTS if one.applies(task)]
            variants = [one.name for one in VARIANTS if one.applies(task)]
            rng.shuffle(faults)
            rng.shuffle(variants)
            faults.sort(key=lambda one: used[one])
            variants.sort(key=lambda one: used[one])
            chosen = ["sound", *variants[: 1 + (seed + len(name)) % 2], *faults[:3]]
            used.update(chosen)
            found += [Member(name, one, seed) for one in chosen]
        seed += 1
    return found[:count]


def members_in(out: Path) -> list[Member]:
    """The runs whose curves are kept in a folder, as far as their task and fault still exist."""
    found = []
    for path in sorted((out / "curves").glob("*.json.gz")):
        stem, seed = path.name.removesuffix(".json.gz").rsplit("-", 1)
        task = next((name for name in TASKS if stem.startswith(f"{name}-")), None)
        if task is None:
            continue
        name = stem.removeprefix(f"{task}-")
        if name == "sound" or name in BY_NAME or name in VARIANTS_BY_NAME:
            found.append(Member(task, name, int(seed)))
    return found


def groups(wanted: list[Member]) -> Iterator[tuple[str, int, list[Member]]]:
    """Runs of one task and seed together, in the list's order."""
    kept: dict[tuple[str, int], list[Member]] = {}
    for one in wanted:
        kept.setdefault((one.task, one.seed), []).append(one)
    for (task, seed), part in kept.items():
        yield task, seed, part


def knobs_of(member: Member, task: type[Task]) -> Knobs:
    """The knobs of a run."""
    config = draw_config(task, member.seed)
    rng = stream(member.task, member.name, member.seed, "knobs")
    if member.name in BY_NAME:
        return BY_NAME[member.name].make(config, rng)
    return VARIANTS_BY_NAME[member.name].make(config, rng) if member.name != "sound" else Knobs()


def record_group(task_name: str, seed: int, part: list[Member], out: Path) -> list[str]:
    """Record the missing members of a group; returns the ids written, rejected ones with a minus.

    A curve that lies in `out/curves` is printed and judged again without training it anew.
    """
    missing = [one for one in part if not is_done(one, out)]
    if not missing:
        return []
    task = TASKS[task_name]
    twin = curve_of(Member(task_name, "sound", seed), task, Knobs(), out)
    done = []
    for member in missing:
        knobs = knobs_of(member, task)
        history = curve_of(member, task, knobs, out)
        sound = member.name in BY_NAME or (
            sound_enough(task, history) and near_twin(task, history, twin)
        )
        if not sound_enough(task, twin) or not sound:
            write_whole(out / "rejected" / member.id, b"did not learn\n")
            for ending in (".log", ".yaml"):
                (out / f"{member.id}{ending}").unlink(missing_ok=True)
            done.append(f"-{member.id}")
            continue
        log, label = describe(member, task, knobs, history, twin)
        text = yaml.safe_dump(label, sort_keys=False, allow_unicode=True)
        write_whole(out / f"{member.id}.log", log.encode())
        write_whole(out / f"{member.id}.yaml", text.encode())
        done.append(member.id)
    return done


def is_done(member: Member, out: Path) -> bool:
    """Say whether a run was written by this version of prints and rules, or rejected."""
    log, label = (out / f"{member.id}{ending}" for ending in (".log", ".yaml"))
    if (out / "rejected" / member.id).exists():
        return True
    return log.exists() and label.exists() and f"\nversion: {VERSION}\n" in label.read_text("utf-8")


def curve_of(member: Member, task: type[Task], knobs: Knobs, out: Path) -> History:
    """A run's curve: read where it was kept, else trained and kept."""
    path = out / "curves" / f"{member.id}.json.gz"
    if path.exists():
        return history_from(json.loads(gzip.decompress(path.read_bytes())))
    history = train(task, draw_config(task, member.seed), knobs)
    write_whole(path, gzip.compress(json.dumps(history_as(history)).encode(), mtime=0))
    return history


def history_as(history: History) -> dict[str, Any]:
    """A curve as plain values, seven digits each."""
    steps = [{key: float(f"{value:.7g}") for key, value in one.items()} for one in history.steps]
    return {**asdict(history), "steps": steps}


def history_from(values: dict[str, Any]) -> History:
    """A curve from plain values."""
    evals = {int(step): figures for step, figures in values["evals"].items()}
    return History(**{**values, "config": Config(**values["config"]), "evals": evals})


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


def progress(task: type[Task], history: History) -> list[float]:
    """The series that shows whether a run learns, falling: the loss, or the negative score of RL and GAN."""
    if "rl" in task.traits or task.name == "gan-ring":
        return [-one[f"val_{task.score}"] for one in history.evals.values()]
    return [one[task.primary] for one in history.steps]


def sound_enough(task: type[Task], history: History) -> bool:
    """A sound run learned: all figures finite, and its progress fell by more than its noise, or was near its floor from the start."""
    values = progress(task, history)
    if len(finite(values)) < len(values) or not values:
        return False
    short = (
        values
        if len(values) < 60
        else [sum(values[k : k + 10]) / len(values[k : k + 10]) for k in range(0, len(values), 10)]
    )
    gain = fall(short)
    return gain > max(0.5 * noise(short), 0.05 * abs(short[0])) or max(map(abs, short)) < 0.3


def near_twin(task: type[Task], history: History, twin: History) -> bool:
    """A sound variant ends less than 0.6 of the twin's way behind it, in the score or the validation loss."""
    ends = [list(one.evals.values()) for one in (twin, history)]
    name = next((one for one in (f"val_{task.score}", "val_loss") if one in ends[0][-1]), "")
    if not name:
        return True
    start, end = ends[0][0][name], ends[0][-1][name]
    behind = (ends[1][-1][name] - end) * (1 if end < start else -1)
    return behind < 0.6 * abs(end - start) + 0.02 * abs(end)


def evidence_of(
    task: type[Task], sheet: Sheet, twin: Sheet, plan: Plan, frame: Frame, history: History
) -> Evidence:
    """What is printed, for the rules."""
    run, sound = sheet.series(plan), twin.series(plan)
    named = set(frame.writer.names)
    run = {name: values for name, values in run.items() if name in named}
    sound = {name: values for name, values in sound.items() if name in named}
    if "rl" in task.traits or task.name == "gan-ring":
        for series in (run, sound):
            # A policy's or a GAN's loss says nothing of learning: its place is taken by what does.
            if "loss" in series:
                series["own_loss"] = series.pop("loss")
            for name, sign in (("reward", -1), (f"val_{task.score}", -1), ("val_distance", 1)):
                if name in series:
                    series["loss"] = [(step, sign * value) for step, value in series[name]]
                    break
    classes = "num_classes" in frame.shown
    chance = (
        1 / sheet.config.classes
        if "class" in task.traits or task.name in {"contrastive", "metric-triplet"}
        else None
    )
    return Evidence(
        run=run, twin=sound, score=task.score, score_up=task.score_up, chance=chance, classes_shown=classes,
        rate_shown="lr" in named or "lr" in frame.shown, head_cut=plan.head_cut > 0, event_step=history.event_step,
        clocks=[(one.step, one.clock) for one in sheet.records], clock_shown=plan.style in CLOCKED,
        step_layout=plan.layout == "step" and not (plan.averaged and plan.records <= 20),
        period=max(sheet.config.steps // passes_over(sheet.config), 1), resumed_shown=bool(sheet.offset) and plan.head_cut == 0,
        random_loss=math.log(sheet.config.classes) if "class" in task.traits else None,
        same_quantity=task.name not in {"distill", "vae", "gan-ring"} and "rl" not in task.traits,
        classes=max(sheet.config.classes, 2),
        before={name: value for name, value in history.before.items() if f"before/{name}" in frame.shown},
    )  # fmt: skip


def ending_cause(sheet: Sheet, frame: Frame) -> str:
    """The healthy id: completed where the printed log shows that the run came to its end."""
    counted = frame.plan.style in {
        "keras",
        "tqdm",
        "bracket",
        "bracket-epoch",
        "two-lines",
        "megatron",
    }
    whole = sheet.complete and sheet.records[-1].step >= sheet.total_steps
    return "healthy.completed" if frame.end_line or (whole and counted) else "healthy.running"


def describe(
    member: Member, task: type[Task], knobs: Knobs, history: History, twin: History
) -> tuple[str, dict[str, object]]:
    """The log's text and the label."""
    plan = draw_plan(task, member.name, member.seed, LAYOUTS)
    fit_plan(plan, task, twin)
    sheet = Printout(task, history, plan, knobs).sheet()
    twin_sheet = Printout(task, twin, replace(plan, head_cut=0.0), Knobs()).sheet()
    frame = Frame(sheet, plan, knobs, history)
    lines = frame.lines()
    evidence = evidence_of(task, sheet, twin_sheet, plan, frame, history)
    healthy = ending_cause(sheet, frame)
    cause, seen, rule, judged = judge(member, evidence, healthy)
    fault = BY_NAME.get(member.name)
    also = (
        list(fault.also)
        if fault
        else list(VARIANTS_BY_NAME[member.name].also)
        if member.name != "sound"
        else []
    )
    if fault and cause != fault.cause:
        also.append(fault.cause)
    if judged.visible:
        also.append(seen)
    if not fault and cause not in {"healthy.completed", "healthy.running"}:
        also.append(healthy)
    onset = None if fault is None else onset_of(fault, task, sheet, history)
    label = {
        "task": task.name, "fault": fault.name if fault else None, "variant": None if fault else member.name,
        "cause": cause, "also": sorted(set(also) - {cause}), "visible": judged.visible,
        "answer": seen,
        "rule": rule, "figures": {key: rounded(value) for key, value in judged.figures.items()},
        "onset": onset, "seed": member.seed, "style": plan.style, "layout": plan.layout, "records": len(sheet.records),
        "metrics": dict(sorted(frame.writer.names.items())), "settings": frame.shown,
        "head_cut": plan.head_cut > 0, "tail_cut": not sheet.complete, "end_line": frame.end_line,
        "steps": len(history.steps), "version": VERSION,
    }  # fmt: skip
    return "\n".join(line.rstrip() for line in lines) + "\n", label


def onset_of(fault: Fault, task: type[Task], sheet: Sheet, history: History) -> int:
    """The printed step (from 1) of a dated event, of the first non-finite loss, or of the best validation of an overfitted run; else the first step."""
    if history.event_step is not None:
        return history.event_step + 1
    for step, figures in enumerate(history.steps):
        if not math.isfinite(figures[task.primary]):
            return step + 1
    if fault.rule == "overfitting":
        return 1 + min(
            history.evals, key=lambda step: history.evals[step].get("val_loss", math.inf)
        )
    return sheet.offset + 1


def judge(member: Member, evidence: Evidence, healthy: str) -> tuple[str, str, str, Judgement]:
    """Cause, the cause that the print names, the rule's name and its judgement.

    Where a fault does not show as itself, the print may still show that something is wrong: the
    general rules say what, and the fault counts as visible if that is among its right answers.
    """
    fault: Fault | None = BY_NAME.get(member.name)
    if fault is None:
        found = overfitting(evidence)
        if found.visible:
            return "learning.overfitting", "learning.overfitting", "overfitting", found
        return healthy, healthy, "sound", Judgement(False)
    found = ALL_RULES[fault.rule](evidence)
    measured = fault.cause.startswith("performance.")
    own = measured or fault.rule in {"no_gradient", "loss_scale", "resumed"}
    if not own and indistinguishable(evidence):
        found.visible = False
        found.figures["same_as_twin"] = 1.0
    cause = found.cause or fault.cause
    if found.visible:
        return cause, found.seen or found.cause or fault.seen or fault.cause, fault.rule, found
    if measured or "same_as_twin" in found.figures:
        worse = overfitting(evidence).visible
        return cause, "learning.overfitting" if worse else healthy, fault.rule, found
    for name, seen in GENERAL.items():
        general = ALL_RULES[name](evidence)
        if general.visible:
            answer = general.seen or general.cause or seen
            right = answer in {cause, fault.seen, *fault.also}
            figures = {**found.figures, **general.figures}
            return cause, answer, f"{fault.rule}, then {name}", Judgement(right, figures)
    return cause, healthy, fault.rule, found


def rounded(value: float) -> float:
    """Four significant digits."""
    return float(f"{value:.4g}")


def listing() -> str:
    """Tasks, faults with their causes and tasks, variants, styles."""
    lines = [
        f"task     {name:<28}{(task.__doc__ or '').splitlines()[0]}" for name, task in TASKS.items()
    ]
    for fault in FAULTS:
        where = sum(fault.applies(task) for task in TASKS.values())
        lines.append(
            f"fault    {fault.name:<28}{fault.cause:<34}{where:>3} tasks, rule {fault.rule}"
        )
    lines += [
        f"variant  {one.name:<28}{sum(one.applies(task) for task in TASKS.values()):>3} tasks"
        for one in VARIANTS
    ]
    lines += [f"style    {name:<28}{', '.join(layouts)}" for name, layouts in LAYOUTS.items()]
    return "\n".join(lines)
