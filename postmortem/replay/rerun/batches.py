"""Batches of a window: taken to the device, cut into samples, previewed.

In: batches as a loop has them (trees of tensors and plain values). Out: others of the same form, or
texts. Not here: how they are stored (`capsule.trees`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch

from postmortem.core.message import Message, quote, say

IGNORED: Final = -100
_LABELS: Final = ("labels", "label", "target", "targets")
_INVERTED: Final = ("padding_mask", "pad_mask", "ignore")
"""In a mask of such a name, True is mostly what is not looked at."""
_LOOKED_AT: Final = ("attention_mask", "decoder_attention_mask", "input_mask")
"""In a mask of such a name, 1 is what is looked at."""


def convert_tensors(batch: Any, change: Callable[[str, Any], Any], path: str = "") -> Any:
    """Apply a function to every tensor of a batch; it gets the path of the tensor."""
    if torch.is_tensor(batch):
        return change(path, batch)
    if isinstance(batch, Mapping):
        return {
            key: convert_tensors(value, change, f"{path}.{key}" if path else key)
            for key, value in batch.items()
        }
    if isinstance(batch, list | tuple):
        items = [
            convert_tensors(item, change, f"{path}.{number}" if path else str(number))
            for number, item in enumerate(batch)
        ]
        return tuple(items) if isinstance(batch, tuple) else items
    return batch


def iter_tensors(batch: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Go through the tensors of a batch, each with its path."""
    found: list[tuple[str, Any]] = []

    def note(where: str, tensor: Any) -> Any:
        found.append((where, tensor))
        return tensor

    convert_tensors(batch, note, path)
    yield from found


def count_samples(batch: Any) -> int:
    """Give the number of samples: the first side that most tensors share; 0 if there is none."""
    sides = Counter(tensor.shape[0] for _, tensor in iter_tensors(batch) if tensor.dim() > 0)
    return int(sides.most_common(1)[0][0]) if sides else 0


def select_samples(batch: Any, samples: Sequence[int]) -> Any:
    """Give a batch of these samples alone."""
    size = count_samples(batch)

    def cut(_: str, tensor: Any) -> Any:
        is_batched = tensor.dim() > 0 and tensor.shape[0] == size
        return tensor[torch.tensor(samples, device=tensor.device)] if is_batched else tensor

    return convert_tensors(batch, cut)


def find_labels(batch: Any, target: Any) -> tuple[str, Any] | None:
    """Find the labels of a batch: whole numbers under a name that says so, or the loss's target."""
    named = {str(target)} if target is not None else set()
    for path, tensor in iter_tensors(batch):
        is_named = path in named or path.rpartition(".")[2] in _LABELS
        if is_named and not tensor.is_floating_point() and tensor.dtype != torch.bool:
            return path, tensor
    return None


def find_attention_masks(batch: Any) -> list[tuple[str, Any, bool]]:
    """Find the attention masks: path, tensor, whether True (or 1) is what is looked at."""
    found = []
    for path, tensor in iter_tensors(batch):
        name = path.rpartition(".")[2].lower()
        if "mask" not in name or "loss" in name or "label" in name or tensor.dim() < 2:
            continue
        is_binary = tensor.dtype == torch.bool or bool(((tensor == 0) | (tensor == 1)).all())
        if is_binary:
            shown = _infer_mask_polarity(batch, tensor)
            is_inverted = any(word in name for word in _INVERTED)
            found.append((path, tensor, not is_inverted if shown is None else shown))
    return found


def is_mask_known(batch: Any) -> bool:
    """Say whether it is sure of each mask which of its values is looked at."""
    return all(
        path.rpartition(".")[2].lower() in _LOOKED_AT
        or _infer_mask_polarity(batch, mask) is not None
        for path, mask, _ in find_attention_masks(batch)
    )


def _infer_mask_polarity(batch: Any, mask: Any) -> bool | None:
    """Infer which mask value marks real tokens: padding is one token repeated.

    None if the tokens do not show it.
    """
    for ids in find_token_ids(batch):
        if ids.shape == mask.shape:
            on, off = (len(ids[mask.bool() == side].unique()) for side in (True, False))
            if min(on, off) == 1 < max(on, off):
                return bool(on > off)
    return None


def find_token_ids(batch: Any) -> list[Any]:
    """Find the tensors of whole numbers that could be ids of tokens."""
    return [
        tensor
        for path, tensor in iter_tensors(batch)
        if not tensor.is_floating_point()
        and tensor.dtype != torch.bool
        and "mask" not in path
        and path.rpartition(".")[2] not in _LABELS
    ]


def describe_sample(batch: Any, sample: int) -> tuple[Message, ...]:
    """Tell of a sample what its tensors look like: shapes, types and ranges, no contents."""
    size, texts = count_samples(batch), []
    for path, tensor in iter_tensors(batch):
        if tensor.dim() == 0 or tensor.shape[0] != size:
            continue
        texts.append(_describe_tensor(path or "batch", tensor[sample]))
    return tuple(texts)


def _describe_tensor(path: str, tensor: Any) -> Message:
    about = f"{path}: {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    numbers = tensor.reshape(-1)
    if not tensor.is_floating_point():
        if not numbers.numel():
            return quote(about)
        low, high = int(numbers.min()), int(numbers.max())
        return quote(f"{about} {low} … {high}")
    wide = numbers.double()
    good = wide[torch.isfinite(wide)]
    span = f" {good.min():.4g} … {good.max():.4g}" if good.numel() else ""
    nans, infs = int(torch.isnan(wide).sum()), int(torch.isinf(wide).sum())
    if not nans + infs:
        return quote(f"{about}{span}")
    return say(
        "{about}{span}; {nans} NaN, {infs} inf",
        about=about,
        span=span,
        nans=nans,
        infs=infs,
    )
