"""Whether a manifest and the tensors of its files agree.

In: a manifest, the headers of the files. Out: what contradicts, in words. Not here: the files
themselves (`capsule.opening`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from postmortem.capsule import trees
from postmortem.capsule.manifest import BATCHES_FILE, RNG_FILE, Manifest
from postmortem.capsule.tensor_headers import TensorHeader

_MOST_STEPS: Final = 100_000
_MODELS: Final = ("transformers", "torch", "user")
_LOSSES: Final = ("output", "torch", "user")
Headers = Mapping[str, Mapping[str, TensorHeader]]


def faults(manifest: Manifest, found: Headers) -> Iterator[str]:
    """Say what does not fit, the plainest first."""
    if manifest.model.kind not in _MODELS:
        yield f"no way to build a model of the kind {manifest.model.kind[:60]!r}"
    if manifest.loss.kind not in _LOSSES:
        yield f"no way to compute a loss of the kind {manifest.loss.kind[:60]!r}"
    yield from _steps(manifest)
    for file, named, what in _named(manifest):
        yield from _differing(file, named, found.get(file, {}), what)
    yield from _states(manifest, found)


def _steps(manifest: Manifest) -> Iterator[str]:
    window = manifest.window
    numbers = [step.step for step in window.steps]
    if not numbers or len(numbers) > _MOST_STEPS:
        yield f"its window holds {len(numbers)} steps"
    elif numbers != sorted(set(numbers)) or (numbers[0], numbers[-1]) != (
        window.first,
        window.last,
    ):
        yield "its steps are not those of its window"


def _named(manifest: Manifest) -> Iterator[tuple[str, set[str], str]]:
    """Give each file with the tensors that the manifest names in it."""
    weights = manifest.weights
    aliases = {alias for _, alias in weights.tied}
    yield weights.file, ({*weights.trainable, *weights.buffers, *weights.kept} - aliases), "weight"
    optimizer = manifest.optimizer
    if optimizer is not None and optimizer.file is not None:
        entries = (one for state in optimizer.state.values() for one in state.values())
        tensors = {
            str(one["tensor"]) for one in entries if isinstance(one, dict) and "tensor" in one
        }
        yield optimizer.file, tensors, "optimiser state"
    batches = (
        key
        for step in manifest.window.steps
        for one in step.micro_batches
        for key in trees.keys(one.batch)
    )
    yield BATCHES_FILE, set(batches), "tensor of a batch"


def _differing(file: str, named: set[str], there: Iterable[str], what: str) -> Iterator[str]:
    missing, beyond = sorted(named - set(there)), sorted(set(there) - named)
    if missing:
        yield f"{file} lacks the {what} {missing[0][:120]!r} and {len(missing) - 1} more"
    if beyond:
        yield f"{file} holds {beyond[0][:120]!r}, which the manifest does not name"


def _states(manifest: Manifest, found: Headers) -> Iterator[str]:
    prefixes = {one.rng for step in manifest.window.steps for one in step.micro_batches if one.rng}
    there = {key.rpartition("/")[0] for key in found.get(RNG_FILE, {})}
    if lacking := sorted(prefixes - there):
        yield f"{RNG_FILE} lacks the state {lacking[0][:120]!r}"
    if beyond := sorted(there - prefixes):
        yield f"{RNG_FILE} holds the state {beyond[0][:120]!r}, which the manifest does not name"
