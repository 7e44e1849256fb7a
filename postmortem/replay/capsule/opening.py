"""Open a capsule, or refuse it before anything of it is used.

In: the path of a folder. Out: a `Capsule`. Not here: building a model, loading tensors, running
anything.

Refused, with the project's errors: another schema, a missing or truncated file, a wrong checksum, a
file that is not safetensors, a path out of the folder, a symbolic link, impossible sizes, tensors
missing in the manifest or in the files.

A safetensors file is eight bytes with the header's length, the header in JSON, then the tensors,
one behind the other without a gap. Each of these is checked, without torch, before anything else
reads the file: the figures in it are the file's own claims.
"""

import hashlib
import importlib
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from postmortem.core.errors import InputError, MissingExtra, install_hint
from postmortem.replay.capsule import json_values
from postmortem.replay.capsule.json_values import MOST_BYTES, WrongForm, parse_json, read_as
from postmortem.replay.capsule.manifest import BATCHES_FILE, FILES, RNG_FILE, SCHEMA, Manifest

_MOST_DIMENSIONS: Final = 16
_MOST_NUMBERS: Final = 1 << 48
_BITS: Final = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "C64": 64,
}
_OTHERS: Final = ((b"PK\x03\x04", "a zip archive, as torch.save writes"), (b"\x80", "a pickle"))


class TensorHeader(NamedTuple):
    """One tensor as described in the header."""

    dtype: str
    shape: tuple[int, ...]


class NoTensorFile(ValueError):  # noqa: N818 -- it names what it is not
    """The file is no whole safetensors file."""


def read_tensor_headers(file: BinaryIO, size: int) -> dict[str, TensorHeader]:
    """Read the header of a file of so many bytes.

    Raises:
        NoTensorFile: it is something else, or not all of it is there.
    """
    start = file.read(8)
    for magic, name in _OTHERS:
        if start.startswith(magic) and not _is_length(start, size):
            raise NoTensorFile(f"no safetensors file, but {name}")
    if not _is_length(start, size):
        raise NoTensorFile("no safetensors file: its header is longer than it, or than 16 MiB")
    length = int.from_bytes(start, "little")
    try:
        header_values = parse_json(file.read(length))
    except ValueError as error:
        raise NoTensorFile(f"no safetensors file: its header is no JSON: {error}") from error
    if not isinstance(header_values, dict):
        raise NoTensorFile("no safetensors file: its header is no object")
    header_values.pop("__metadata__", None)
    found = [(name, *_parse_entry(name, entry)) for name, entry in header_values.items()]
    _check_without_gap(sorted((begin, end) for _, _, begin, end in found), size - 8 - length)
    return {name: header for name, header, _, _ in found}


def _is_length(start: bytes, size: int) -> bool:
    length = int.from_bytes(start, "little")
    return len(start) == 8 and length <= min(MOST_BYTES, size - 8)


def _parse_entry(name: str, entry: Any) -> tuple[TensorHeader, int, int]:
    wrong = NoTensorFile(f"the header does not tell what the tensor {name[:80]!r} is")
    if not isinstance(entry, dict) or entry.get("dtype") not in _BITS:
        raise wrong
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if not _is_counts(shape) or not _is_counts(offsets):
        raise wrong
    if len(shape) > _MOST_DIMENSIONS or len(offsets) != 2:
        raise wrong
    if math.prod(max(side, 1) for side in shape) > _MOST_NUMBERS:
        raise wrong  # also where one side is 0: torch computes strides of the others
    numbers = math.prod(shape)
    begin, end = offsets
    if numbers * _BITS[entry["dtype"]] != (end - begin) * 8:
        raise NoTensorFile(f"the tensor {name[:80]!r} has another size than its shape says")
    return TensorHeader(entry["dtype"], tuple(shape)), begin, end


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _check_without_gap(places: list[tuple[int, int]], data: int) -> None:
    position = 0
    for begin, end in places:
        if begin != position:
            raise NoTensorFile("its tensors overlap or leave gaps")
        position = end
    if position > data:
        raise NoTensorFile(f"cut short: {position - data} bytes of tensors are missing")
    if position < data:
        raise NoTensorFile(f"{data - position} bytes behind its last tensor")


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
        for key in json_values.list_tensor_keys(batch.batch)
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


MANIFEST: Final = "manifest.json"
_LARGE: Final = 64 * 1024 * 1024
_AT_ONCE: Final = 1 << 20
_AGAIN: Final = "record it anew, or copy it again from where it was written"


@dataclass(frozen=True, slots=True)
class Capsule:
    """A capsule whose files are what its manifest says."""

    folder: Path
    manifest: Manifest
    headers: Mapping[str, Mapping[str, TensorHeader]]
    """Of each file: its tensors."""

    def load_tensors(self, file: str | None) -> dict[str, Any]:
        """Load the tensors of a file; none if it has no such file.

        Raises:
            MissingExtra: torch or safetensors is not installed.
        """
        if file is None or file not in self.manifest.files:
            return {}
        try:
            load = importlib.import_module("safetensors.torch").load_file
        except ImportError as error:
            raise MissingExtra(
                f"replay needs torch and safetensors: {error}",
                "",
                install_hint("replay"),
            ) from error
        try:
            loaded: dict[str, Any] = load(self.folder / file)
        except Exception as error:
            raise InputError(
                f"its tensors cannot be loaded: {type(error).__name__}: {str(error)[:200]}",
                self.folder / file,
                "install the versions that the capsule names",
            ) from error
        return loaded


def open_capsule(path: Path | str) -> Capsule:
    """Open a capsule.

    Raises:
        InputError: it is refused; says why.
    """
    folder = Path(path)
    if not folder.is_dir():
        problem = (
            "is a file, not the folder that a capsule is" if folder.exists() else "is not there"
        )
        raise InputError(f"this capsule {problem}", folder, "name the folder that ends in .capsule")
    manifest = _read_manifest(folder)
    found = {name: _check_file(folder, name, manifest) for name in manifest.files}
    wrong = next(find_manifest_faults(manifest, found), None)
    if wrong is not None:
        raise InputError(f"the capsule contradicts itself: {wrong}", folder, _AGAIN)
    return Capsule(folder, manifest, found)


def _read_manifest(folder: Path) -> Manifest:
    place = folder / MANIFEST
    with _open_file(place) as (file, size):
        if size > MOST_BYTES:
            raise InputError(f"its manifest has {size:,} bytes", place, _AGAIN)
        data = file.read(MOST_BYTES)
    try:
        values = parse_json(data)
    except ValueError as error:
        raise InputError(
            f"the manifest is no JSON, or not all of it: {error}", place, _AGAIN
        ) from (error)
    schema = values.get("schema") if isinstance(values, dict) else None
    if schema != SCHEMA:
        raise InputError(
            f"its schema is {str(schema)[:80]!r}, this version reads {SCHEMA!r}",
            place,
            "replay it with the version of postmortem that wrote it",
        )
    try:
        manifest = read_as(Manifest, values)
        for step in manifest.window.steps:
            for batch in step.micro_batches:
                json_values.list_tensor_keys(batch.batch)
    except (WrongForm, RecursionError) as error:
        raise InputError(f"the manifest is not of its schema: {error}", place, _AGAIN) from error
    return manifest


def _check_file(folder: Path, name: str, manifest: Manifest) -> dict[str, TensorHeader]:
    """Hold a file to the manifest; gives what tensors it holds."""
    if name not in FILES:
        raise InputError(
            f"the manifest names a file that no capsule has: {name[:120]!r}", folder, _AGAIN
        )
    place, expected = folder / name, manifest.files[name]
    with _open_file(place) as (file, size):
        if size != expected.bytes:
            what = "cut short" if size < expected.bytes else "longer than written"
            raise InputError(
                f"a file is {what}: {size:,} bytes, {expected.bytes:,} were written", place, _AGAIN
            )
        try:
            found = read_tensor_headers(file, size)
        except NoTensorFile as error:
            raise InputError(str(error), place, _AGAIN) from error
        if _is_hollow(file):
            raise InputError(
                f"a file of {size:,} bytes is hardly anything but holes", place, _AGAIN
            )
        file.seek(0)
        if _compute_sha256(file) != expected.sha256:
            raise InputError("a file was changed: its checksum is another", place, _AGAIN)
    return found


@contextmanager
def _open_file(place: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file of the folder; gives its size too."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if place.is_symlink():
        raise InputError("a file of the capsule is a symbolic link", place, _AGAIN)
    try:
        number = os.open(place, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InputError(
            f"a file of the capsule cannot be read: {error.strerror}", place, _AGAIN
        ) from error
    with os.fdopen(number, "rb") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("a file of the capsule is no regular file", place, _AGAIN)
        yield file, about.st_size


def _is_hollow(file: BinaryIO) -> bool:
    """Say whether a large file is sparse: it takes almost no space on disk."""
    about = os.fstat(file.fileno())
    blocks = getattr(about, "st_blocks", None)
    return about.st_size > _LARGE and blocks is not None and blocks * 512 * 16 < about.st_size


def _compute_sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(_AT_ONCE):
        digest.update(block)
    return digest.hexdigest()


def compute_file_sha256(path: Path) -> str:
    """Give the checksum of a file."""
    with path.open("rb") as file:
        return _compute_sha256(file)
