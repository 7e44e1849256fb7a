"""Which files make up the job: a folder's logs, and why the others are left out.

In: the paths a user gave. Out: `Candidate`s in a fixed order. Not here: opening them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.errors import InputError
from postmortem.reading.opener import STDIN

_BINARY: Final = frozenset({
    ".bin", ".pt", ".pth", ".ckpt", ".safetensors", ".npy", ".npz", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".zip", ".tar", ".so", ".o", ".pyc", ".parquet", ".arrow", ".onnx",
    ".pkl", ".pickle", ".h5", ".mp4", ".wav", ".model", ".gguf", ".whl", ".exe", ".dll",
})
_CODE: Final = frozenset({".py", ".ipynb_checkpoints", ".sh", ".c", ".cpp", ".cu", ".h", ".js", ".css", ".html"})
_MOST_FILES: Final = 4096


class Candidate(NamedTuple):
    """A file that may belong to the job."""

    path: str
    skip: str
    """Why it is not read, or an empty string."""


def candidates(paths: Iterable[str]) -> Iterator[Candidate]:
    """List the files of the job in a fixed order.

    Raises:
        InputError: a path does not exist, or a folder holds nothing that could be a log.
    """
    for path in paths:
        if path == STDIN or not Path(path).is_dir():
            if path != STDIN and not Path(path).exists():
                raise InputError("no such file or folder", path, "check the path")
            yield Candidate(path, "")
            continue
        found = list(_walk(Path(path)))
        if not any(not candidate.skip for candidate in found):
            raise InputError("the folder holds no logs", path, "name the log file itself, or a folder with text logs in it")
        yield from found


def _walk(folder: Path) -> Iterator[Candidate]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts))
    for number, path in enumerate(files):
        suffix = path.suffix.lower()
        if number >= _MOST_FILES:
            yield Candidate(str(path), f"more than {_MOST_FILES} files in one job")
        elif suffix in _BINARY:
            yield Candidate(str(path), f"{suffix} files are not logs")
        elif suffix in _CODE:
            yield Candidate(str(path), "source code, not a log")
        elif path.stat().st_size == 0:
            yield Candidate(str(path), "empty")
        else:
            yield Candidate(str(path), "")
