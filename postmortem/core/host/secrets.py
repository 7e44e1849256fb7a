"""Read a secret where settings say that it stands: `env:NAME` or `file:PATH`.

In: the name of a place. Out: the secret. Not here: what it opens. No error repeats what was found,
or what stands where a place should: that may be the secret itself.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from postmortem.core.errors import UsageError

PLACE: Final = "write env:NAME of a variable of the environment, or file:PATH"
_MOST: Final = 64 * 1024


def is_place(text: str) -> bool:
    """Say whether a text has the form of the name of a place."""
    kind, _, rest = text.partition(":")
    return kind in {"env", "file"} and bool(rest.strip())


def read_secret(
    place: str,
    what: str,
    environment: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    *,
    is_needed: bool = True,
) -> str:
    """Read `what`, without blanks around it; a relative path is meant below `folder`.

    Raises:
        UsageError: this is no place, it cannot be read, or is needed and empty; or the file has
            several lines and is no private key.
    """
    kind, _, rest = place.partition(":")
    if not is_place(place):
        raise UsageError("this does not say where a secret stands", "", PLACE)
    try:
        if kind == "env":
            text = environment.get(rest, "")
        else:
            with (folder / Path(rest).expanduser()).open(encoding="utf-8-sig") as file:
                text = file.read(_MOST)
    except (OSError, ValueError, RuntimeError) as error:  # the last: no such user's home
        why = getattr(error, "strerror", None) or "no text"
        raise UsageError(f"{what} cannot be read: {why}", place, PLACE) from None
    if is_needed and not text.strip():
        raise UsageError(f"{what} is empty", place, PLACE)
    if kind == "file" and "\n" in text.strip() and not text.startswith("-----BEGIN "):
        raise UsageError(f"{what} is not one line", place, "put it alone into the file")
    return text.strip()


def is_open_to_others(path: Path) -> bool:
    """Say whether other users may read a file, or change it."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP))
