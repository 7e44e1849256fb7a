"""Where the data files lie: in a wheel beside the package (`_data`), in a checkout or editable install at its root.

In: a folder's name. Out: its path. Not here: reading what is in it.
"""

from pathlib import Path

from postmortem.errors import PostmortemError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Find the data folder `name` (patterns, templates).

    Raises:
        PostmortemError: the installation lacks it.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise PostmortemError(f"the data folder {name!r} is missing", _PACKAGE, "reinstall: pip install --force-reinstall train-postmortem")


def compiled() -> Path | None:
    """Give the knowledge base that was compiled into the wheel, or None in a checkout."""
    path = _PACKAGE / "_data" / "knowledge.json"
    return path if path.is_file() else None
