"""Which files make up the job: a folder's logs, and why the others are left out.

In: the paths and streams that a user gave. Out: `Candidate`s in a fixed order. Not here: opening
them.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.errors import InputError
from postmortem.model.said import Said, say
from postmortem.reading.opener import no_file
from postmortem.reading.sources import Origin, is_file, name_of

_BINARY: Final = frozenset(
    {
        ".bin",
        ".pt",
        ".pth",
        ".ckpt",
        ".safetensors",
        ".npy",
        ".npz",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".pdf",
        ".zip",
        ".tar",
        ".so",
        ".o",
        ".pyc",
        ".parquet",
        ".arrow",
        ".onnx",
        ".pkl",
        ".pickle",
        ".h5",
        ".mp4",
        ".wav",
        ".model",
        ".gguf",
        ".whl",
        ".exe",
        ".dll",
    }
)
_CODE: Final = frozenset(
    {".py", ".ipynb_checkpoints", ".sh", ".c", ".cpp", ".cu", ".h", ".js", ".css", ".html"}
)
_DIGITS: Final = re.compile(r"([0-9]+)")
_MOST_FILES: Final = 4096
_MOST_LISTED: Final = 500
"""Files that are not read and are listed one by one; the others are counted."""
_TOO_MANY: Final = say(
    "more than {count} files in one job", "一个任务的文件超过 {count} 个", count=_MOST_FILES
)


class Candidate(NamedTuple):
    """What may belong to the job's log."""

    origin: Origin
    skip: Said | None
    """Why it is not read; None if it is."""

    @property
    def path(self) -> str:
        """Give the name to be shown."""
        return name_of(self.origin)


def _is_there(path: str) -> bool:
    """Say whether a path leads anywhere; one that no system takes (far too long) does not."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def candidates(origins: Iterable[Origin]) -> Iterator[Candidate]:
    """List the files and streams of the job in a fixed order.

    Raises:
        InputError: a path does not exist, or a folder holds nothing that could be a log.
    """
    for origin in origins:
        path = name_of(origin)
        if is_file(origin) and not _is_there(path):
            raise InputError("no such file or folder", path, "check the path")
        if not is_file(origin) or not Path(path).is_dir():
            yield Candidate(origin, None)
            continue
        found = list(_walk(Path(path)))
        if not any(not candidate.skip for candidate in found):
            raise InputError(
                "the folder holds no logs",
                path,
                "name the log file itself, or a folder with text logs in it",
            )
        yield from found


def _walk(folder: Path) -> Iterator[Candidate]:
    refused: list[OSError] = []
    files = []
    for root, folders, names in os.walk(folder, onerror=refused.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(root, name) for name in names if not name.startswith(".")]
    taken = left = 0
    for path in sorted(files, key=_by_number):
        why = _TOO_MANY if taken >= _MOST_FILES else _reason(path)
        taken, left = taken + (why is None), left + (why is not None)
        if why is None or left <= _MOST_LISTED:
            yield Candidate(str(path), why)
    if left > _MOST_LISTED:
        yield Candidate(
            str(folder),
            say(
                "{count} more files that are not read",
                "另有 {count} 个文件未读取",
                count=left - _MOST_LISTED,
            ),
        )
    for error in refused:
        if error.filename == str(folder):
            raise InputError(
                f"the folder cannot be opened: {error.strerror}", folder, "check its permissions"
            ) from error
        yield Candidate(str(error.filename), _closed(error))


def _by_number(path: Path) -> list[list[tuple[bool, int, str]]]:
    """Give what paths sort by: rank2 stands before rank10."""
    return [
        [
            (bool(_DIGITS.fullmatch(piece)), int(piece) if _DIGITS.fullmatch(piece) else 0, piece)
            for piece in _DIGITS.split(part)
        ]
        for part in path.parts
    ]


def _closed(error: OSError) -> Said:
    return say("cannot be opened: {why}", "无法打开：{why}", why=error.strerror)


def _reason(path: Path) -> Said | None:
    """Say why a file is not read; None if it is."""
    suffix = path.suffix.lower()
    if suffix in _BINARY:
        return say("{suffix} files are not logs", "{suffix} 文件不是日志", suffix=suffix)
    if suffix in _CODE:
        return say("source code, not a log", "是源代码，不是日志")
    try:
        status = path.stat()
    except OSError as error:  # a link that leads nowhere, or in a circle
        return _closed(error)
    return no_file(status.st_mode) or (None if status.st_size else say("empty", "空文件"))
