"""Describe how the loss is computed from a model's output.

In: what the user names as the loss, and calls of it. Out: a `LossRecipe`, and what is unknown about
it. Not here: computing it.
"""

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Final

import torch

from postmortem.replay.capsule.manifest import LossRecipe
from postmortem.replay.recorder.recipes import convert_to_json, locate_source

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
                self._arguments[key] = convert_to_json(value)

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
