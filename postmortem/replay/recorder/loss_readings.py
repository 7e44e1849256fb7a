"""Read loss and gradient norm before the optimiser steps, without waiting for the device.

In: the gradients, figures that lie on the device. Out: the figures as numbers, as soon as they have
arrived. Not here: what they mean.

One fused reduction gives the norm of all gradients: it is not finite exactly if one of them is not
(or so large that its square is not). On a CUDA device the figures go into pinned memory with an
event, which shows later whether they have arrived.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch


class Reading:
    """Figures on their way from the device to the host."""

    def __init__(self, figures: Sequence[Any]) -> None:
        """Send them off."""
        device = figures[0].device
        exact = torch.float32 if device.type == "mps" else torch.float64
        moved = [
            figure.detach().reshape(()).to(device, exact, non_blocking=True) for figure in figures
        ]
        held = torch.stack(moved)
        self._arrival: Any = None
        if device.type == "cuda":
            self._host = torch.empty(held.shape, dtype=exact, pin_memory=True)
            self._host.copy_(held, non_blocking=True)
            self._arrival = torch.cuda.Event()
            self._arrival.record()
        else:
            self._host = held.cpu()

    def get_figures(self, *, wait: bool = False) -> list[float] | None:
        """Give the figures, None if they have not come over and nobody is to wait."""
        if self._arrival is not None:
            if wait:
                self._arrival.synchronize()
            elif not self._arrival.query():
                return None
        return [float(number) for number in self._host.tolist()]


@torch.no_grad()
def compute_gradient_norm(parameters: Iterable[Any]) -> Any:
    """Give the norm of all gradients as a tensor on the device, None where there is none."""
    groups: dict[tuple[Any, Any], list[Any]] = {}
    for parameter in parameters:
        if parameter.grad is not None:
            gradient = parameter.grad
            gradient = gradient.to_local() if hasattr(gradient, "to_local") else gradient
            gradient = gradient.coalesce().values() if gradient.is_sparse else gradient
            groups.setdefault((gradient.device, gradient.dtype), []).append(gradient)
    norms = [norm for held in groups.values() for norm in _compute_norms(held)]
    if not norms:
        return None
    first = norms[0].device
    if len({device for device, _ in groups}) > 1:
        norms = [norm.to(first) for norm in norms]
    if len(groups) > 1:
        norms = [norm.to(torch.float64) for norm in norms]
    return torch.linalg.vector_norm(torch.stack(norms), 2)


def _compute_norms(gradients: list[Any]) -> list[Any]:
    """Give the norm of each, in float32 at least: that of halves would overflow by itself."""
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    if gradients[0].dtype != wide:
        return [torch.linalg.vector_norm(gradient, 2, dtype=wide) for gradient in gradients]
    return list(torch._foreach_norm(gradients, 2))  # noqa: SLF001 -- clip_grad_norm_ stands on it too
