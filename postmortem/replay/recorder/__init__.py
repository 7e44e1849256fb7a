"""The recorder runs within a training, keeps its last steps and writes a capsule when they fail.

    from postmortem.recorder import Recorder            # a loop of one's own
    from postmortem.recorder import TrainerRecorder     # transformers: trainer.add_callback(…)
    from postmortem.recorder import LightningRecorder   # Lightning: Trainer(callbacks=[…])
    from postmortem.recorder import MMEngineRecorder    # mmengine, XTuner 0.1: custom_hooks
    from postmortem.recorder import record_accelerate, record_deepspeed

`Recorder` is what users hold. It makes a `Recording`, which receives the events of the loop
(`LoopHooks` hears those of the model); the `Tape` keeps the steps, its `SnapshotRing` two copies of
the state of the `Subject` (model, optimiser, scaler).

It needs torch and safetensors, each attachment its framework, and of the rest of the program the
capsule only.
"""

import importlib
from typing import Any

_PLACES = {
    "Recorder": "loop",
    "TrainerRecorder": "trainer_callback",
    "LightningRecorder": "lightning_callback",
    "MMEngineRecorder": "mmengine_hook",
    "record_accelerate": "loop",
    "record_deepspeed": "deepspeed_engine",
}

__all__ = [*_PLACES]  # noqa: PLE0604 -- names


def __getattr__(name: str) -> Any:
    """Import what is asked for, and its framework with it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
