"""A table of phrases: in each language, the phrase of each key.

In: messages by key. Out: phrases by language and key. Not here: the phrases themselves.
"""

from collections.abc import Iterator, Mapping

from postmortem.core.message import Message
from postmortem.core.names import LANGUAGES


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
