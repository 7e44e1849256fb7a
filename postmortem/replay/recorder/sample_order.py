"""Track which samples of the data set are in a batch.

In: a DataLoader. Out: a function that gives the indices of the batch that comes next. Not here: the
batch itself.

The loader's sampler is asked for indices in the order in which batches come out, some batches
ahead where workers fetch them. So what was drawn and not yet used may never be more than the
workers hold: if it is, a batch was dropped on the way, and no index is given from then on.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from postmortem.replay.recorder.loop_hooks import Removal

Indices = tuple[int | None, ...]


class WatchedSampler:
    """A sampler whose indices are noted as they are drawn."""

    def __init__(self, sampler: Any) -> None:
        """Take its place."""
        self.sampler = sampler
        self.drawn: deque[int | None] = deque()

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch: what was left of the last one is dropped by the loader too."""
        self.drawn.clear()
        for index in self.sampler:
            self.drawn.append(index if isinstance(index, int) else None)
            yield index

    def __len__(self) -> int:
        """As many as it gives."""
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        """Answer as the sampler does (`set_epoch` and the like)."""
        return getattr(self.sampler, name)


def track_samples(loader: Any, removals: list[Removal]) -> Callable[[Any], Indices | None]:
    """Put a watched sampler into a loader; return a function giving the next batch's indices."""
    batches: Any = getattr(loader, "batch_sampler", None)
    if type(batches).__name__ != "BatchSampler":
        return lambda _: None
    watched = WatchedSampler(batches.sampler)
    batches.sampler = watched

    def restore() -> None:
        batches.sampler = watched.sampler

    removals.append(restore)
    workers = getattr(loader, "num_workers", 0)
    ahead = workers * (getattr(loader, "prefetch_factor", None) or 2)
    ahead += type(loader).__module__.startswith("accelerate")
    lost = False

    def samples(batch: Any) -> Indices | None:
        nonlocal lost
        size = _count_samples(batch)
        lost = lost or not 0 < size <= len(watched.drawn) <= size + ahead * batches.batch_size
        return None if lost else tuple(watched.drawn.popleft() for _ in range(size))

    return samples


def _count_samples(batch: Any) -> int:
    """Count the samples of a batch: the first side of its first tensor."""
    parts = batch.values() if hasattr(batch, "values") else batch
    for part in parts if isinstance(parts, (list, tuple)) or parts is not batch else [batch]:
        if getattr(part, "ndim", 0) > 0:
            return int(part.shape[0])
    return 0
