"""The model and the loss are built again, as the capsule says.

In: a manifest. Out: a module of torch without the capsule's weights, a function
`(model, batch) -> loss`. Not here: weights, the optimiser (`replay.bench`), whether the user's code
may be executed (`replay.on_demand`).

Classes of torch.nn and of transformers that are installed here are built without a question: what
the capsule holds of them is their arguments.
"""

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch

from postmortem.capsule.manifest import LossRecipe, Manifest, ModelRecipe
from postmortem.errors import InputError, MissingExtra

_CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_ATTENTIONS: Final = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
"""Any other name would be that of a kernel which is loaded from a hub."""
_LEFT_OUT: Final = ("auto_map", "attn_implementation", "trust_remote_code", "custom_pipelines")
_DEEPEST: Final = 64
Loss = Callable[[Any, Any], Any]


def build_model(manifest: Manifest, attention: str | None = None) -> Any:
    """Build the model with weights of its own.

    Raises:
        InputError: it cannot be built.
        MissingExtra: a package is not installed.
    """
    recipe = manifest.model
    maker = {"torch": _of_torch, "transformers": _of_transformers, "user": _of_user}[recipe.kind]
    try:
        model = maker(manifest, attention)
    except (InputError, MissingExtra):
        raise
    except Exception as error:
        raise InputError(
            f"the model cannot be built again: {type(error).__name__}: {error}",
            recipe.class_ or recipe.name or recipe.kind,
            "install the versions that the capsule names",
        ) from error
    return _with_adapter(model, recipe)


def loss_function(recipe: LossRecipe) -> Loss:
    """Give the function that computes the loss.

    Raises:
        InputError: there is none of this name.
    """
    if recipe.kind == "output":
        return _own_loss
    if recipe.kind == "user":
        function = _named(recipe.file, recipe.name)
        return lambda model, batch: function(model, batch, *recipe.further)
    function = getattr(torch.nn.functional, recipe.function, None)
    if function is None or not recipe.function.isidentifier() or recipe.function.startswith("_"):
        raise InputError(f"torch.nn.functional has no {recipe.function[:80]!r}", "the loss")
    return lambda model, batch: _torch_loss(model, batch, recipe, function)


def _of_torch(manifest: Manifest, _: str | None) -> Any:
    return _module(manifest.model.tree or {}, 0)


def _module(tree: Mapping[str, Any], depth: int) -> Any:
    name, children = str(tree.get("class")), tree.get("children") or {}
    found = getattr(torch.nn, name, None)
    if depth > _DEEPEST or not isinstance(found, type) or not issubclass(found, torch.nn.Module):
        raise InputError(f"torch.nn has no module {name[:80]!r}", "the model of the capsule")
    if name not in _CONTAINERS and children:
        raise InputError(f"torch.nn.{name} holds no modules of a tree", "the model of the capsule")
    built = found(**(tree.get("arguments") or {}))
    for child, one in children.items():
        built.add_module(child, _module(one, depth + 1))
    return built


def _of_transformers(manifest: Manifest, attention: str | None) -> Any:
    recipe = manifest.model
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing is fetched, whatever a config names
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise MissingExtra(
            f"the model is one of transformers, which is not installed: {error}",
            "",
            "pip install transformers, of the version that the capsule names",
        ) from error
    found = getattr(transformers, recipe.class_, None) if recipe.class_.isidentifier() else None
    if not isinstance(found, type) or not issubclass(found, transformers.PreTrainedModel):
        raise InputError(
            f"transformers {transformers.__version__} has no model {recipe.class_[:80]!r}",
            "the model of the capsule",
            "install the version that the capsule names",
        )
    config: Any = found.config_class.from_dict(_harmless(recipe.config or {}))  # type: ignore[attr-defined]
    wanted = attention or recipe.attention
    if wanted in _ATTENTIONS:
        config._attn_implementation = wanted  # noqa: SLF001 -- there is no other way before the build
    base = recipe.base
    if base is not None and manifest.weights.frozen:
        return found.from_pretrained(  # type: ignore[attr-defined]
            base.path, config=config, local_files_only=True, use_safetensors=True
        )
    return found(config)


def _harmless(config: Any) -> Any:
    """Leave out of a configuration what names code or a place to load from."""
    if not isinstance(config, Mapping):
        return [_harmless(one) for one in config] if isinstance(config, list) else config
    return {
        key: _harmless(one)
        for key, one in config.items()
        if not key.startswith("_") and key not in _LEFT_OUT
    }


def _with_adapter(model: Any, recipe: ModelRecipe) -> Any:
    if recipe.adapter is None:
        return model
    try:
        peft = importlib.import_module("peft")
    except ImportError as error:
        raise MissingExtra(
            f"the model bears an adapter of peft, which is not installed: {error}",
            "",
            "pip install peft, of the version that the capsule names",
        ) from error
    try:
        config = peft.LoraConfig.from_peft_type(**_harmless(recipe.adapter))
        return peft.get_peft_model(model, config)
    except Exception as error:
        raise InputError(
            f"the adapter cannot be built again: {type(error).__name__}: {error}", "peft"
        ) from error


def _of_user(manifest: Manifest, _: str | None) -> Any:
    recipe = manifest.model
    return _named(recipe.file, recipe.name)(**(recipe.arguments or {}))


def _named(file: str, name: str) -> Any:
    """Give what bears a name in a file; with dots, what bears it within a class."""
    return functools.reduce(getattr, name.split("."), _loaded(file))


def _loaded(file: str) -> Any:
    """Execute the user's file, as a module that is not `__main__`."""
    name = f"postmortem_trusted_{abs(hash(file))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python file", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(Path(file).parent))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise InputError(
            f"the code cannot be loaded: {type(error).__name__}: {error}",
            file,
            "what the training does belongs below `if __name__ == '__main__':`",
        ) from error
    finally:
        sys.path.remove(str(Path(file).parent))
    return module


def _own_loss(model: Any, batch: Any) -> Any:
    out = called(model, batch)
    if torch.is_tensor(out):
        return out
    if isinstance(out, Mapping):
        return out["loss"]
    return out.loss if hasattr(out, "loss") else out[0]


def called(model: Any, batch: Any) -> Any:
    """Call a model with a batch, as a loop does."""
    if isinstance(batch, Mapping):
        keywords = {key: one for key, one in batch.items() if key != "args"}
        return model(*batch.get("args", ()), **keywords)
    return model(*batch) if isinstance(batch, list | tuple) else model(batch)


def _torch_loss(model: Any, batch: Any, recipe: LossRecipe, function: Any) -> Any:
    out = _prediction(model, batch, recipe)
    return function(out, batch[recipe.target], **recipe.arguments)


def _prediction(model: Any, batch: Any, recipe: LossRecipe) -> Any:
    if isinstance(recipe.inputs, list):
        out = called(model, {key: batch[key] for key in recipe.inputs})
    elif recipe.inputs is not None:
        out = model(batch[recipe.inputs])
    else:
        out = called(model, {key: one for key, one in batch.items() if key != recipe.target})
    if recipe.output is None:
        return out
    return getattr(out, recipe.output) if hasattr(out, str(recipe.output)) else out[recipe.output]
