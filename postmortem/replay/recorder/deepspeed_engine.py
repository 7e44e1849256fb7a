"""The recorder for a DeepSpeed engine.

    with record_deepspeed(engine):
        for batch in loader:
            ...

In: an engine. Out: a `Recorder`. Not here: what is recorded.

The engine reduces, clips and steps in one call, and computes the norm of the gradients in it: that
is read after the call, where the engine waits for it anyway. Weights of ZeRO stage 3 and states of
stages 1 to 3 are gathered from all processes at each snapshot: all take it at the same step.
"""

from collections.abc import Iterator
from typing import Any

import deepspeed
import torch
from deepspeed.utils import safe_get_full_optimizer_state

from postmortem.replay.recorder.loop import Recorder, attach_model_hooks
from postmortem.replay.recorder.recorded_state import Subject
from postmortem.replay.recorder.recording import Recording

_STATES = ("exp_avg", "exp_avg_sq", "momentum_buffer")


class ShardedSubject(Subject):
    """A model and optimiser that are sharded over all processes."""

    def __init__(self, engine: Any) -> None:
        """Find the parts."""
        super().__init__(engine.module, engine.optimizer, None)
        self.engine = engine
        self.scaler = getattr(engine.optimizer, "loss_scaler", None) if _is_half(engine) else None

    def get_weights(self) -> Iterator[tuple[str, Any]]:
        """Give the trainable weights, gathered one by one where they are in parts."""
        for name, parameter in self.trainable.items():
            if not hasattr(parameter, "ds_id"):
                yield name, parameter.detach()
                continue
            with deepspeed.zero.GatheredParameters([parameter]):
                yield name, parameter.detach().cpu().clone()

    def get_groups(self) -> Iterator[dict[str, Any]]:
        """Give the groups with the parameters that the shards were made of."""
        optimizer = self.engine.optimizer
        wholes = getattr(optimizer, "bit16_groups", None) or getattr(optimizer, "fp16_groups", None)
        for number, group in enumerate(super().get_groups()):
            if not group["parameters"] and wholes is not None and number < len(wholes):
                names = [self.names.get(id(tensor)) for tensor in wholes[number]]
                group["parameters"] = [name for name in names if name is not None]
            yield group

    def get_optimizer_states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the states, gathered where they are in parts."""
        states = dict(super().get_optimizer_states())
        yield from states.items()
        for name, parameter in self.trainable.items():
            is_shard = hasattr(parameter, "ds_id") or hasattr(parameter, "_hp_mapping")
            if is_shard and name not in states and self.engine.global_steps:
                found = {key: safe_get_full_optimizer_state(parameter, key) for key in self._keys()}
                yield name, {key: value.cpu() for key, value in found.items() if value is not None}

    def _keys(self) -> list[str]:
        inner = getattr(self.engine.optimizer, "optimizer", None)
        states = list(getattr(inner, "state", {}).values())
        return [key for key in _STATES if states and key in states[0]]


def record_deepspeed(engine: Any, **options: Any) -> Recorder:
    """Give the recorder of an engine; its options are those of `Recorder`."""
    norm = float(engine.gradient_clipping() or 0)
    named = {"framework": "deepspeed", "clipping": norm or None, **options}
    return EngineRecorder(engine, None, **named)


class EngineRecorder(Recorder):
    """A recorder that hooks the steps of an engine."""

    def _subject(self) -> Subject:
        return ShardedSubject(self._parts[0])

    def start(self, *_: Any) -> Recording | None:
        """Begin to record."""
        engine = self._parts[0]
        recording = super().start(
            attach_model_hooks, lambda recording: _attach_engine_hooks(engine, recording)
        )
        if recording is not None and (_is_half(engine) or engine.bfloat16_enabled()):
            recording.notes.append("optimizer state: its copies of the weights in float32")
        return recording


def _is_half(engine: Any) -> bool:
    return bool(engine.fp16_enabled())


def _attach_engine_hooks(engine: Any, recording: Recording) -> None:
    original, tape = engine.step, recording.tape
    is_shared = tape.is_in_step_with_others = recording.options.ranks > 1
    steps = 0

    def step(*arguments: Any, **keywords: Any) -> Any:
        nonlocal steps
        is_whole = engine.is_gradient_accumulation_boundary()
        rates = tuple(map(float, engine.get_lr()))
        if is_whole:
            recording.prepare_step(_scale(engine))
        done = original(*arguments, **keywords)
        if is_whole:
            steps += 1
            norm = engine.get_global_grad_norm()
            recording.before_step(float("inf") if _has_overflown(engine) else norm, rates)
            recording.after_step()
            if is_shared and steps % tape.every == 0 and _has_one_stopped(engine, recording):
                engine.step = original
                recording.let_go()
        return done

    engine.step = step
    if not is_shared:
        recording.removals.append(lambda: setattr(engine, "step", original))
    if isinstance(engine.optimizer, torch.optim.Optimizer):  # no shards: gradients are in place
        hook = engine.optimizer.register_step_pre_hook(lambda *_: recording.before_step())
        recording.removals.append(hook.remove)


def _has_one_stopped(engine: Any, recording: Recording) -> bool:
    """Ask all processes, before the next snapshot: who gathers alone waits for ever."""
    flag = torch.tensor([int(recording.is_off)], device=engine.device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return bool(flag.item())


def _scale(engine: Any) -> float | None:
    scale = getattr(engine.optimizer, "cur_scale", None) if _is_half(engine) else None
    return None if scale is None else float(scale)


def _has_overflown(engine: Any) -> bool:
    return bool(getattr(engine.optimizer, "overflow", False))
