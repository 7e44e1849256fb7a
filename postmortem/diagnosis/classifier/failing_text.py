"""Choose the lines and facts of a failing run that the text classifier reads.

In: a `Case`, names of what else holds of it. Out: passages with their lines. Not here: features
(`classifier.hashed_words`), what holds (`inference.active_conditions`).

Tracebacks, informative lines and final errors: nothing of what a rule has found in them.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from postmortem.core.findings import Frame, Traceback
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.extract import Extract
from postmortem.reading.prefixes import clean

_TRACEBACKS, _FRAMES, _SOURCES = 3, 4, 4
_MOST_LINE, _MOST_MESSAGE = 400, 1200
CIRCUMSTANCE: Final = "circumstance"
"""Kind of what is no text: the name of something that holds of the run."""
_INSTALLED: Final = ("site-packages/", "dist-packages/")


class TextPassage(NamedTuple):
    """A text of one kind, and where it stands."""

    kind: str
    """exception | message | frame | telling | last | fact | circumstance"""
    text: str
    source: int | None = None
    where: ProcessId = NOWHERE
    line: int | None = None


def extract_failure_passages(case: Case, circumstances: Iterable[str] = ()) -> list[TextPassage]:
    """Extract the conditions and the text of a failure, the most informative first."""
    tracebacks = _select_tracebacks(case.tracebacks)
    found = [TextPassage(CIRCUMSTANCE, name) for name in circumstances]
    found += [
        passage for traceback in tracebacks for passage in _iter_traceback_passages(traceback)
    ]
    for source in _select_sources(case.gathered, tracebacks):
        sample = case.gathered.samples[source]
        for kind, lines in (("telling", sample.telling), ("last", sample.last)):
            found += _iter_line_passages(kind, source, lines)
    found += [TextPassage("fact", f"framework {name}") for name in sorted(case.frameworks)]
    return found


def _select_tracebacks(tracebacks: tuple[Traceback, ...]) -> list[Traceback]:
    """Give the first and the last of the tracebacks: the rest are mostly other processes'."""
    ends = tracebacks[: _TRACEBACKS - 1] + tracebacks[_TRACEBACKS - 1 :][-1:]
    return list(ends)


def _iter_traceback_passages(traceback: Traceback) -> Iterator[TextPassage]:
    place = (traceback.source, traceback.where, traceback.exception_line)
    yield TextPassage("exception", traceback.exception.rsplit(".", 1)[-1] or "cut off", *place)
    yield TextPassage("message", traceback.message[:_MOST_MESSAGE], *place)
    for frame in traceback.frames[-_FRAMES:]:
        text = (
            f"{_get_frame_package(frame)} {_get_module_words(frame)} {frame.function} {frame.code}"
        )
        yield TextPassage("frame", text[:_MOST_LINE], *place)
    if traceback.frames:
        yield TextPassage("fact", f"raised in {_get_frame_package(traceback.frames[-1])}", *place)


def _get_frame_package(frame: Frame) -> str:
    """Name the package that a frame stands in; the user's own code is `own`."""
    path = frame.file.replace("\\", "/")
    for folder in _INSTALLED:
        _, found, inside = path.rpartition(folder)
        if found:
            return inside.split("/", 1)[0].removesuffix(".py")
    return "python" if frame.is_library else "own"


def _get_module_words(frame: Frame) -> str:
    """Give the words of a frame's module and of the folder that it stands in."""
    parts = frame.file.replace("\\", "/").removesuffix(".py").split("/")[-2:]
    inside = parts if frame.is_library else parts[-1:]
    return " ".join(inside).replace("_", " ")


def _select_sources(extract: Extract, tracebacks: Iterable[Traceback]) -> list[int]:
    """Choose a few logs: those that hold a traceback, then the first and the last."""
    logs = [
        source
        for source, sample in sorted(extract.samples.items())
        if (sample.last or sample.telling)
        and (source >= len(extract.sources) or extract.sources[source].kind != "ignored")
    ]
    first = dict.fromkeys(
        [traceback.source for traceback in tracebacks if traceback.source in logs]
    )
    others = [source for source in logs if source not in first]
    return [*first, *others[:2], *others[2:][-1:]][:_SOURCES]


def _iter_line_passages(
    kind: str, source: int, lines: Iterable[tuple[int, str]]
) -> Iterator[TextPassage]:
    for number, text in lines:
        peeled = clean(text[:_MOST_LINE])
        yield TextPassage(
            kind, f"{peeled.level} {peeled.text}".strip(), source, peeled.where, number
        )
