"""The weights at the start of a window: the capsule's, and the model's own where it holds none.

In: a capsule, the model that was built. Out: tensors on the CPU by name. Not here: putting them
into the model (`rerun.bench`), weights of a base model (`rerun.pretrained`).
"""

from typing import Any

from postmortem.core.errors import InputError
from postmortem.replay.capsule.opening import Capsule


def collect_initial_weights(capsule: Capsule, model: Any) -> dict[str, Any]:
    """Give all weights and buffers.

    Raises:
        InputError: the capsule's do not fit the model, or it has others.
    """
    weights = capsule.manifest.weights
    kept = capsule.load_tensors(weights.file)
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    wrong = sorted(
        name for name, value in kept.items() if _get_shape(own.get(name)) != _get_shape(value)
    )
    if wrong:
        raise InputError(
            f"the model that was built has no weight {wrong[0][:120]!r} of this shape",
            capsule.folder,
            "install the versions that the capsule names",
        )
    known = {
        *kept,
        *(weight.name for weight in weights.frozen),
        *(alias for _, alias in weights.tied),
    }
    new = sorted(name for name, _ in model.named_parameters() if name not in known)
    if new:
        raise InputError(
            f"the model that was built has the weight {new[0][:120]!r}, of which the capsule knows"
            " nothing",
            capsule.folder,
            "install the versions that the capsule names",
        )
    return {name: kept.get(name, value.detach().cpu()).clone() for name, value in own.items()}


def _get_shape(tensor: Any) -> tuple[int, ...] | None:
    return None if tensor is None else tuple(tensor.shape)
