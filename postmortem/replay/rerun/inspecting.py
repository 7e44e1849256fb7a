"""Inspect the weights at the window's start and a batch, without running anything.

In: weights by name, a model, a batch. Out: counts and rows. Not here: what follows from them.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import torch

from postmortem.replay.rerun.batches import (
    IGNORED,
    count_samples,
    find_labels,
    find_token_ids,
    iter_tensors,
)

_OUTLIER: Final = 1e4
"""Times the middle of its like: a number, a row, a sample that does not belong."""
_ROW: Final = 100.0
_FEW: Final = 0.01
"""Of a tensor: more numbers than that are no outliers, but its scale."""


class BadWeights(NamedTuple):
    """Numbers at the window's start that no training makes."""

    name: str
    nonfinite: int
    outliers: int
    numbers: int


class BadRows(NamedTuple):
    """Rows of an embedding that the window uses and that are unlike the others."""

    name: str
    rows: tuple[int, ...]
    norm: float
    """The greatest of theirs that is finite; NaN if none is."""
    usual: float
    is_nonfinite: bool


def find_bad_weights(start: Mapping[str, Any]) -> list[BadWeights]:
    """Find weights that hold NaN or inf, or a few numbers far beyond all others."""
    found = []
    for name, weight in start.items():
        if not weight.is_floating_point() or not weight.numel():
            continue
        nonfinite = int((~torch.isfinite(weight)).sum())
        outliers = int(mark_outliers(weight).sum())
        if nonfinite or outliers:
            found.append(BadWeights(name, nonfinite, outliers, weight.numel()))
    return found


def mark_outliers(weight: Any) -> Any:
    """Mark the few finite numbers that are far beyond the others."""
    sizes = weight.detach().float().abs()
    finite = torch.isfinite(sizes)
    usual = sizes[finite].median() if bool(finite.any()) else torch.tensor(0.0)
    far = finite & (sizes > _OUTLIER * usual.clamp_min(1e-3))
    return far if int(far.sum()) <= max(1, _FEW * weight.numel()) else torch.zeros_like(far)


def find_bad_rows(model: Any, start: Mapping[str, Any], batches: list[Any]) -> list[BadRows]:
    """Find rows of embeddings that are used and are unlike the others."""
    used = [ids.reshape(-1) for batch in batches for ids in find_token_ids(batch)]
    ids = torch.unique(torch.cat([tensor.long() for tensor in used])).cpu() if used else None
    found = []
    for name, module in model.named_modules():
        if ids is None or not isinstance(module, torch.nn.Embedding):
            continue
        weight = start.get(f"{name}.weight" if name else "weight")
        if weight is None or weight.shape[0] < 8:
            continue
        here = ids[(ids >= 0) & (ids < weight.shape[0])]
        if module.padding_idx is not None:
            here = here[here != module.padding_idx]
        rows = _find_outlier_rows(weight, here)
        if rows is not None:
            found.append(rows._replace(name=name))
    return found


def _find_outlier_rows(weight: Any, used: Any) -> BadRows | None:
    norms = weight.detach().double().norm(dim=1)
    finite = norms[torch.isfinite(norms)]
    if not len(finite) or not len(used):
        return None
    usual = float(finite.median())
    far = ~torch.isfinite(norms) | (norms > _ROW * usual) | (norms < usual / _ROW)
    if usual <= 0 or int(far.sum()) > weight.shape[0] // 4:
        return None  # so many are unlike the others that there is no usual
    rows = used[far[used]]
    if not len(rows):
        return None
    theirs = norms[rows]
    good = theirs[torch.isfinite(theirs)]
    greatest = float(good.max()) if len(good) else float("nan")
    return BadRows("", tuple(rows.tolist()), greatest, usual, len(good) < len(theirs))


def set_rows_to_mean(model: Any, rows: list[BadRows]) -> None:
    """Set rows of embeddings to the mean of all that are as usual."""
    with torch.no_grad():
        for row in rows:
            weight = model.get_submodule(row.name).weight
            bad = torch.zeros(weight.shape[0], dtype=torch.bool, device=weight.device)
            bad[list(row.rows)] = True
            norms = weight.detach().double().norm(dim=1)
            usual = torch.isfinite(norms) & (norms <= _ROW * row.usual) & ~bad
            weight[bad] = weight[usual].mean(dim=0)


def repair(model: Any) -> None:
    """Set weights that are not finite, or far beyond all others, to 0."""
    with torch.no_grad():
        for weight in [*model.parameters(), *model.buffers()]:
            if weight.is_floating_point() and weight.numel():
                weight[~torch.isfinite(weight) | mark_outliers(weight)] = 0.0


def list_masked_samples(batch: Any, target: Any, ignored: int, *, shifted: bool) -> list[int]:
    """List the samples of which no label counts; all if the batch holds no label that does."""
    found = find_labels(batch, target)
    if found is None:
        return []
    _, labels = found
    if labels.dim() < 2:
        return list(range(labels.numel())) if bool((labels == ignored).all()) else []
    seen = labels[:, 1:] if shifted and labels.shape[1] > 1 else labels
    rows = (seen.reshape(labels.shape[0], -1) == ignored).all(dim=1)
    return [int(row) for row in rows.nonzero().reshape(-1)]


def get_ignored_label(arguments: Mapping[str, Any]) -> int:
    """Give the label that a loss leaves out."""
    return int(arguments.get("ignore_index", IGNORED))


def find_odd_samples(batch: Any) -> dict[int, str]:
    """Find the samples whose numbers are not finite, far beyond the others', or all the same.

    Gives by position: nonfinite | outlier | constant.
    """
    size, found = count_samples(batch), dict[int, str]()
    for _, tensor in iter_tensors(batch):
        if not tensor.is_floating_point() or tensor.dim() < 1 or tensor.shape[0] != size:
            continue
        rows = tensor.detach().double().reshape(size, -1)
        if not rows.shape[1]:
            continue
        for row in range(size):
            odd = _identify_oddness(rows, row)
            if odd and found.get(row) != "nonfinite":
                found[row] = odd
    return found


def _identify_oddness(rows: Any, row: int) -> str:
    one = rows[row]
    if not bool(torch.isfinite(one).all()):
        return "nonfinite"
    others = torch.cat([rows[:row], rows[row + 1 :]])
    others = others[torch.isfinite(others).all(dim=1)]
    if not len(others):
        return ""
    usual = float(others.abs().amax(dim=1).quantile(0.75))
    if usual > 0 and float(one.abs().max()) > _ROW * usual:
        return "outlier"
    spreads = others.std(dim=1) if rows.shape[1] > 1 else None
    if spreads is not None and float(one.std()) == 0 and float(spreads.median()) > 0:
        return "constant"
    return ""
