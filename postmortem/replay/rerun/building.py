"""Build the model and the loss that a capsule describes.

In: a capsule. Out: a module of torch without the capsule's weights, a function `(model, batch) ->
loss`. Not here: weights, the optimiser (`rerun.bench`), whether the user's code may be executed
(`rerun.requested_replay`).

Classes of torch.nn and of transformers that are installed here are built without asking: what
the capsule holds of them is their arguments, which name no code, and building them may use about
as much memory as the capsule's own files do.
"""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch

from postmortem.core.errors import InputError, MissingExtra
from postmortem.core.lazy_regex import compile_lazily
from postmortem.replay.capsule.manifest import LossRecipe
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.adapters import put_adapter
from postmortem.replay.rerun.allocation_guard import AllocationGuard
from postmortem.replay.rerun.memory_budget import compute_building_limits
from postmortem.replay.rerun.pretrained import build_pretrained, find_base_files
from postmortem.replay.rerun.trusted_code import load_named

_CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_DEEPEST: Final = 64
_ARGUMENT: Final = compile_lazily(
    r"(?!device$|dtype$|process_group$|module$|custom_|args$|kwargs$)[a-z]\w*"
)
"""Arguments that the recorder writes: numbers and choices, no place, type or code."""
_LOSS: Final = compile_lazily(r"[a-z]\w*_loss|(binary_)?cross_entropy(_with_logits)?|kl_div")
_WHERE: Final = "the model of the capsule"
_VERSIONS: Final = "install the versions that the capsule names"
Loss = Callable[[Any, Any], Any]


def build_model(capsule: Capsule, attention: str | None = None) -> Any:
    """Build the model with weights of its own.

    Raises:
        InputError: it cannot be built, or takes more than the capsule accounts for.
        MissingExtra: a package is not installed.
    """
    manifest = capsule.manifest
    recipe = manifest.model
    files = find_frozen_files(capsule)
    is_trusted = recipe.kind == "user"
    limits = compute_building_limits(capsule, count_file_bytes(files))
    guard = AllocationGuard(limits, "the model of the capsule")
    try:
        with contextlib.nullcontext() if is_trusted else guard:
            if recipe.kind == "torch":
                model = _build_module(recipe.tree or {}, 0)
            elif is_trusted:
                model = load_named(recipe.file, recipe.name, recipe.sha256)(
                    **(recipe.arguments or {})
                )
            else:
                model = build_pretrained(recipe, attention, files)
            return model if recipe.adapter is None else put_adapter(model, recipe.adapter)
    except (InputError, MissingExtra):
        raise
    except Exception as error:
        raise InputError(
            f"the model cannot be built again: {type(error).__name__}: {str(error)[:500]}",
            recipe.class_ or recipe.name or recipe.kind,
            _VERSIONS,
        ) from error


def count_file_bytes(files: list[Path]) -> int:
    """Give the size of files."""
    return sum(file.stat().st_size for file in files)


def find_frozen_files(capsule: Capsule) -> list[Path]:
    """Find the weights that the capsule does not hold; the user's own code loads them itself.

    Raises:
        InputError: they are not here.
    """
    manifest = capsule.manifest
    if not manifest.weights.frozen or manifest.model.kind == "user":
        return []
    if manifest.model.kind == "torch":
        raise InputError(
            f"{len(manifest.weights.frozen)} frozen weights are not in the capsule and not at hand",
            str(manifest.weights.frozen_from or "nowhere named")[:200],
            "record it anew with these weights, or with build=",
        )
    return find_base_files(manifest.model)


def build_loss_function(recipe: LossRecipe) -> Loss:
    """Give the function that computes the loss.

    Raises:
        InputError: there is none of this name.
    """
    if recipe.kind == "output":
        return _get_output_loss
    if recipe.kind == "user":
        function = load_named(recipe.file, recipe.name, recipe.sha256)
        return lambda model, batch: function(model, batch, *recipe.further)
    function = getattr(torch.nn.functional, recipe.function, None)
    if function is None or not _LOSS.fullmatch(recipe.function):
        raise InputError(
            f"torch.nn.functional has no loss {recipe.function[:80]!r}", "the loss", _VERSIONS
        )
    return lambda model, batch: _compute_torch_loss(model, batch, recipe, function)


def _build_module(tree: Mapping[str, Any], depth: int) -> Any:
    name, children = str(tree.get("class")), tree.get("children") or {}
    found = getattr(torch.nn, name, None)
    if depth > _DEEPEST or not isinstance(found, type) or not issubclass(found, torch.nn.Module):
        raise InputError(f"torch.nn has no module {name[:80]!r}", _WHERE, _VERSIONS)
    if name not in _CONTAINERS and children:
        raise InputError(f"torch.nn.{name} holds no modules of a tree", _WHERE, "record it anew")
    arguments = {} if name in _CONTAINERS else _check_arguments(name, tree.get("arguments") or {})
    built = found(**arguments)
    for child, description in children.items():
        built.add_module(child, _build_module(description, depth + 1))
    return built


def _check_arguments(name: str, arguments: Any) -> dict[str, Any]:
    """Check what a module is built with: plain values, or lists of them."""
    for key, value in arguments.items():
        parts = value if isinstance(value, list) else [value]
        are_plain = all(isinstance(part, bool | int | float | str | None) for part in parts)
        if not _ARGUMENT.fullmatch(key) or not are_plain:
            raise InputError(
                f"torch.nn.{name[:80]} is not built with {key[:60]!r} from a capsule",
                _WHERE,
                "record it with build=, a function that gives the model",
            )
    return dict(arguments)


def _get_output_loss(model: Any, batch: Any) -> Any:
    out = call_model(model, batch)
    if torch.is_tensor(out):
        return out
    if isinstance(out, Mapping):
        return out["loss"]
    return out.loss if hasattr(out, "loss") else out[0]


def call_model(model: Any, batch: Any) -> Any:
    """Call a model with a batch, as a loop does."""
    if isinstance(batch, Mapping):
        keywords = {key: value for key, value in batch.items() if key != "args"}
        return model(*batch.get("args", ()), **keywords)
    return model(*batch) if isinstance(batch, list | tuple) else model(batch)


def _compute_torch_loss(model: Any, batch: Any, recipe: LossRecipe, function: Any) -> Any:
    out = _compute_prediction(model, batch, recipe)
    return function(out, batch[recipe.target], **recipe.arguments)


def _compute_prediction(model: Any, batch: Any, recipe: LossRecipe) -> Any:
    if isinstance(recipe.inputs, list):
        out = call_model(model, {key: batch[key] for key in recipe.inputs})
    elif recipe.inputs is not None:
        out = model(batch[recipe.inputs])
    else:
        out = call_model(
            model, {key: value for key, value in batch.items() if key != recipe.target}
        )
    if recipe.output is None:
        return out
    return getattr(out, recipe.output) if hasattr(out, str(recipe.output)) else out[recipe.output]
