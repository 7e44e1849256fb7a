"""The text classifier's opinion of a case: a share for each cause, and the words that carry it.

In: a `Case`, a model. Out: `Opinion` with its `DecisiveWords`, the weightiest passage first. Not
here: how much the opinion counts beside the rules (`inference.second_opinion`).

A model holds no word. But each bucket is known with the passage that filled it, and a word of that
passage gets what its grams put into their buckets; words side by side are shown as one term, as
they stand in the log.
"""

import string
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.answer import DecisiveWords
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import cut
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.classifier.models import TextModel
from postmortem.diagnosis.classifier.text_features import (
    TextPassage,
    compute_buckets,
    extract_failure_passages,
    extract_words,
    hash_grams,
)

_PASSAGES, _TERMS = 3, 3
_LONGEST: Final = 200
_LEAST: Final = 0.1
"""The part of the strongest word's pull below which a word is not shown."""
_BETWEEN: Final = compile_lazily(r"[^a-zA-Z_\u4e00-\u9fff]{0,24}")
_OF_NAMES: Final = f"{string.ascii_letters}{string.digits}_"
_LONGEST_REST: Final = 40
"""Of the characters of a name around the words that it holds."""
_NAMED: Final = compile_lazily(r"[a-zA-Z_]{3}|[\u4e00-\u9fff]")
"""A term says something: a letter alone does not."""
_STOOD_FOR: Final = compile_lazily(r"^(?:0|url|addr|ip|id|code_[a-k]+)$")
"""Words that stand for others: they are in no log."""
_OURS: Final = ("own ", "python ")
"""What stands before a frame that is of no package."""


class _WeightedWords(NamedTuple):
    """A passage, its words, and what each of them puts in."""

    passage: TextPassage
    words: list[str]
    pulls: list[float]


def find_decisive_words(
    model: TextModel, cause: str, filled: Mapping[int, TextPassage]
) -> tuple[DecisiveWords, ...]:
    """Find the words that contribute most to a cause, by their passages."""
    pulls = model.pulls(cause, filled)
    whole = sum(pull for pull in pulls.values() if pull > 0)
    by_passage: defaultdict[TextPassage, dict[int, float]] = defaultdict(dict)
    for bucket, passage in filled.items():
        if passage.line is not None:
            by_passage[passage][bucket] = pulls[bucket]
    sums = {
        passage: sum(pull for pull in own.values() if pull > 0)
        for passage, own in by_passage.items()
    }
    first = sorted(
        (passage for passage in sums if sums[passage] > 0), key=lambda passage: -sums[passage]
    )
    found = (
        _build_decisive_words(
            _compute_word_pulls(passage, by_passage[passage]), sums[passage] / whole
        )
        for passage in first[:_PASSAGES]
    )
    return tuple(passage for passage in found if passage.terms)


def _compute_word_pulls(passage: TextPassage, pulls: dict[int, float]) -> _WeightedWords:
    """Share out what a passage puts in among its words; each bucket counts once."""
    words = extract_words(passage.text)
    each = [0.0] * len(words)
    for places, bucket in hash_grams(passage.kind, words):
        pull = pulls.pop(bucket, 0.0)
        for place in places:
            each[place] += pull / len(places)
    return _WeightedWords(passage, words, each)


def _build_decisive_words(weighted: _WeightedWords, share: float) -> DecisiveWords:
    passage = weighted.passage
    return DecisiveWords(
        cut(_format_passage(passage), _LONGEST),
        tuple(_extract_terms(weighted)[:_TERMS]),
        round(share, 3),
        passage.source,
        passage.line,
    )


def _format_passage(passage: TextPassage) -> str:
    text = passage.text
    for own in _OURS if passage.kind == "frame" else ():
        text = text.removeprefix(own)
    return " ".join(text.split())


def _extract_terms(passage: _WeightedWords) -> list[str]:
    """Give the terms of a passage as they stand in it, the weightiest first."""
    shown = cut(_format_passage(passage.passage), _LONGEST)
    small = "".join(small if len(small := letter.lower()) == 1 else letter for letter in shown)
    terms: dict[str, float] = {}
    for first, behind in _find_word_runs(passage):
        term = shown[_place(passage.words[first:behind], small)]
        if _NAMED.search(term):
            terms[term] = max(terms.get(term, 0.0), sum(passage.pulls[first:behind]))
    return sorted(terms, key=lambda term: -terms[term])


def _place(words: Sequence[str], text: str) -> slice:
    """Find words that follow each other, to the ends of the names that hold them; else nothing.

    A pattern for each term would take longer to compile than all else that is done here.
    """
    at = text.find(words[0])
    while at >= 0:
        behind = _find_phrase_end(words, text, at)
        if behind is not None:
            before = text[max(0, at - _LONGEST_REST) : at]
            return slice(at - len(before) + len(before.rstrip(_OF_NAMES)), behind)
        at = text.find(words[0], at + 1)
    return slice(0)


def _find_phrase_end(words: Sequence[str], text: str, at: int) -> int | None:
    """Say where the name of the last word ends, if the words follow each other from here."""
    for word in words:
        between = _BETWEEN.match(text, at)
        at = at if between is None else between.end()
        if not text.startswith(word, at):
            return None
        at += len(word)
    rest = text[at : at + _LONGEST_REST]
    return at + len(rest) - len(rest.lstrip(_OF_NAMES))


def _find_word_runs(passage: _WeightedWords) -> Iterator[tuple[int, int]]:
    """Give runs of words that pull, each from its first word to behind its last."""
    least = _LEAST * max(passage.pulls, default=0.0)
    first = None
    for place, (word, pull) in enumerate(zip(passage.words, passage.pulls, strict=True)):
        is_telling = pull > max(0.0, least) and not _STOOD_FOR.match(word)
        if is_telling and first is None:
            first = place
        if not is_telling and first is not None:
            yield first, place
            first = None
    if first is not None:
        yield first, len(passage.words)


class Opinion(NamedTuple):
    """The model's say in one case."""

    model: TextModel
    shares: Mapping[str, float]
    """By cause; empty where the case has no text."""
    filled: Mapping[int, TextPassage]

    def carried_by(self, cause: str) -> TextPassage | None:
        """Give the passage of a log that contributes most to a cause."""
        pulls: defaultdict[TextPassage, float] = defaultdict(float)
        for bucket, pull in self.model.pulls(cause, self.filled).items():
            pulls[self.filled[bucket]] += pull
        lines = [passage for passage in pulls if passage.line is not None]
        return max(lines, key=lambda passage: pulls[passage], default=None)

    def is_that_of(self, cause: str) -> bool:
        """Say whether a text is on the cause's side of the line to all others."""
        return self.model.scores(self.filled)[cause] > 0

    def telling(self, cause: str) -> tuple[DecisiveWords, ...]:
        """Give the words that contribute most to a cause."""
        return find_decisive_words(self.model, cause, self.filled)


def ask_text_model(case: Case, model: TextModel, circumstances: Iterable[str] = ()) -> Opinion:
    """Ask the model what a case sounds like, of which these circumstances hold."""
    filled = compute_buckets(extract_failure_passages(case, circumstances))
    return Opinion(model, model.shares(filled) if filled else {}, filled)
