"""Describe how a model can be built again, and how the loss is computed from its output.

In: a model, what the user names as the loss, calls of it, and what the user says of them. Out: a
`ModelRecipe`, a `LossRecipe`, and what is unknown about them. Not here: weights, building the
model, computing the loss.

Found out where possible, in this order: the user's own function or class, PEFT over transformers,
transformers (class and configuration), a tree of torch.nn, a class in a file that needs no
arguments or keeps them as Lightning's `hparams`. Most torch.nn modules keep their constructor
arguments as attributes of the same names; a tree is checked by building it again on the device
`meta`, which needs no memory.
"""

import dataclasses
import enum
import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import torch

from postmortem.replay.capsule.manifest import BaseWeights, LossRecipe, ModelRecipe

_CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_NO_ARGUMENTS: Final = ("self", "device", "dtype", "args", "kwargs")
_PRESENT: Final = {"bias": ("bias", "in_proj_bias"), "add_bias_kv": ("bias_k",)}
"""Arguments that say whether a parameter is there."""
_RECURRENT: Final = (
    "input_size",
    "hidden_size",
    "num_layers",
    "bias",
    "batch_first",
    "dropout",
    "bidirectional",
)
_PLAIN_ARGUMENTS: Final = (bool, int, float, str, type(None))


class NoTreeError(ValueError):
    """The model is not made of torch.nn modules alone; says which part is not."""


def build_module_tree(module: Any) -> dict[str, Any]:
    """Describe a model.

    Raises:
        NoTreeError: a part of it is of another kind.
    """
    class_ = type(module)
    if getattr(torch.nn, class_.__name__, None) is not class_:
        raise NoTreeError(f"{class_.__module__}.{class_.__qualname__} is not of torch.nn")
    if class_.__name__ in _CONTAINERS:
        children = {name: build_module_tree(child) for name, child in module.named_children()}
        return {"class": class_.__name__, "arguments": {}, "children": children}
    arguments = _extract_arguments(module)
    _prove(module, arguments)
    return {"class": class_.__name__, "arguments": arguments, "children": {}}


def _extract_arguments(module: Any) -> dict[str, Any]:
    if isinstance(module, torch.nn.RNNBase):
        return {name: getattr(module, name) for name in _RECURRENT}
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(type(module).__init__).parameters.items():
        if name in _NO_ARGUMENTS or name.startswith("_"):
            continue
        value = _extract_argument(module, name, parameter.default)
        if _is_plain(value) and value != parameter.default:
            found[name] = value
    return found


def _extract_argument(module: Any, name: str, default: Any) -> Any:
    """Give what a module was built with under a name, as far as that is to be seen in it."""
    value = getattr(module, name, None if name in _PRESENT else default)
    if name in _PRESENT and not isinstance(value, bool):
        return any(getattr(module, attribute, None) is not None for attribute in _PRESENT[name])
    return list(value) if isinstance(value, tuple) else value


def _is_plain(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return all(isinstance(part, _PLAIN_ARGUMENTS) for part in parts)


def _prove(module: Any, arguments: dict[str, Any]) -> None:
    """Build it again on the meta device and compare both."""
    name = type(module).__name__
    try:
        with torch.device("meta"):
            again = type(module)(**arguments)
    except (TypeError, ValueError, RuntimeError) as error:
        raise NoTreeError(f"torch.nn.{name} cannot be described: {error}") from error
    if _get_state_shapes(again) != _get_state_shapes(module) or _format_module(
        again
    ) != _format_module(module):
        raise NoTreeError(f"what torch.nn.{name} was built with is not to be seen in it")


def _format_module(module: Any) -> str:
    """Give its text, in which a list is like a tuple."""
    return repr(module).translate(str.maketrans("[]", "()"))


def _get_state_shapes(module: Any) -> dict[str, Any]:
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}


_PLAIN = (bool, int, float, str, type(None))


def make_plain(value: Any) -> Any:
    """Give a configuration as JSON holds it, with text for what JSON has no form for."""
    if isinstance(value, enum.Enum):
        return make_plain(value.value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): make_plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [make_plain(item) for item in value]
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
        config=make_plain(config.to_dict()),
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
    return dataclasses.replace(recipe, adapter=make_plain(config.to_dict())), notes


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
        arguments=make_plain(dict(arguments or {})) if is_class else None,
        sha256=sha256,
    )
    return recipe, notes


TARGET: Final = "target"
"""The key in a recorded batch under which the target of a loss stands."""
_FUNCTIONS: Final = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "HuberLoss": "huber_loss",
    "KLDivLoss": "kl_div",
    "L1Loss": "l1_loss",
    "MSELoss": "mse_loss",
    "NLLLoss": "nll_loss",
    "SmoothL1Loss": "smooth_l1_loss",
}
_ARGUMENTS: Final = (
    "reduction",
    "ignore_index",
    "label_smoothing",
    "beta",
    "delta",
    "log_target",
    "weight",
    "pos_weight",
)


class Criterion:
    """The loss of a loop, as the user named it."""

    def __init__(self, named: Any) -> None:
        """Take a function of torch.nn.functional, a loss of torch.nn or a function of the user."""
        self.function = named
        self.notes: dict[str, None] = {}
        self._arguments: dict[str, Any] = {}
        self._output: str | None = None
        self._inputs: tuple[str, ...] | None = None
        inner = named.func if isinstance(named, functools.partial) else named
        if isinstance(named, torch.nn.Module):
            self.name = _FUNCTIONS.get(type(named).__name__, "")
            self._take(
                {
                    argument: getattr(named, argument)
                    for argument in _ARGUMENTS
                    if hasattr(named, argument)
                }
            )
        else:
            name = getattr(inner, "__name__", "")
            is_known = getattr(torch.nn.functional, name, None) is inner
            self.name = name if is_known else ""
        self._inner = inner
        if isinstance(named, functools.partial):
            self._take(named.keywords)

    @property
    def is_hooked(self) -> bool:
        """Whether it is a module, whose calls are seen without the loop's help."""
        return isinstance(self.function, torch.nn.Module)

    @property
    def is_users(self) -> bool:
        """Whether it is a function of the user's, called with the model and a batch."""
        return not self.is_hooked and not self.name

    def record_call(self, prediction: Any, output: Any, keywords: Mapping[str, Any]) -> None:
        """Note a call: what it was given, and what the model gave."""
        self._take({key: value for key, value in keywords.items() if key != TARGET})
        if prediction is output:
            self._output = None
            return
        parts = output.items() if isinstance(output, Mapping) else vars(output).items()
        self._output = next((key for key, part in parts if part is prediction), None)
        if self._output is None:
            self.notes["loss: of something else than the model gives; name loss=a function"] = None

    def _take(self, arguments: Mapping[str, Any]) -> None:
        for key, value in arguments.items():
            if isinstance(value, torch.Tensor):
                self.notes[f"loss: its argument {key} is a tensor"] = None
            elif value is not None:
                self._arguments[key] = make_plain(value)

    def describe(self, inputs: tuple[str, ...]) -> LossRecipe:
        """Describe it; `inputs` are the model's keys in the batch."""
        if self.name:
            return LossRecipe(
                "torch",
                function=self.name,
                arguments=self._arguments,
                inputs=list(inputs),
                target=TARGET,
                output=self._output,
            )
        return describe_user_loss(type(self.function) if self.is_hooked else self._inner)


def describe_user_loss(function: Any, further: tuple[Any, ...] = ()) -> LossRecipe:
    """Describe a function `(model, batch, *further)` of the user's."""
    file, sha256 = locate_source(inspect.unwrap(function))
    return LossRecipe("user", file=file, name=function.__qualname__, further=further, sha256=sha256)
