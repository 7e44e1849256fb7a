"""A sentence in every language, with the values that fill it.

In: nothing. Out: `Message`. Not here: texts of rules (`patterns/`), labels of the reports
(`report.words`). Whoever finds something writes both wordings beside the finding; the text is made
where the language of the report is known, and nowhere before.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

_NO_VALUES: Final[Mapping[str, object]] = {}  # a plain one: an error that says this is pickled


class Message(NamedTuple):
    """A sentence in every language, with places for its values: `loss {first:.4g} → {last:.4g}`."""

    en: str
    zh: str
    values: Mapping[str, object] = _NO_VALUES
    """What fills the places; another `Message` is filled in in the same language.

    Without values the wordings are texts as they are, braces and all.
    """

    def text(self, language: str) -> str:
        """Give the sentence in a language; one that is not known gets English."""
        wording = self.zh if language == "zh" else self.en
        if not self.values:
            return wording
        return wording.format(
            **{name: translate(value, language) for name, value in self.values.items()}
        )

    def __str__(self) -> str:
        """Give the sentence in English."""
        return self.text("en")

    def __bool__(self) -> bool:
        """Say whether there is anything in it."""
        return bool(self.en or self.zh)

    def settled(self, change: Callable[[str], str] = str) -> "Message":
        """Give the same with its places filled, each text changed as asked."""
        if not self.values and change is str:
            return self
        return Message(change(self.text("en")), change(self.text("zh")))

    def cut(self, limit: int) -> "Message":
        """Give the same with texts that are too long cut."""
        return self.settled(lambda text: cut(text, limit))


NOTHING: Final = Message("", "")
"""No words."""


def say(en: str, zh: str, /, **values: object) -> Message:
    """Word something in both languages."""
    return Message(en, zh, values or _NO_VALUES)


def quote(text: str) -> Message:
    """Take words of the log, a name or a version, which are the same in every language."""
    return Message(text, text)


def convert_to_message(what: object) -> Message:
    """Give what an error says as a sentence: in every language, or the same in each."""
    return what if isinstance(what, Message) else quote(str(what))


def parse_bilingual(texts: Mapping[str, str]) -> Message:
    """Take a text of the rules, as their files hold it: under `en` and `zh`."""
    return Message(texts["en"], texts["zh"])


def add_label(label: object, text: object) -> Message:
    """Put a label before a text."""
    return say("{label}: {text}", "{label}：{text}", label=label, text=text)


def join_list(items: "list[Message] | list[str]", en: str = ", ", zh: str = "、") -> Message:
    """Join entries of a list by the mark of each language."""
    values = {f"item_{number}": item for number, item in enumerate(items)}
    places = [f"{{{name}}}" for name in values]
    return Message(en.join(places), zh.join(places), values)


def translate(value: object, language: str) -> object:
    """Give a sentence as text in a language; anything else as it is."""
    return value.text(language) if isinstance(value, Message) else value


def cut(text: str, limit: int) -> str:
    """Cut a text that is too long and say so with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
