"""Record a training step by step, and write the capsule when it should be kept.

In: the events of a loop: a batch, a loss, a step, from hooks of the model, the loss and the
optimiser. Out: a capsule in a folder; how the hooks are removed. Not here: attaching it to a loop
(`recorder.loop`, the attachments), what a capsule says (`recorder.capsule_content`).

It never raises into the training: an error is reported once, and the recording ends.
"""

import contextlib
import functools
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from postmortem.replay.capsule.manifest import Clipping, LossRecipe, Reason
from postmortem.replay.capsule.writing import write_capsule
from postmortem.replay.recorder.capsule_content import RunDetails, build_content
from postmortem.replay.recorder.recipes import TARGET, Criterion, build_model_recipe
from postmortem.replay.recorder.recorded_state import to_host
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


LOG: Final = logging.getLogger("postmortem.recorder")
Method = Callable[..., Any]


def wrap_safely(method: Method) -> Method:
    """Keep what goes wrong in the recorder out of the training."""

    @functools.wraps(method)
    def safe(self: "Recording", *arguments: Any, **keywords: Any) -> Any:
        if self.is_off:
            return None
        try:
            return method(self, *arguments, **keywords)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the training goes on
            self.give_up(f"{type(error).__name__}: {error}")
            return None

    return safe


@dataclass(slots=True)
class Options:
    """What a user may set, of every attachment."""

    loss: Any = None
    loader: Any = None
    folder: str | Path = "capsules"
    every: int = 32
    clipping: float | Clipping | None = None
    build: Callable[..., Any] | None = None
    arguments: Mapping[str, Any] | None = None
    memory: int = 16 << 30
    most_bytes: int = 8 << 30
    framework: str = "pytorch"
    rank: int = 0
    ranks: int = 1


class Recording:
    """One training that is being recorded."""

    def __init__(self, tape: Tape, options: Options) -> None:
        """Hold the parts; hooks are the business of who makes it."""
        self.tape, self.options = tape, options
        self.criterion = None if options.loss is None else Criterion(options.loss)
        self.hooks = LoopHooks(tape, self.criterion)
        self.removals: list[Removal] = []
        self.written: list[Path] = []
        self.is_off = False
        self.loss_recipe: LossRecipe | None = None
        """Set by an attachment that knows how its framework computes the loss."""
        self.notes: list[str] = []
        """What an attachment knows to be missing."""

    @wrap_safely
    def batch(self, batch: Any, samples: tuple[int | None, ...] | None = None) -> None:
        """Keep a batch that the loop reports itself."""
        self.hooks.is_driven = True
        self.tape.begin(batch, samples or self.hooks.samples(batch))

    def loss(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute the loss with the function that was named as `loss`, and keep what it was given.

        Called as that is: `recorder.loss(prediction, target)`, or `recorder.loss(model, batch)`
        with a function of your own. A loss that is computed elsewhere goes in alone.
        """
        if self.criterion is None or (len(arguments) == 1 and not keywords):
            self.note_loss(arguments[0])
            return arguments[0]
        self._before_loss(self.criterion, arguments, keywords)
        computed = self.criterion.function(*arguments, **keywords)
        if not self.criterion.is_hooked:
            self.note_loss(computed)
        return computed

    @wrap_safely
    def _before_loss(
        self, criterion: Criterion, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> None:
        if criterion.is_users:
            self.batch(arguments[1] if len(arguments) > 1 else dict(keywords))
        elif not criterion.is_hooked:
            self.hooks.keep_target(arguments, keywords)

    @wrap_safely
    def note_loss(self, loss: Any, factor: float | None = None) -> None:
        """Keep the loss of the pass under way; with a factor that is known, its gradient is not."""
        self.tape.note_loss(loss, is_whole=factor is None)
        if factor is not None and self.tape.step.passes:
            self.tape.step.figures[f"known factor {len(self.tape.step.passes) - 1}"] = factor

    @wrap_safely
    def before_step(self, norm: Any = None, rates: tuple[float, ...] = ()) -> None:
        """Look at loss and gradients, before the optimiser changes anything."""
        self.tape.before_step(norm, rates)
        self.judge()

    @wrap_safely
    def prepare_step(self, scale: float | None) -> None:
        """Keep what a step changes, where loss and gradients are looked at after it only."""
        self.tape.ring.settle()
        if scale is not None:
            self.tape.step.figures["scale"] = scale

    @wrap_safely
    def after_step(self) -> None:
        """Begin the next step."""
        self.tape.after_step()

    def judge(self, *, wait: bool = False) -> None:
        """Write a capsule if a step whose figures are there asks for one, and stop with it."""
        reason = self.tape.find_suspicion(wait=wait)
        if reason is not None:
            self._write(reason)
            self.let_go()

    @wrap_safely
    def write(self, message: str = "") -> Path | None:
        """Write a capsule of the last steps because it is asked for; the recording goes on."""
        whole = [step.step for step in self.tape.steps[:-1] if step.passes]
        return self._write(Reason("asked", (whole or [self.tape.step.step])[-1], message))

    @wrap_safely
    def end(self, error: BaseException | None) -> None:
        """Look at what is not looked at yet; an exception is a reason by itself."""
        with contextlib.suppress(RuntimeError):  # a device that has failed tells nothing more
            self.judge(wait=True)
        if not self.is_off and isinstance(error, Exception):
            description = f"{type(error).__name__}: {error}"
            self._write(Reason("exception", self.tape.step.step, description[:500]))
        self.let_go()

    def _write(self, reason: Reason) -> Path | None:
        """Write it, unless another process is to: each has the same weights, and its own batch."""
        if self.options.rank and reason.kind not in {"nonfinite-loss", "exception"}:
            return None
        manifest, tensors = build_content(
            self.tape, self._describe_run(), reason, self.options.most_bytes
        )
        process = f"-rank{self.options.rank}" if self.options.ranks > 1 else ""
        name = f"step{reason.step}-{reason.kind}{process}.capsule"
        path = write_capsule(Path(self.options.folder) / name, manifest, tensors)
        self.written.append(path)
        LOG.warning(
            "postmortem: %s at step %d%s; capsule written: %s (it holds training data); "
            "next: postmortem replay %s",
            reason.kind,
            reason.step,
            f": {reason.message}" if reason.message else "",
            path,
            path,
        )
        return path

    def _describe_run(self) -> RunDetails:
        options, subject = self.options, self.tape.subject
        model, notes = build_model_recipe(subject.model, options.build, options.arguments)
        loss = self.loss_recipe or LossRecipe()
        if self.criterion is not None:
            loss = self.criterion.describe(self.hooks.inputs)
            notes += self.criterion.notes
        clipping = options.clipping
        if isinstance(clipping, int | float):
            clipping = Clipping(float(clipping)) if clipping > 0 else None
        if subject.is_in_parts:
            notes.append("weights and optimizer state: the parts of the other processes (FSDP)")
        if options.ranks > 1:
            notes.append(f"batches of the other {options.ranks - 1} processes")
        return RunDetails(
            model,
            loss,
            options.framework,
            clipping,
            self.hooks.autocast,
            [*notes, *self.notes],
        )

    def give_up(self, what: str) -> None:
        """Say once what is wrong, and let go."""
        self.let_go()
        LOG.warning("postmortem: the recorder stops, the training goes on: %s", what)

    def let_go(self) -> None:
        """Take off all hooks, and give the memory back."""
        self.is_off = True
        for remove in self.removals:
            remove()
        self.removals.clear()
        self.tape.steps[:-1] = []
        self.tape.ring.clear()
