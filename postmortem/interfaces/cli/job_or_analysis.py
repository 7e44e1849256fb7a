"""Load a job from its log or from a stored analysis.

In: paths. Out: a `Report`. Not here: options (`cli.options`), output of the report.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from postmortem.api import Report, analyze
from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.names import ANALYSIS_SCHEMA, SHIPPED
from postmortem.interfaces.cli.options import check_standard_input
from postmortem.reading.opener import open_log
from postmortem.reading.sources import fill
from postmortem.report.lossless import from_json

_LARGEST: Final = 1 << 30
"""Bytes, unpacked; a report of ten thousand processes has some hundred million."""
_HEAD: Final = 200
_KEPT: Final = compile_lazily(
    rf'\s{{0,9}}\{{\s{{0,9}}"schema"\s{{0,9}}:\s{{0,9}}"{ANALYSIS_SCHEMA}"'
)


def report_on(
    paths: tuple[str, ...],
    *,
    env: tuple[str, ...] = (),
    patterns: tuple[Path, ...] = (),
    model: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Read the analysis that a path holds; any other path is a log, and is analysed.

    Raises:
        InputError: it cannot be read.
    """
    check_standard_input(*paths, *env)
    if len(paths) == 1 and not env and _is_kept(paths[0]):
        return load_stored_report(paths[0])
    return analyze(
        list(paths), env=env, patterns=patterns, model=model or SHIPPED, progress=progress
    )


def load_stored_report(path: str) -> Report:
    """Read what `analyze --format analysis` has written.

    Raises:
        InputError: it is no such file.
    """
    raw = _read_beginning(path, _LARGEST + 1)
    if len(raw) > _LARGEST:
        raise InputError("too large for an analysis", path, "name what --format analysis wrote")
    return Report(from_json(raw.decode("utf-8", "replace"), path))


def _is_kept(path: str) -> bool:
    if not Path(path).is_file():
        return False
    return _KEPT.match(_read_beginning(path, _HEAD).decode("utf-8", "replace")) is not None


def _read_beginning(path: str, size: int) -> bytes:
    opened = open_log(path)
    try:
        return fill(opened, size)
    finally:
        opened.close()
