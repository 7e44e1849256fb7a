"""Locate the data files, and read what is cached from start to start.

In a wheel beside the package (`_data`), in a checkout or editable install at its root; and what is
kept from start to start.

In: a folder's name; the name of what is kept. Out: its path; its bytes. Not here: what is in it.
"""

import os
from pathlib import Path
from typing import Final

from postmortem.core.errors import PostmortemError

_KEPT: Final = 8
"""Of each kind so many states are kept, the newest."""
_PACKAGE = Path(__file__).resolve().parents[1]


def find_folder(name: str) -> Path:
    """Find the data folder `name` (patterns, templates).

    Raises:
        PostmortemError: the installation lacks it.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise PostmortemError(
        f"the data folder {name!r} is missing",
        _PACKAGE,
        "install it again: pip install --force-reinstall . in a checkout of postmortem",
    )


def find_compiled_knowledge() -> Path | None:
    """Give the knowledge base that was compiled into the wheel, or None in a checkout."""
    path = _PACKAGE / "_data" / "knowledge.json"
    return path if path.is_file() else None


def find_shipped_model(name: str = "text.safetensors") -> Path | None:
    """Give a model that comes with the package, or None if it has none."""
    places = (_PACKAGE / "_data" / "models", _PACKAGE.parent / "models")
    return next((path for folder in places if (path := folder / name).is_file()), None)


def read_compiled_stack(name: str) -> str:
    """Read the compiled fixes of one stack, which the wheel keeps in a file of their own.

    Raises:
        OSError: it is not there.
    """
    return (_PACKAGE / "_data" / "stacks" / f"{name}.json").read_text(encoding="utf-8")


def read_wheel_version() -> str:
    """Give the version that the wheel was built as; nothing in a checkout."""
    path = _PACKAGE / "_data" / "version.txt"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def read_cached(kind: str, stamp: str) -> bytes | None:
    """Give what was kept under this name, or None."""
    try:
        return _get_cache_path(kind, stamp).read_bytes()
    except OSError:
        return None


def keep(kind: str, stamp: str, content: bytes, most: int = _KEPT) -> None:
    """Keep something in the user's cache folder, with at most so many of its kind.

    One that cannot be written costs the next start a moment, no more.
    """
    path = _get_cache_path(kind, stamp)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(path.parent.glob(f"{kind}-*"), key=lambda file: file.stat().st_mtime)[
            :-most
        ]:
            old.unlink(missing_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        pass


def _get_cache_path(kind: str, stamp: str) -> Path:
    import platformdirs  # noqa: PLC0415 -- a start that keeps nothing does not pay for it

    return Path(platformdirs.user_cache_dir("postmortem")) / f"{kind}-{stamp}"
