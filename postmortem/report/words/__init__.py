"""Fixed phrases of the reports, in English and Chinese.

In: a language and a key. Out: a phrase. Not here: texts of causes and fixes, which the diagnosis
brings in its own language.
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.names import LANGUAGES
from postmortem.report.words.chart_words import CHART
from postmortem.report.words.figure_words import FIGURES
from postmortem.report.words.page_words import PAGE
from postmortem.report.words.replay_words import REPLAY
from postmortem.report.words.run_words import RUN
from postmortem.report.words.small_words import SMALL
from postmortem.report.words.verdict_words import VERDICT

# English says one thing otherwise than several; Chinese does not.
_ONE: Final[Mapping[str, str]] = {
    "input.empty": "The file is empty",
    "input.blank": "The file holds only blank lines",
    "curve.points": "{count} point",
    "evidence.more": "{count} more piece of evidence",
    "fixes.more": "{count} more thing to do",
    "curve.more": "{count} more series is in the JSON report",
    "excerpt.files": "{count} more file",
    "excerpt.cut": "… {count} more character",
    "excerpt.gap": "… {count} line left out",
    "source.lines": "{count} line",
    "source.bytes": "{count} byte",
    "times": "{count} time",
    "timeline.left": "{count} more event is left out: it says the least",
    "timeline.more": "{count} more event is in the HTML and JSON reports",
}

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    language: {
        key: phrase
        for phrases in (SMALL, VERDICT, RUN, CHART, FIGURES, PAGE, REPLAY)
        for key, phrase in phrases[language].items()
    }
    for language in LANGUAGES
}


class Words:
    """The phrases of one language; a language that is not known gets English."""

    def __init__(self, language: str) -> None:
        """Choose the phrases of a language."""
        self.language = language if language in WORDS else "en"
        self._phrases = WORDS[self.language]

    def __call__(self, key: str, **values: object) -> str:
        """Give a phrase with its values filled in."""
        is_one = values.get("count") == 1 and self.language == "en"
        phrase = _ONE.get(key, self._phrases[key]) if is_one else self._phrases[key]
        return phrase.format(**values) if values else phrase

    def raw(self, key: str) -> str:
        """Give a phrase with its gaps, for a script that fills them in."""
        return self._phrases[key]

    def either(self, group: str, value: str) -> str:
        """Give the phrase `group.value`, or the value itself where no phrase is known."""
        return self._phrases.get(f"{group}.{value}", value)
