"""Describe how a model can be built again.

In: a model, and what the user says of it. Out: a `ModelRecipe`, and what is unknown about it. Not
here: its weights, building it.

Found out where possible, in this order: the user's own function or class, PEFT over transformers,
transformers (class and configuration), a tree of torch.nn, a class in a file that needs no
arguments or keeps them as Lightning's `hparams`.
"""

import dataclasses
import enum
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from postmortem.replay.capsule.manifest import BaseWeights, ModelRecipe
from postmortem.replay.recorder.module_trees import NoTreeError, build_module_tree

_PLAIN = (bool, int, float, str, type(None))


def convert_to_json(value: Any) -> Any:
    """Give a configuration as JSON holds it; what has no form there as its text."""
    if isinstance(value, enum.Enum):
        return convert_to_json(value.value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): convert_to_json(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [convert_to_json(item) for item in value]
    return str(value)


def locate_source(code: Any) -> tuple[str, str]:
    """Give the file in which a class or function stands, and its sha256; empty if in none."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(code))
        path = Path(file or "").resolve()
        return str(path), hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, TypeError):
        return "", ""


def build_model_recipe(
    model: Any, build: Callable[..., Any] | None, arguments: Mapping[str, Any] | None
) -> tuple[ModelRecipe, list[str]]:
    """Describe a model, and say what of that is not known."""
    if build is not None:
        return _describe_user_model(build, arguments)
    package = type(model).__module__.partition(".")[0]
    if package == "peft":
        return _describe_adapted_model(model)
    if package == "transformers":
        return _describe_transformers_model(model), []
    try:
        return ModelRecipe("torch", tree=build_module_tree(model)), []
    except NoTreeError:
        return _describe_user_model(
            type(model), _find_known_arguments(model) if arguments is None else arguments
        )


def _describe_transformers_model(model: Any) -> ModelRecipe:
    config = model.config
    attention = getattr(config, "_attn_implementation", None)
    path = str(getattr(config, "_name_or_path", "") or "")
    return ModelRecipe(
        "transformers",
        class_=type(model).__name__,
        config=convert_to_json(config.to_dict()),
        attention=attention if isinstance(attention, str) else None,
        base=BaseWeights(path) if path else None,
    )


def _describe_adapted_model(model: Any) -> tuple[ModelRecipe, list[str]]:
    inner = model.get_base_model()
    if type(inner).__module__.partition(".")[0] != "transformers":
        return _describe_user_model(type(inner), None)
    recipe = _describe_transformers_model(inner)
    adapters = dict(model.peft_config)
    config = adapters.get(getattr(model, "active_adapter", "default")) or next(
        iter(adapters.values())
    )
    notes = [] if len(adapters) == 1 else ["model: only the active one of its adapters"]
    return dataclasses.replace(recipe, adapter=convert_to_json(config.to_dict())), notes


def _find_known_arguments(model: Any) -> Mapping[str, Any] | None:
    """Give what a class needs: nothing, or what Lightning keeps of it."""
    needed = list(_iter_required_parameters(type(model)))
    hyperparameters = getattr(model, "hparams", None)
    if isinstance(hyperparameters, Mapping) and set(needed) <= {*hyperparameters}:
        return hyperparameters
    return None if needed else {}


def _iter_required_parameters(class_: Callable[..., Any]) -> Iterator[str]:
    parameters = list(inspect.signature(class_).parameters.values())
    for parameter in parameters:
        named = parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        if named and parameter.default is parameter.empty:
            yield parameter.name


def _describe_user_model(
    code: Callable[..., Any], arguments: Mapping[str, Any] | None
) -> tuple[ModelRecipe, list[str]]:
    file, sha256 = locate_source(code)
    is_class = inspect.isclass(code)
    notes = [] if file else [f"model: {code.__qualname__} stands in no file"]
    if is_class and arguments is None and [*_iter_required_parameters(code)]:
        notes.append(
            f"model: what {code.__qualname__} is built with is not known; name "
            "build=a function without arguments, or arguments="
        )
    recipe = ModelRecipe(
        "user",
        file=file,
        module=code.__module__,
        name=code.__qualname__,
        arguments=convert_to_json(dict(arguments or {})) if is_class else None,
        sha256=sha256,
    )
    return recipe, notes
