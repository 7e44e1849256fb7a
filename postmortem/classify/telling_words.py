"""Which words of a log carry a model's say: hashes looked up again in the text that filled them.

In: a model, a cause, the buckets of a text with their passages. Out: `TellingWords`, the weightiest
passage first. Not here: what the say is worth (`inference.second_opinion`).

A model holds no word. But each bucket is known with the passage that filled it, and a word of that
passage gets what its grams put into their buckets; words side by side are shown as one term, as
they stand in the log.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from postmortem.classify.failing_text import Saying
from postmortem.classify.hashed_words import grams_by_word, words
from postmortem.classify.text_model import TextModel
from postmortem.model.answer import TellingWords
from postmortem.model.said import cut

_PASSAGES, _TERMS = 3, 3
_LONGEST: Final = 200
_LEAST: Final = 0.1
"""The part of the strongest word's pull below which a word is not shown."""
_BETWEEN: Final = r"[ 0-9]{0,24}?"
"""What may stand between the words of a term, in a text without marks."""
_MARK: Final = re.compile(r"[^a-zA-Z0-9_\u4e00-\u9fff]")
_REST: Final = r"[a-zA-Z0-9_]{0,40}"
"""Of a name that has figures in it."""
_NAMED: Final = re.compile(r"[a-zA-Z_]{3}|[\u4e00-\u9fff]")
"""A term says something: a letter alone does not."""
_STOOD_FOR: Final = re.compile(r"^(?:0|url|addr|ip|id|code_[a-k]+)$")
"""Words that stand for others: they are in no log."""
_OURS: Final = ("own ", "python ")
"""What stands before a frame that is of no package."""


class _Pulled(NamedTuple):
    """A passage, its words, and what each of them puts in."""

    passage: Saying
    said: list[str]
    pulls: list[float]


def words_that_carry(
    model: TextModel, cause: str, filled: Mapping[int, Saying]
) -> tuple[TellingWords, ...]:
    """Give the words that speak most for a cause, by their passages."""
    pulls = model.pulls(cause, filled)
    whole = sum(pull for pull in pulls.values() if pull > 0)
    by_passage: defaultdict[Saying, dict[int, float]] = defaultdict(dict)
    for bucket, passage in filled.items():
        if passage.line is not None:
            by_passage[passage][bucket] = pulls[bucket]
    sums = {
        passage: sum(pull for pull in own.values() if pull > 0)
        for passage, own in by_passage.items()
    }
    first = sorted((one for one in sums if sums[one] > 0), key=lambda one: -sums[one])
    found = (
        _told(_pulled(passage, by_passage[passage]), sums[passage] / whole)
        for passage in first[:_PASSAGES]
    )
    return tuple(one for one in found if one.terms)


def _pulled(passage: Saying, pulls: dict[int, float]) -> _Pulled:
    """Share out what a passage puts in among its words; each bucket counts once."""
    said = words(passage.text)
    each = [0.0] * len(said)
    for places, bucket in grams_by_word(passage.kind, said):
        pull = pulls.pop(bucket, 0.0)
        for place in places:
            each[place] += pull / len(places)
    return _Pulled(passage, said, each)


def _told(one: _Pulled, share: float) -> TellingWords:
    passage = one.passage
    return TellingWords(
        cut(_text(passage), _LONGEST),
        tuple(_terms(one)[:_TERMS]),
        round(share, 3),
        passage.source,
        passage.line,
    )


def _text(passage: Saying) -> str:
    text = passage.text
    for own in _OURS if passage.kind == "frame" else ():
        text = text.removeprefix(own)
    return " ".join(text.split())


def _terms(one: _Pulled) -> list[str]:
    """Give the terms of a passage as they stand in it, the weightiest first."""
    shown = cut(_text(one.passage), _LONGEST)
    small = _MARK.sub(" ", _small(shown))
    terms: dict[str, float] = {}
    for first, behind in _stretches(one):
        pattern = _BETWEEN.join(map(re.escape, one.said[first:behind]))
        found = re.search(f"{_REST}{pattern}{_REST}", small)
        term = shown[found.start() : found.end()] if found is not None else ""
        if _NAMED.search(term):
            terms[term] = max(terms.get(term, 0.0), sum(one.pulls[first:behind]))
    return sorted(terms, key=lambda term: -terms[term])


def _small(text: str) -> str:
    """Give a text in small letters, each where its large one stands.

    A pattern that ignores case takes a millisecond to compile, and each is used once; so would one
    that names the marks between words.
    """
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _stretches(one: _Pulled) -> Iterator[tuple[int, int]]:
    """Give runs of words that pull, each from its first word to behind its last."""
    least = _LEAST * max(one.pulls, default=0.0)
    first = None
    for place, (word, pull) in enumerate(zip(one.said, one.pulls, strict=True)):
        is_telling = pull > max(0.0, least) and not _STOOD_FOR.match(word)
        if is_telling and first is None:
            first = place
        if not is_telling and first is not None:
            yield first, place
            first = None
    if first is not None:
        yield first, len(one.said)
