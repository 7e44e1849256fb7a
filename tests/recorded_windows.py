"""Small trainings whose steps are recorded by hand: capsules without the recorder."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from postmortem.replay.capsule.json_values import convert_to_tree
from postmortem.replay.capsule.manifest import (
    BATCHES_FILE,
    OPTIMIZER_FILE,
    RNG_FILE,
    WEIGHTS_FILE,
    Autocasting,
    LossRecipe,
    Manifest,
    MicroBatch,
    ModelRecipe,
    PrecisionUsed,
    Reason,
    StoredOptimizer,
    StoredWeights,
    Window,
    WindowStep,
)
from postmortem.replay.capsule.writing import write_capsule


@dataclasses.dataclass
class Training:
    """A training of a few steps, as a loop would run it."""

    recipe: ModelRecipe
    model: Any
    batches: Sequence[Any]
    loss: LossRecipe = dataclasses.field(default_factory=LossRecipe)
    compute: Callable[[Any, Any], Any] | None = None
    """`(model, batch) -> loss` as the loss recipe says."""
    rate: float = 0.01
    optimizer: str = "SGD"
    autocast: str = ""
    scale: float | None = None
    first: int = 1


def record(folder: Path, training: Training, reason: str = "") -> Path:
    """Run it, keep all steps, and write the capsule."""
    import torch

    model, compute = training.model, training.compute or (lambda m, batch: m(**batch).loss)
    optimizer = getattr(torch.optim, training.optimizer)(model.parameters(), lr=training.rate)
    start = {
        name: one.detach().clone()
        for name, one in [*model.named_parameters(), *model.named_buffers()]
    }
    held: dict[str, Any] = {}
    states: dict[str, Any] = {}
    steps, bad = [], ""
    scale = training.scale
    for number, batch in enumerate(training.batches, training.first):

        def put(tensor: Any, number: int = number) -> str:
            held[f"{number}/{len(held)}"] = tensor.contiguous().clone()
            return list(held)[-1]

        states[f"{number}.0/torch"] = torch.get_rng_state()
        loss = _loss(training, compute, batch)
        value = float(loss.detach())
        micro = MicroBatch(
            convert_to_tree(batch, put),
            f"{number}.0",
            tuple(range(number * 100, number * 100 + 99)),
            value,
        )
        skipped = False
        if math.isfinite(value):
            (loss * (scale or 1.0)).backward()
            skipped = not _update(model, optimizer, scale)
            bad = "nonfinite-gradient" if skipped and scale is None else ""
        else:
            bad = "nonfinite-loss"
        step = WindowStep(number, (micro,), (training.rate,), value, scale=scale, skipped=skipped)
        steps.append(step)
        scale = scale / 2 if scale and skipped else scale
        if bad:
            break
    window = Window(training.first, steps[-1].step, tuple(steps))
    names = [name for name, _ in model.named_parameters()]
    manifest = Manifest(
        written_at="2026-01-01T00:00:00Z",
        reason=Reason(reason or bad or "asked", steps[-1].step),
        model=training.recipe,
        weights=StoredWeights(
            trainable=tuple(names), buffers=tuple(name for name in start if name not in names)
        ),
        window=window,
        precision=PrecisionUsed(
            {},
            Autocasting(True, training.autocast, "cpu") if training.autocast else None,
            {"scale": training.scale} if training.scale else None,
        ),
        loss=training.loss,
        optimizer=StoredOptimizer(
            f"torch.optim.{training.optimizer}",
            ({"parameters": names, "lr": training.rate},),
            None,
        ),
    )
    files = {WEIGHTS_FILE: start, BATCHES_FILE: held, RNG_FILE: states, OPTIMIZER_FILE: {}}
    return write_capsule(folder, manifest, files)


def _loss(training: Training, compute: Callable[[Any, Any], Any], batch: Any) -> Any:
    import torch

    if not training.autocast:
        return compute(training.model, batch)
    with torch.autocast("cpu", dtype=getattr(torch, training.autocast)):
        return compute(training.model, batch)


def _update(model: Any, optimizer: Any, scale: float | None) -> bool:
    """Step unless a gradient is not finite; says whether it did."""
    import torch

    weights = [one for one in model.parameters() if one.grad is not None]
    for one in weights:
        one.grad.div_(scale or 1.0)
    is_finite = all(bool(torch.isfinite(one.grad).all()) for one in weights)
    if is_finite:
        optimizer.step()
    optimizer.zero_grad()
    return is_finite


def tree(*layers: tuple[str, dict[str, Any]]) -> ModelRecipe:
    """A Sequential of such layers."""
    children = {
        str(number): {"class": name, "arguments": arguments, "children": {}}
        for number, (name, arguments) in enumerate(layers)
    }
    return ModelRecipe("torch", tree={"class": "Sequential", "arguments": {}, "children": children})


def built(recipe: ModelRecipe, seed: int = 0) -> Any:
    """The model of a recipe of torch.nn."""
    import torch

    torch.manual_seed(seed)
    children = (recipe.tree or {})["children"].values()
    return torch.nn.Sequential(
        *[getattr(torch.nn, one["class"])(**one["arguments"]) for one in children]
    )
