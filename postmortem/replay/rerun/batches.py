"""Batches of a window: taken to the device, cut into samples, previewed, changed.

In: batches as a loop has them (trees of tensors and plain values). Out: others of the same form, or
texts; functions that change a batch at a place: labels, masks, the side of the padding. Not here:
how they are stored (`capsule.json_values`), which changes apply (`rerun.counterfactuals`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch

from postmortem.core.message import Message, quote, say
from postmortem.replay.rerun.regime import MicroPlace

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


_COUNT: Final = "num_items_in_batch"
"""What the Trainer divides the sum of the losses by."""


def build_label_filler(target: Any, ignored: int) -> Any:
    """Give every sample without a label one that counts: what it predicts does not matter."""

    def change(_: MicroPlace, batch: Any) -> Any:
        found = find_labels(batch, target)
        if found is None:
            return batch
        path, labels = found
        shown = labels.clone()
        rows = shown.reshape(shown.shape[0], -1)
        rows[(rows[:, 1:] if rows.shape[1] > 1 else rows).eq(ignored).all(dim=1)] = 0
        changed = replace_tensors(batch, {path: shown})
        return _update_label_count(changed, int((shown != labels).sum()))

    return change


def _update_label_count(batch: Any, more: int) -> Any:
    """Tell a batch that brings the number of its labels along of those that were shown."""
    if not isinstance(batch, Mapping) or batch.get(_COUNT) is None or not more:
        return batch
    return {**batch, _COUNT: batch[_COUNT] + more}


def mask_off(_: MicroPlace, batch: Any) -> Any:
    """Let everything be looked at."""
    return replace_tensors(
        batch,
        {
            path: torch.full_like(mask, is_looked_at)
            for path, mask, is_looked_at in find_attention_masks(batch)
        },
    )


def shift_padding_right(_: MicroPlace, batch: Any) -> Any:
    """Move the padding of every row to its right."""
    masks = [(mask, looked) for _, mask, looked in find_attention_masks(batch) if mask.dim() == 2]
    if not masks:
        return batch
    mask, looked = masks[0]
    shown = mask.bool() if looked else ~mask.bool()
    first = shown.long().argmax(dim=1)
    columns = torch.arange(mask.shape[1], device=mask.device)
    order = (columns[None, :] + first[:, None]) % mask.shape[1]

    def roll(_: str, tensor: Any) -> Any:
        is_rows = tensor.dim() >= 2 and tensor.shape[:2] == mask.shape
        return (
            tensor[torch.arange(len(first), device=mask.device)[:, None], order]
            if is_rows
            else tensor
        )

    return convert_tensors(batch, roll)


def list_padded_samples(batch: Any) -> list[int]:
    """List the samples of which a mask hides a part."""
    hidden: set[int] = set()
    for _, mask, looked in find_attention_masks(batch):
        if mask.shape[0] != count_samples(batch):
            continue
        shown = mask.bool() if looked else ~mask.bool()
        hidden.update(int(row) for row in (~shown.flatten(1).all(dim=1)).nonzero().reshape(-1))
    return sorted(hidden)


def select_unpadded_samples(_: MicroPlace, batch: Any) -> Any:
    """Keep the samples of which no mask hides a part."""
    hidden = list_padded_samples(batch)
    rest = [row for row in range(count_samples(batch)) if row not in hidden]
    return select_samples(batch, rest) if rest else None


def replace_tensors(batch: Any, others: Mapping[str, Any]) -> Any:
    """Give a batch with some tensors replaced."""
    return convert_tensors(batch, others.get)
