"""Hooks of the model, the loss and the optimiser that capture batches and losses.

In: a tape, a subject, a criterion. Out: the hooks, and how they are removed. Not here: what
is kept.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch

from postmortem.replay.recorder.criteria import TARGET, Criterion
from postmortem.replay.recorder.host_copies import to_host
from postmortem.replay.recorder.tape import Tape

Removal = Callable[[], None]


def name_inputs(model: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Give the inputs of a forward pass by the names of its signature, where each has one."""
    if not arguments:
        return dict(keywords)
    try:
        bound = inspect.signature(type(model).forward).bind(model, *arguments, **keywords)
    except (TypeError, ValueError):
        return {"args": list(arguments), **keywords}
    kinds = bound.signature.parameters
    inputs: dict[str, Any] = {}
    for name, value in list(bound.arguments.items())[1:]:
        if kinds[name].kind is inspect.Parameter.VAR_POSITIONAL:
            return {"args": list(arguments), **keywords}
        is_rest = kinds[name].kind is inspect.Parameter.VAR_KEYWORD
        inputs |= value if is_rest else {name: value}
    return inputs


class LoopHooks:
    """Hooks that pass a model's inputs, outputs and losses to a tape."""

    def __init__(self, tape: Tape, criterion: Criterion | None) -> None:
        """Hook nothing yet."""
        self.tape, self.criterion = tape, criterion
        self.inputs: tuple[str, ...] = ()
        self.autocast: tuple[bool, str, str] | None = None
        self.is_driven = False
        """Whether the framework's callbacks report the batches instead of hooks."""
        self.samples: Callable[[Any], tuple[int | None, ...] | None] = lambda _: None
        self._output: Any = None

    def before_forward(
        self, model: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> None:
        """Keep what goes in."""
        if model.training and torch.is_grad_enabled() and not self.is_driven:
            if hasattr(model, "_orig_mod"):
                self.autocast = get_autocast_state(self.tape.subject.device.type)
            inputs = name_inputs(self.tape.subject.model, arguments, keywords)
            self.inputs = tuple(inputs)
            self.tape.begin(inputs, self.samples(inputs))

    def after_forward(self, model: Any, _arguments: Any, _keywords: Any, output: Any) -> None:
        """Keep the loss, if the model gives one."""
        if not model.training or not torch.is_grad_enabled() or self.is_driven:
            return
        if self.criterion is not None:
            self._output = output
            return
        loss = find_loss(output)
        if loss is None:
            self.tape.notes["loss: the model gives none; name loss="] = None
        else:
            self.tape.note_loss(loss)

    def keep_target(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Keep the target that a loss is computed with."""
        if self.criterion is None or not self.tape.step.passes:
            return
        kept = self.tape.step.passes[-1]
        target = arguments[1] if len(arguments) > 1 else keywords.get(TARGET)
        if arguments:
            self.criterion.record_call(arguments[0], self._output, keywords)
        if isinstance(target, torch.Tensor) and isinstance(kept.tree.get("items"), dict):
            key = f"{self.tape.step.step}.{len(self.tape.step.passes) - 1}/{TARGET}"
            kept.tensors[key] = to_host(target)
            kept.tree["items"][TARGET] = {"kind": "tensor", "key": key}
        self._output = None

    def watch_autocast(self, model: Any) -> list[Removal]:
        """See once, in the first module that is called within, whether autocast is in force."""
        leaves = [
            module
            for module in model.modules()
            if not [*module.children()] and [*module.parameters()]
        ]
        handles: list[Any] = []

        def look(*_: Any) -> None:
            if torch.compiler.is_compiling():
                return
            self.autocast = get_autocast_state(self.tape.subject.device.type)
            for handle in handles:
                handle.remove()

        handles += [leaf.register_forward_pre_hook(look) for leaf in leaves[:1]]
        return [handle.remove for handle in handles]


def find_loss(output: Any) -> Any:
    """Find the loss in what a model gives: `.loss`, or the sum of a dictionary's losses."""
    loss = getattr(output, "loss", None)
    if loss is not None or not isinstance(output, Mapping):
        return loss
    losses = [value for key, value in output.items() if "loss" in str(key)]
    losses = [value for value in losses if isinstance(value, torch.Tensor)]
    if len(losses) == 1 and losses[0].numel() == 1:
        return losses[0]
    return (
        torch.stack([value.detach().float().mean() for value in losses]).sum() if losses else None
    )


def get_autocast_state(device: str) -> tuple[bool, str, str]:
    """Tell whether autocast is in force on a kind of device, in which type."""
    try:
        is_on = torch.is_autocast_enabled(device)
        dtype = torch.get_autocast_dtype(device)
    except TypeError:  # torch before 2.4 asks each kind of device by a function of its own
        is_on = torch.is_autocast_cpu_enabled() if device == "cpu" else torch.is_autocast_enabled()
        dtype = (
            torch.get_autocast_cpu_dtype() if device == "cpu" else torch.get_autocast_gpu_dtype()
        )
    return is_on, str(dtype).removeprefix("torch."), device
