"""The text classifier's opinion of a case: a share for each cause, and the lines that carry it.

In: a `Case`, a model. Out: `Opinion`. Not here: how much it counts beside the rules
(`inference.second_opinion`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from postmortem.core.answer import DecisiveWords
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.classifier.decisive_words import find_decisive_words
from postmortem.diagnosis.classifier.failing_text import TextPassage, extract_failure_passages
from postmortem.diagnosis.classifier.hashed_words import compute_buckets
from postmortem.diagnosis.classifier.text_model import TextModel


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
