"""Describe a model made of torch.nn modules alone as a JSON tree.

In: a module. Out: `{"class": …, "arguments": …, "children": …}`, or the reason why there is none.
Not here: models of transformers, users' classes (`recorder.recipes`), building it again.

Most torch.nn modules keep their constructor arguments as attributes of the same names; the tree is
checked by building it again on the device `meta`, which needs no memory.
"""

import inspect
from typing import Any, Final

import torch

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
_PLAIN: Final = (bool, int, float, str, type(None))


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
    return all(isinstance(part, _PLAIN) for part in parts)


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
