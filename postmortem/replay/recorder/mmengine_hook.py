"""The recorder as a hook of mmengine's Runner, for XTuner 0.1 and 0.2 too, which use it.

    from postmortem.recorder import MMEngineRecorder
    custom_hooks = [dict(type=MMEngineRecorder)]   # or runner.register_hook

In: the Runner's events. Out: a recording. Not here: what is recorded; a FlexibleRunner with the
strategy of DeepSpeed, which steps elsewhere; XTuner from version 1 on, with a trainer of its own.

XTuner's models wrap one of transformers as `llm`: that is recorded, so replay needs no XTuner.
"""
# ruff: noqa: ARG002 -- the framework calls each method with all of these

from pathlib import Path
from typing import Any

from mmengine.hooks import Hook
from mmengine.registry import HOOKS

from postmortem.replay.capsule.manifest import Clipping
from postmortem.replay.recorder.loop import USUAL, Recorder, attach_exception_hook
from postmortem.replay.recorder.recorded_state import strip_model_wrappers
from postmortem.replay.recorder.recording import LOG


@HOOKS.register_module()
class MMEngineRecorder(Hook):
    """Records what a Runner trains."""

    priority = "VERY_LOW"

    def __init__(self, **options: Any) -> None:
        """Take the options of `Recorder`."""
        self._options = options
        self._recorder: Recorder | None = None

    def before_train(self, runner: Any) -> None:
        """Begin to record."""
        if "DeepSpeed" in type(getattr(runner, "strategy", None)).__name__:
            LOG.warning("postmortem: nothing is recorded: the strategy is DeepSpeed's")
            return
        wrapper = runner.optim_wrapper
        clipping = getattr(wrapper, "clip_grad_kwargs", None) or {}
        model = strip_model_wrappers(runner.model)
        inner = getattr(model, "llm", None)
        options = {
            "framework": "mmengine" if inner is None else "xtuner",
            "folder": Path(runner.work_dir) / "capsules",
            "loader": runner.train_dataloader,
            "arguments": _get_model_arguments(runner) if inner is None else None,
            "clipping": Clipping(float(clipping["max_norm"]), float(clipping.get("norm_type", 2)))
            if "max_norm" in clipping
            else None,
            **self._options,
        }
        scaler = getattr(wrapper, "loss_scaler", None)
        self._recorder = Recorder(inner or model, wrapper, scaler=scaler, **options)
        self._recorder.start(*USUAL, attach_exception_hook)

    def after_train(self, runner: Any) -> None:
        """Look at the last steps once more, and let go."""
        if self._recorder is not None:
            self._recorder.stop()

    def write(self, message: str = "") -> Path | None:
        """Write a capsule now; gives its folder."""
        return self._recorder.write(message) if self._recorder is not None else None


def _get_model_arguments(runner: Any) -> dict[str, Any] | None:
    """Give what the model was built with, if that stands in the configuration."""
    model = getattr(runner.cfg, "model", None)
    to_dict = getattr(model, "to_dict", None)
    if to_dict is None:
        return None
    arguments: dict[str, Any] = to_dict()
    arguments.pop("type", None)
    return arguments
