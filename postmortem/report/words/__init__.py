"""Fixed phrases of the reports, in English and Chinese.

In: a language and a key; tables of messages by key. Out: phrases. Not here: texts of causes and
fixes, which the diagnosis brings in its own language.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from postmortem.core.message import Message
from postmortem.core.names import LANGUAGES
from postmortem.report.words.report_words import CHART, FIGURES, PAGE, REPLAY, RUN, SMALL, VERDICT


class PhraseTable(Mapping[str, Mapping[str, str]]):
    """Phrases by language and key; a language is looked up when it is first asked for."""

    def __init__(self, messages: Mapping[str, Message]) -> None:
        self.messages = messages
        self._phrases: dict[str, Mapping[str, str]] = {}

    def __getitem__(self, language: str) -> Mapping[str, str]:
        """Give the phrases of a language; any other than `en` and `zh` is a `KeyError`."""
        if language not in self._phrases:
            if language not in LANGUAGES:
                raise KeyError(language)
            self._phrases[language] = {
                key: message.text(language) for key, message in self.messages.items()
            }
        return self._phrases[language]

    def __iter__(self) -> Iterator[str]:
        """Name the languages."""
        return iter(LANGUAGES)

    def __len__(self) -> int:
        """Count the languages."""
        return len(LANGUAGES)


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
