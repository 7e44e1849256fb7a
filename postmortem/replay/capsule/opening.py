"""Open a capsule, or refuse it before anything of it is used.

In: the path of a folder. Out: a `Capsule`. Not here: building a model, running anything.

Refused, with the project's errors: another schema, a missing or truncated file, a wrong checksum,
a file that is not safetensors, a path out of the folder, a symbolic link, impossible sizes,
tensors missing in the manifest or in the files.
"""

import hashlib
import importlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from postmortem.core.errors import InputError, MissingExtra, install_hint
from postmortem.replay.capsule import trees
from postmortem.replay.capsule.consistency import find_manifest_faults
from postmortem.replay.capsule.json_limits import MOST_BYTES, parse_json
from postmortem.replay.capsule.manifest import FILES, SCHEMA, Manifest
from postmortem.replay.capsule.structured import WrongForm, read_as
from postmortem.replay.capsule.tensor_headers import NoTensorFile, TensorHeader, read_tensor_headers

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
                trees.list_tensor_keys(batch.batch)
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
