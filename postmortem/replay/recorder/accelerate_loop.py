"""The recorder for a loop with Accelerate.

    with record_accelerate(accelerator, model, optimizer):
        for batch in loader:
            ...

In: an Accelerator and what it prepared. Out: a `Recorder`. Not here: what is recorded.
"""

from typing import Any

from postmortem.replay.recorder.loop import Recorder


def record_accelerate(accelerator: Any, model: Any, optimizer: Any, **options: Any) -> Recorder:
    """Give the recorder of a loop; its options are those of `Recorder`."""
    named = {"framework": "accelerate", **options}
    return Recorder(model, optimizer, scaler=getattr(accelerator, "scaler", None), **named)
