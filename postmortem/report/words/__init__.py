"""Fixed phrases of the reports, in English and Chinese.

In: a language and a key. Out: a phrase. Not here: texts of causes and fixes, which the diagnosis
brings in its own language.
"""

from typing import Final

from postmortem.report.words.phrase_table import PhraseTable
from postmortem.report.words.report_words import CHART, FIGURES, PAGE, REPLAY, RUN, SMALL, VERDICT

WORDS: Final = PhraseTable(
    {**SMALL, **VERDICT, **RUN, **CHART, **FIGURES, **PAGE, **REPLAY},
)


class Words:
    """The phrases of one language; a language that is not known gets English."""

    def __init__(self, language: str) -> None:
        """Choose the phrases of a language."""
        self.language = language if language in WORDS else "en"
        self._phrases = WORDS[self.language]

    def __call__(self, key: str, **values: object) -> str:
        """Give a phrase with its values filled in."""
        if values.get("count") == 1:
            return WORDS.messages[key].fill(**values).text(self.language)
        phrase = self._phrases[key]
        return phrase.format(**values) if values else phrase

    def raw(self, key: str) -> str:
        """Give a phrase with its gaps, for a script that fills them in."""
        return self._phrases[key]

    def either(self, group: str, value: str) -> str:
        """Give the phrase `group.value`, or the value itself where no phrase is known."""
        return self._phrases.get(f"{group}.{value}", value)
