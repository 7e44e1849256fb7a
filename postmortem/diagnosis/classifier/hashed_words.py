"""Turn text into features: hashed n-grams of words and of characters.

In: passages, and names of what holds of the run. Out: buckets with the line that put most into
each. Not here: the model, the choice of the text (`classifier.failing_text`).

What differs from run to run (figures, paths, addresses, ids) is replaced before anything is
counted. Only the hash of a gram is kept anywhere, never the gram.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import xxhash

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import ANSI
from postmortem.diagnosis.classifier.failing_text import CIRCUMSTANCE, TextPassage

VERSION: Final = 3
"""Of what is counted, and how: a model fits one of them only."""
BITS: Final = 14
_MOST: Final = 2000
_CODE: Final = compile_lazily(
    r"\b(code|signal|status|errno|exitcode|error|sig)\b[^\w\n-]{0,4}(-?\d{1,3})\b", re.IGNORECASE
)
_DIGIT: Final = compile_lazily(r"\d")
_URL: Final = (compile_lazily(r"https?://\S{1,200}"), " url ")
_FOLDERS: Final = (compile_lazily(r"(?:[A-Za-z]:)?(?:[\w.@+~-]{0,80}[/\\]){2,30}"), " ")
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
