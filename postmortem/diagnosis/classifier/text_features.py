"""Choose the text of a failing run, and turn it into features: hashed n-grams.

In: a `Case`, names of what else holds of it. Out: passages with their lines; buckets with the line
that put most into each. Not here: what holds (`inference.case_contents`), the model
(`classifier.models`).

Tracebacks, informative lines and final errors are read: nothing of what a rule has found in them.
What differs from run to run (figures, paths, addresses, ids) is replaced before anything is
counted. Only the hash of a gram of words or characters is kept anywhere, never the gram.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import xxhash

from postmortem.core.findings import NOWHERE, Frame, ProcessId, Traceback
from postmortem.core.log_text import ANSI, compile_lazily
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
    # The first and the last: the rest are mostly other processes'.
    tracebacks = [*case.tracebacks[: _TRACEBACKS - 1], *case.tracebacks[_TRACEBACKS - 1 :][-1:]]
    found = [TextPassage(CIRCUMSTANCE, name) for name in circumstances]
    found += [
        passage for traceback in tracebacks for passage in _iter_traceback_passages(traceback)
    ]
    for source in _select_sources(case.extract, tracebacks):
        sample = case.extract.samples[source]
        for kind, lines in (("telling", sample.telling), ("last", sample.last)):
            found += _iter_line_passages(kind, source, lines)
    found += [TextPassage("fact", f"framework {name}") for name in sorted(case.frameworks)]
    return found


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


VERSION: Final = 3
"""Of what is counted, and how: a model fits one of them only."""
BITS: Final = 14
_MOST: Final = 2000
_CODE: Final = compile_lazily(
    r"\b(code|signal|status|errno|exitcode|error|sig)\b[^\w\n-]{0,4}(-?\d{1,3})\b", re.IGNORECASE
)
_DIGIT: Final = compile_lazily(r"\d")
_URL: Final = (compile_lazily(r"https?://\S{1,200}"), " url ")
_FOLDERS: Final = (
    compile_lazily(r"(?<![\w.@+~-])(?:[A-Za-z]:)?(?:[\w.@+~-]{0,80}[/\\]){2,30}"),
    " ",
)
_FIGURES: Final = (
    (compile_lazily(r"\b0x[0-9a-f]+\b", re.IGNORECASE), " addr "),
    (compile_lazily(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), " ip "),
    (
        compile_lazily(r"\b(?=[A-Fa-f]{0,40}\d)[0-9A-Fa-f]{8,40}(?:-[0-9A-Fa-f]{4,12}){0,4}\b"),
        " id ",
    ),
    (compile_lazily(r"[-+]?\d[\d_,]*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE), " 0 "),
)
_WORD: Final = compile_lazily(r"[a-z_]+|0|[\u4e00-\u9fff]")
_GRAM: Final = 4
_SPELT: Final = frozenset({"exception", "message", "telling"})
"""Kinds whose words are also taken apart into characters."""
_OWN: Final = frozenset({"exception", "message", "fact"})
"""Kinds whose words count once more by their kind."""
_COPIES: Final = 8
"""Buckets that the name of a circumstance fills: one among hundreds of words would not be heard."""


def extract_words(text: str) -> list[str]:
    """Give the words of a text, without what differs from run to run."""
    plain = ANSI.sub("", text) if "\x1b" in text else text
    if _DIGIT.search(plain):
        plain = _CODE.sub(lambda found: f" {found[1]} {_encode_digits(found[2])} ", plain)
    for pattern, instead in _find_variable_parts(plain):
        plain = pattern.sub(instead, plain)
    found = _WORD.findall(plain.lower())
    return [word for number, word in enumerate(found) if word != "0" or found[number - 1] != "0"]


def _find_variable_parts(text: str) -> Iterator[tuple["re.Pattern[str]", str]]:
    """Give what may stand in a text that differs from run to run, and what to put there."""
    if "://" in text:
        yield _URL
    if "/" in text or "\\" in text:
        yield _FOLDERS
    if _DIGIT.search(text):
        yield from _FIGURES


def _encode_digits(figure: str) -> str:
    """Write a short code in letters: a figure would be replaced, and 9 is not 11 here."""
    return "code_" + figure.translate(str.maketrans("0123456789-", "abcdefghijm"))


def compute_buckets(passages: Iterable[TextPassage]) -> dict[int, TextPassage]:
    """Give the buckets that a text fills, each with the first passage that fills it."""
    found: dict[int, TextPassage] = {}
    for passage in passages:
        for bucket in _hash_passage(passage):
            found.setdefault(bucket, passage)
        if len(found) >= _MOST:
            break
    return found


def _hash_passage(passage: TextPassage) -> Sequence[int]:
    """Give the buckets of a passage; a circumstance is its name, a few times."""
    if passage.kind == CIRCUMSTANCE:
        return _hash_circumstance(passage.text)
    return [bucket for _, bucket in hash_grams(passage.kind, extract_words(passage.text))]


@functools.lru_cache(maxsize=1024)
def _hash_circumstance(name: str) -> Sequence[int]:
    """Give the buckets of a circumstance: the program names it, and few of them there are."""
    return [_hash_gram(f"{name}#{copy}") for copy in range(_COPIES)]


def hash_grams(kind: str, words: list[str]) -> list[tuple[tuple[int, ...], int]]:
    """Give the bucket of each gram, with the places of its words."""
    return [(places, _hash_gram(gram)) for places, gram in _iter_grams(kind, words)]


def _hash_gram(gram: str) -> int:
    return xxhash.xxh32_intdigest(gram.encode()) >> (32 - BITS)


def _iter_grams(kind: str, words: list[str]) -> Iterator[tuple[tuple[int, ...], str]]:
    for number, word in enumerate(words):
        yield (number,), word
        if number:
            yield (number - 1, number), f"{words[number - 1]} {word}"
        if kind in _OWN:
            yield (number,), f"{kind}:{word}"
        if kind in _SPELT and len(word) > _GRAM:
            edged = f"<{word}>"
            yield from (((number,), edged[at : at + _GRAM]) for at in range(len(edged) - _GRAM + 1))
