"""A sentence in every language, with the values that fill it.

In: nothing. Out: `Message`. Not here: texts of rules (`patterns/`), labels of the reports
(`report.words`). Whoever finds something words it in English beside the finding; the Chinese
wording stands in the catalogue (`locale/`) and is looked up when it is asked for. The text is made
where the language of the report is known, and nowhere before.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.catalogue import find_translation

_NO_VALUES: Final[Mapping[str, object]] = {}  # a plain one: an error that says this is pickled


class Message(NamedTuple):
    """A sentence in every language, with places for its values: `loss {first:.4g} → {last:.4g}`."""

    en: str
    own_zh: str | None = None
    """The Chinese wording, or None: the catalogue has it."""
    values: Mapping[str, object] = _NO_VALUES
    """What fills the places; another `Message` is filled in in the same language.

    Without values the wordings are texts as they are, braces and all.
    """
    context: str = ""
    """Which of several Chinese wordings of the catalogue is meant."""
    one: str = ""
    """The English wording where `count` is 1, if it is another one; Chinese has one for both."""

    @property
    def zh(self) -> str:
        """The Chinese wording, with places for the values."""
        if self.own_zh is not None:
            return self.own_zh
        return find_translation(self.one or self.en, self.context)

    def text(self, language: str) -> str:
        """Give the sentence in a language; one that is not known gets English."""
        wording = self.zh if language == "zh" else self.en
        if self.one and language != "zh" and self.values.get("count") == 1:
            wording = self.one
        if not self.values:
            return wording
        return wording.format(
            **{name: translate(value, language) for name, value in self.values.items()}
        )

    def both(self) -> tuple[str, str]:
        """Give the sentence in English and in Chinese."""
        return self.text("en"), self.text("zh")

    def by_language(self) -> dict[str, str]:
        """Give the sentence as the files of the rules hold theirs: under `en` and `zh`."""
        return {"en": self.text("en"), "zh": self.text("zh")}

    def __str__(self) -> str:
        """Give the sentence in English."""
        return self.text("en")

    def __repr__(self) -> str:
        """Show both wordings, whether or not the Chinese has been looked up."""
        return f"Message({self.en!r}, {self.zh!r}, {dict(self.values)!r})"

    def __bool__(self) -> bool:
        """Say whether there is anything in it."""
        return bool(self.en or self.own_zh)

    def __eq__(self, other: object) -> bool:
        """Compare the wordings, whether or not they have been looked up, and the values."""
        if not isinstance(other, Message) or self.en != other.en or self.one != other.one:
            return False
        is_same = (self.own_zh, self.context) == (other.own_zh, other.context)
        return self.values == other.values and (is_same or self.zh == other.zh)

    def __hash__(self) -> int:
        """Hash the English wording: values need not have a hash."""
        return hash(self.en)

    def __ne__(self, other: object) -> bool:
        """Compare as `__eq__` does, not as a tuple."""
        return not self == other

    def fill(self, **values: object) -> "Message":
        """Give the same wordings with other values."""
        return self._replace(values=values)

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


def say(en: str, /, **values: object) -> Message:
    """Word something in English; the catalogue has the Chinese wording."""
    return Message(en, None, values or _NO_VALUES)


def say_in(context: str, en: str, /, **values: object) -> Message:
    """Word something whose English has several Chinese wordings: the one of this context."""
    return Message(en, None, values or _NO_VALUES, context)


def say_count(one: str, en: str, /, **values: object) -> Message:
    """Word something for a `count` of 1 and for any other."""
    return Message(en, None, values or _NO_VALUES, one=one)


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
    return say("{label}: {text}", label=label, text=text)


COMMA: Final = say_in("list", ", ")
SEMICOLON: Final = say("; ")


class _Joined(NamedTuple):
    """Entries of a list, joined by a mark."""

    items: Sequence[object]
    mark: Message

    def text(self, language: str) -> str:
        """Give the list in a language."""
        return self.mark.text(language).join(str(translate(one, language)) for one in self.items)


def join_list(items: "list[Message] | list[str]", mark: Message = COMMA) -> Message:
    """Join entries of a list by a mark, `COMMA` or `SEMICOLON`, of each language."""
    places = "{items}"
    return Message(places, places, {"items": _Joined(items, mark)}) if items else NOTHING


def translate(value: object, language: str) -> object:
    """Give a sentence or list of them as text in a language; anything else as it is."""
    return value.text(language) if isinstance(value, Message | _Joined) else value


def cut(text: str, limit: int) -> str:
    """Cut a text that is too long and say so with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
