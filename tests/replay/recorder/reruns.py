"""A capsule's window is run again, step for step, in the plainest way: what the recorder says must suffice.

Nothing of the replay engine is used here.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from postmortem.replay.capsule import json_values
from postmortem.replay.capsule.manifest import Manifest
from postmortem.replay.capsule.opening import open_capsule


def built(tree: dict[str, Any]) -> torch.nn.Module:
    """Build a tree of torch.nn."""
    class_ = getattr(torch.nn, tree["class"])
    children = {name: built(child) for name, child in tree["children"].items()}
    if tree["class"] == "Sequential":
        return torch.nn.Sequential(*children.values())
    return class_(**tree["arguments"])


def model_of(manifest: Manifest) -> torch.nn.Module:
    """Build the model that a manifest describes."""
    recipe = manifest.model
    if recipe.kind == "torch":
        return built(recipe.tree)
    assert recipe.kind == "transformers"
    import transformers

    config = transformers.AutoConfig.for_model(**recipe.config)
    config._attn_implementation = recipe.attention
    model = getattr(transformers, recipe.class_)(config)
    if recipe.adapter is not None:
        import peft

        model = peft.get_peft_model(model, peft.LoraConfig(**_lora(recipe.adapter)))
    return model


def _lora(config: dict[str, Any]) -> dict[str, Any]:
    return {
        key: config[key]
        for key in ("r", "lora_alpha", "lora_dropout", "target_modules", "task_type")
    }


def loss_of(manifest: Manifest, model: torch.nn.Module, batch: dict[str, Any]) -> torch.Tensor:
    """Compute the loss that a manifest describes."""
    recipe = manifest.loss
    if recipe.kind == "output":
        return model(**batch).loss
    output = model(*[batch[key] for key in recipe.inputs])
    if recipe.output is not None:
        output = getattr(output, recipe.output)
    function = getattr(torch.nn.functional, recipe.function)
    return function(output, batch[recipe.target], **recipe.arguments)


def rerun(
    folder: Path, model: torch.nn.Module | None = None, loss: Callable[..., Any] | None = None
) -> tuple[torch.nn.Module, list[list[float]], list[list[float | None]]]:
    """Run a capsule's window; gives the model behind it, the losses and those that were recorded."""
    manifest = open_capsule(folder).manifest
    files = {name: load_file(folder / name) for name in manifest.files}
    model = model or model_of(manifest)
    for alias, tensor in files["weights.safetensors"].items():
        found = dict(model.named_parameters(remove_duplicate=False)) | dict(model.named_buffers())
        found[alias].data.copy_(tensor)
    model.train(manifest.train_mode)
    optimizer = _optimizer(manifest, model, files)
    losses = []
    for step in manifest.window.steps:
        for group, rate in zip(optimizer.param_groups, step.lr, strict=True):
            group["lr"] = rate
        losses.append(
            [_pass(manifest, model, one, step.scale, files, loss) for one in step.micro_batches]
        )
        if step is manifest.window.steps[-1] or step.skipped:
            optimizer.zero_grad()
            continue
        for parameter in model.parameters():
            if parameter.grad is not None and step.scale:
                parameter.grad.mul_(1 / step.scale)
        if manifest.clipping is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), manifest.clipping.max_norm)
        optimizer.step()
        optimizer.zero_grad()
    recorded = [[one.loss for one in step.micro_batches] for step in manifest.window.steps]
    return model, losses, recorded


def _optimizer(manifest: Manifest, model: torch.nn.Module, files: dict[str, Any]) -> Any:
    kept = manifest.optimizer
    named = dict(model.named_parameters())
    groups = [{"params": [named[name] for name in one["parameters"]]} for one in kept.groups]
    optimizer = getattr(torch.optim, kept.class_.rpartition(".")[2])(groups, lr=1.0)
    for made, stored in zip(optimizer.param_groups, kept.groups, strict=True):
        made.update({key: value for key, value in stored.items() if key != "parameters"})
    for name, entries in kept.state.items():
        optimizer.state[named[name]] = {
            key: files[kept.file][one["tensor"]].clone() if isinstance(one, dict) else one
            for key, one in entries.items()
        }
    return optimizer


def _pass(
    manifest: Manifest,
    model: torch.nn.Module,
    one: Any,
    scale: float | None,
    files: dict[str, Any],
    loss: Callable[..., Any] | None,
) -> float:
    batch = json_values.restore_batch(one.batch, files["batches.safetensors"].__getitem__)
    states = files["rng.safetensors"]
    torch.set_rng_state(states[f"{one.rng}/torch"])
    random.setstate((3, tuple(states[f"{one.rng}/python"].tolist()), None))
    casting = manifest.precision.autocast
    with torch.autocast("cpu", dtype=getattr(torch, casting.dtype), enabled=casting.enabled):
        found = loss(model, batch) if loss else loss_of(manifest, model, batch)
    (found * (one.factor if one.factor is not None else 1.0) * (scale or 1.0)).backward()
    return found.item()


def same(left: list[list[float]], right: list[list[float | None]]) -> bool:
    """Whether all losses are the same to the last bit; NaN is itself."""
    return repr([list(map(float, row)) for row in left]) == repr(
        [[float("nan") if one is None else float(one) for one in row] for row in right]
    )
