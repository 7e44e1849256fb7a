"""What a counterfactual changes in a batch: labels, masks, the side of the padding.

In: a `BaselineRun`. Out: functions that take a place and a batch. Not here: which of them apply.
"""

from collections.abc import Mapping
from typing import Any, Final

import torch

from postmortem.replay.rerun.batches import (
    convert_tensors,
    count_samples,
    find_attention_masks,
    find_labels,
    select_samples,
)
from postmortem.replay.rerun.regime import MicroPlace

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
