"""Open and hash the files of a job, and lay them out for the analysis.

In: jobs. Out: open files, digests, what `pipeline.analyze` takes. Not here: finding the
files (`search.finding`), analysing them.

Jobs with the same content have the same digest and, laid out, the same analysis: both know files by
their neutral names only.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from xxhash import xxh3_128

from postmortem.core.errors import InputError
from postmortem.core.message import say
from postmortem.fleet.search.listing import is_remote, remove_location_secrets
from postmortem.fleet.store.stored_rows import FileRow, JobRow
from postmortem.reading.sources import LogSource, Stream

_BLOCK: Final = 1 << 20
_READ_TWICE: Final = 256 << 20
"""Bytes of a file elsewhere up to which it is read a second time."""


@contextmanager
def open_job_file(file: FileRow) -> Iterator[BinaryIO]:
    """Open a job's file, wherever it lies, at its beginning.

    Raises:
        InputError: it is gone or cannot be read; what it says holds no login.
        MissingExtra: a package for its protocol is not installed.
    """
    stream = _open(file.location)
    with stream:
        yield stream


def _open(location: str) -> BinaryIO:
    if is_remote(location):
        from postmortem.fleet.search.remote_files import open_remote  # noqa: PLC0415 -- an extra

        return open_remote(location)
    try:
        return Path(location).open("rb")
    except (OSError, ValueError) as error:
        raise _build_open_error(location, error) from error


def _build_open_error(location: str, error: Exception) -> InputError:
    why = getattr(error, "strerror", None) or type(error).__name__
    return InputError(
        say("cannot be opened: {why}", why=why),
        remove_location_secrets(location),
        "check the path and its permissions",
    )


def compute_digest(job: JobRow) -> str:
    """Hash what a job holds: the neutral names, sizes and bytes of its files, sorted by name.

    That of files elsewhere is another one than that of the same files here, as their analyses
    differ in that nothing can be looked up beside a stream.

    Raises:
        InputError: a file is gone, cannot be read, or changed while it was read.
        MissingExtra: a package for its protocol is not installed.
    """
    total = xxh3_128()
    total.update(b"streams\0" if _is_elsewhere(job) else b"files\0")
    for file in job.files:
        one = xxh3_128()
        size = _hash_into(one, file)
        total.update(f"{file.name}\0{size}\0".encode("utf-8", "backslashreplace"))
        total.update(one.digest())
    return total.hexdigest()


def _hash_into(hashed: xxh3_128, file: FileRow) -> int:
    """Hash the bytes of a file; give their number."""
    size = 0
    with open_job_file(file) as stream:
        before = _state(stream, file)
        try:
            while block := stream.read(_BLOCK):
                hashed.update(block)
                size += len(block)
        except Exception as error:
            if is_remote(file.location):
                from postmortem.fleet.search.remote_files import convert_storage_error  # noqa: PLC0415 -- an extra

                raise convert_storage_error(file.location, error) from None
            if isinstance(error, OSError):
                raise _build_open_error(file.location, error) from error
            raise
        if before is not None and (_state(stream, file) != before or size != before[0]):
            raise InputError(
                say("it changed while it was read"),
                remove_location_secrets(file.location),
                "triage it again once its job has ended",
            )
    return size


def _state(stream: BinaryIO, file: FileRow) -> tuple[int, int] | None:
    """Give size and modification time of an open local file; None of another."""
    if is_remote(file.location):
        return None
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def _is_elsewhere(job: JobRow) -> bool:
    return any(is_remote(file.location) for file in job.files)


class LateStream:
    """Opens a file when it is first read, and closes it at its end: a job may have thousands."""

    @property
    def file(self) -> FileRow:
        """Give what is read."""
        return self._file

    def __init__(self, file: FileRow) -> None:
        self._file = file
        self._stream: BinaryIO | None = None
        self._is_done = False

    def read(self, size: int, /) -> bytes:
        """Give up to `size` bytes, b"" at the end.

        Raises:
            InputError: it is gone or cannot be read.
            OSError: it cannot be read on.
        """
        if self._is_done:
            return b""
        if self._stream is None:
            self._stream = _open(self._file.location)
        data = self._stream.read(size)
        if not data:
            self._is_done = True
            self._stream.close()
        return data


class RenewedStream(LateStream):
    """One that may be read a second time, for the lines that a report quotes."""

    def reopen(self) -> LateStream:
        """Give another that reads from the beginning."""
        return LateStream(self.file)


def place_job_files(job: JobRow, folder: Path) -> list[LogSource]:
    """Lay a job's files out under their neutral names.

    Args:
        job: what is to be analysed.
        folder: an empty one, in which the caller then works: what is given is relative to it.

    Returns:
        `["job"]` or `["log.txt"]`, links to local files; of files elsewhere, streams.

    Raises:
        InputError: the folder cannot be written.
    """
    files = job.files
    if _is_elsewhere(job):
        return [Stream(file.name, _create_stream(file)) for file in files]
    try:
        for file in files:
            _create_link(folder / file.name, file.location)
    except (OSError, ValueError) as error:
        raise _build_open_error(str(folder), error) from error
    return [files[0].name] if len(files) == 1 and "/" not in files[0].name else ["job"]


def _create_link(path: Path, location: str) -> None:
    if ".." in path.parts:
        raise ValueError(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(Path(location).absolute())


def _create_stream(file: FileRow) -> LateStream:
    return RenewedStream(file) if file.size <= _READ_TWICE else LateStream(file)
