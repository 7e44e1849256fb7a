"""Check that a manifest and the tensors of its files agree.

In: a manifest, the headers of the files. Out: the contradiction as text. Not here: the files
themselves (`capsule.opening`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from postmortem.replay.capsule import trees
from postmortem.replay.capsule.manifest import BATCHES_FILE, RNG_FILE, Manifest
from postmortem.replay.capsule.tensor_headers import TensorHeader

_MOST_STEPS: Final = 100_000
_MODELS: Final = ("transformers", "torch", "user")
_AUTOCAST: Final = ("", "float16", "bfloat16", "float32")
_MOST_THREADS: Final = 4096
_MOST_SIDES: Final = 16
_MOST_SIDE: Final = 1 << 40
_LOSSES: Final = ("output", "torch", "user")
Headers = Mapping[str, Mapping[str, TensorHeader]]


def find_manifest_faults(manifest: Manifest, found: Headers) -> Iterator[str]:
    """Say what does not fit, the plainest first."""
    if manifest.model.kind not in _MODELS:
        yield f"no way to build a model of the kind {manifest.model.kind[:60]!r}"
    if manifest.loss.kind not in _LOSSES:
        yield f"no way to compute a loss of the kind {manifest.loss.kind[:60]!r}"
    yield from _find_invalid_values(manifest)
    yield from _find_step_faults(manifest)
    for file, named, what in _iter_named_tensors(manifest):
        yield from _find_tensor_mismatches(file, named, found.get(file, {}), what)
    yield from _find_rng_state_faults(manifest, found)


def _find_invalid_values(manifest: Manifest) -> Iterator[str]:
    """Look at what is used as a name of torch, or as a number of something to make."""
    autocast, threads = manifest.precision.autocast, manifest.device.threads
    if autocast is not None and autocast.dtype not in _AUTOCAST:
        yield f"no type that autocast computes in: {autocast.dtype[:60]!r}"
    if threads is not None and not 0 <= threads <= _MOST_THREADS:
        yield f"steps that {threads} threads computed"
    for weight in manifest.weights.frozen:
        if len(weight.shape) > _MOST_SIDES or not all(
            0 <= side <= _MOST_SIDE for side in weight.shape
        ):
            yield f"a frozen weight of no possible shape: {weight.name[:60]!r}"
            return


def _find_step_faults(manifest: Manifest) -> Iterator[str]:
    window = manifest.window
    numbers = [step.step for step in window.steps]
    if not numbers or len(numbers) > _MOST_STEPS:
        yield f"its window holds {len(numbers)} steps"
    elif numbers != sorted(set(numbers)) or (numbers[0], numbers[-1]) != (
        window.first,
        window.last,
    ):
        yield "its steps are not those of its window"


def _iter_named_tensors(manifest: Manifest) -> Iterator[tuple[str, set[str], str]]:
    """Give each file with the tensors that the manifest names in it."""
    weights = manifest.weights
    aliases = {alias for _, alias in weights.tied}
    yield weights.file, ({*weights.trainable, *weights.buffers, *weights.kept} - aliases), "weight"
    optimizer = manifest.optimizer
    if optimizer is not None and optimizer.file is not None:
        entries = (entry for state in optimizer.state.values() for entry in state.values())
        tensors = {
            str(entry["tensor"])
            for entry in entries
            if isinstance(entry, dict) and "tensor" in entry
        }
        yield optimizer.file, tensors, "optimiser state"
    batches = (
        key
        for step in manifest.window.steps
        for batch in step.micro_batches
        for key in trees.list_tensor_keys(batch.batch)
    )
    yield BATCHES_FILE, set(batches), "tensor of a batch"


def _find_tensor_mismatches(
    file: str, named: set[str], there: Iterable[str], what: str
) -> Iterator[str]:
    missing, beyond = sorted(named - set(there)), sorted(set(there) - named)
    if missing:
        yield f"{file} lacks the {what} {missing[0][:120]!r} and {len(missing) - 1} more"
    if beyond:
        yield f"{file} holds {beyond[0][:120]!r}, which the manifest does not name"


def _find_rng_state_faults(manifest: Manifest, found: Headers) -> Iterator[str]:
    prefixes = {
        batch.rng for step in manifest.window.steps for batch in step.micro_batches if batch.rng
    }
    there = {key.rpartition("/")[0] for key in found.get(RNG_FILE, {})}
    if lacking := sorted(prefixes - there):
        yield f"{RNG_FILE} lacks the state {lacking[0][:120]!r}"
    if beyond := sorted(there - prefixes):
        yield f"{RNG_FILE} holds the state {beyond[0][:120]!r}, which the manifest does not name"
