"""Hide what a log gives away about people and machines.

Tokens, passwords, addresses, telephone numbers, user and host names.

In: text (raw or cleaned) and the host names that the reader found. Out: the same text with
pseudonyms (`secret-1`, `email-1`, `ip-1`, `mac-1`, `phone-1`, `user-1`, `host-1`) and a count for
each kind. Not here: what gives away (`tokens`, `assignments`, `arguments`, `multiline_secrets`,
`private_keys`, `machines`, `people`), what is called how (`pseudonyms`), when to redact (rendering
does, reading and the store never do).

One `Redactor` serves one report: the same name gets the same pseudonym everywhere. Line breaks are
never touched, so that line numbers hold. Of every text one pass tells which rules may find
something; what became of it is remembered until more names are known.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import re2

from postmortem.core.log_text import ANSI, compile_lazily
from postmortem.report.redaction import continued, private_keys
from postmortem.report.redaction.arguments import CALLS, COMMANDS
from postmortem.report.redaction.assignments import ASSIGNMENTS
from postmortem.report.redaction.hiding import KINDS, PSEUDONYM, ROOM, HidingRule, Span
from postmortem.report.redaction.machines import BY_NUMBER, COMMON_HOSTS, MACHINES
from postmortem.report.redaction.multiline_secrets import LINES_ABOVE, MANIFESTS, TABLES
from postmortem.report.redaction.people import PEOPLE
from postmortem.report.redaction.pseudonyms import QUOTED, Pseudonyms, get_file_suffix
from postmortem.report.redaction.secret_names import is_secret_setting
from postmortem.report.redaction.tokens import TOKENS, find_value_rest

__all__ = ["KINDS", "Redactor"]

_RULES: Final = (
    *TOKENS,
    *ASSIGNMENTS,
    *LINES_ABOVE,
    *MANIFESTS,
    *TABLES,
    *COMMANDS,
    *CALLS,
    *MACHINES,
    *PEOPLE,
)
_ADDRESS_KINDS: Final = frozenset({"ip", "mac", "phone"})
_SHORTEST: Final = 4
_AT_ONCE: Final = 64
"""Texts that are looked through together."""
_SURROGATE: Final = compile_lazily("[\ud800-\udfff]")
_WIDE: Final = compile_lazily("[０-９Ａ-Ｚａ-ｚ\u3000]")
_FOLDED: Final = {
    ord(wide): chr(ord(wide) - 0xFEE0)
    for wide in map(chr, range(0xFF10, 0xFF5B))
    if wide.isalnum() or wide in "＠＿"
} | {
    ord(wide): narrow for wide, narrow in zip("－．＃＄％＆＊＋／\u3000", "-.#$%&*+/ ", strict=True)
}
"""Letters, digits and signs as wide as Chinese ones, each with the usual one for it."""


class _Hints:
    """Tells which rules may find something in a text, in one pass over it."""

    def __init__(self, hints: Sequence[str]) -> None:
        """Compile the hints, each once: several rules have the same.

        An empty one, which always matches, tells whether the engine had room enough to answer. A
        hint that a text holds is one of each line of it, so that many texts can be looked through
        as one.
        """
        self._all = range(len(hints))
        hinted = defaultdict[str, list[int]](list)
        for number, hint in enumerate(hints):
            hinted[hint].append(number)
        self._set = re2.Set.SearchSet(ROOM)
        for hint in (*hinted, ""):
            self._set.Add(f"(?m:{hint})")
        self._set.Compile()
        self._rules = [*hinted.values(), []]

    def due(self, text: str) -> Sequence[int]:
        """Give the numbers of the rules, in their order."""
        found = self._set.Match(text)
        if len(self._rules) - 1 not in found:
            return self._all
        if len(found) == 1:
            return ()
        return sorted(number for hint in found for number in self._rules[hint])


@cache
def _compile_hints() -> _Hints:
    """Compile the hints when something is hidden for the first time."""
    return _Hints([private_keys.HINT, *(rule.hint for rule in _RULES)])


def _iter_without_hints(texts: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
    """Yield texts in which no rule finds anything, many at once, and whether all are bare ASCII."""
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        together = "\n".join(some)
        if not _compile_hints().due(together) and not any(map(find_value_rest, some)):
            yield some, together.isascii() and "\x1b" not in together


def _fold_wide(text: str) -> str:
    """Put the usual letters for wide ones, one for one."""
    return text.translate(_FOLDED) if _WIDE.search(text) else text


def _restore_line_breaks(hidden: str, pseudonym: str) -> str:
    """Put a pseudonym where a text stood.

    On its first line that holds anything, with all its line breaks.
    """
    head = len(hidden) - len(hidden.lstrip("\n"))
    return "\n" * head + pseudonym + "\n" * (hidden.count("\n") - head)


def _put(text: str, pieces: Iterable[tuple[Span, str]]) -> str:
    """Put new texts into their places, which are in order."""
    parts, done = [], 0
    for (start, end), new in pieces:
        if start >= done:
            parts += [text[done:start], new]
            done = end
    return "".join([*parts, text[done:]])


class Redactor:
    """Replaces secrets, addresses and names by pseudonyms that are stable within one report."""

    def __init__(self) -> None:
        """Start with no names known."""
        self._pseudonyms = Pseudonyms()
        self._learnt: dict[str, Any] = {}
        self._known: dict[str, str] = {}
        """What became of a text, until more is learnt."""
        self._versions: dict[str, str] = {}
        """The same of texts in which numbers of four parts are left."""
        self._due: dict[str, Sequence[int]] = {}
        """The rules that may find something in a text."""

    @property
    def counts(self) -> dict[str, int]:
        """Say how many different secrets, addresses and names were hidden, by kind."""
        return self._pseudonyms.counts

    @property
    def knows_any(self) -> bool:
        """Say whether any name is known by now, of which there may be more than was hidden."""
        return self._pseudonyms.knows_any

    def learn(self, hosts: Iterable[str]) -> None:
        """Take the host names that the reader found.

        One that looks like a pseudonym already keeps itself.
        """
        for name in hosts:
            self.node(name)
        self.settle()

    def settle(self) -> None:
        """Count anew, and from now on hide every name seen so far wherever it stands.

        A rehearsal finds the name that comes late.
        """
        self._pseudonyms.count_anew()
        self._learnt = self._pseudonyms.patterns()
        self._known.clear()
        self._versions.clear()

    def text(self, text: str, *, addresses: bool = True) -> str:
        """Hide what a text gives away.

        Without `addresses`, numbers of four parts are left: they are versions.
        """
        if len(text) < _SHORTEST:
            return text
        known = self._known if addresses else self._versions
        given = known.get(text)
        if given is None:
            bare = ANSI.sub("", text) if "\x1b" in text else text
            bare = bare if bare.isascii() else _fold_wide(_SURROGATE.sub("\ufffd", bare))
            hidden = self._hide(bare, addresses=addresses)
            given = known[text] = text if hidden == bare else hidden
        return given

    def foresee(self, texts: Iterable[str]) -> None:
        """Look through many texts at once: most hold nothing that any rule looks for."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._due]
        for some, is_plain in _iter_without_hints(fresh):
            self._due |= dict.fromkeys(some, ())
            if is_plain and not any(self._learnt.values()):
                self._known |= zip(some, some, strict=True)

    def _hide(self, text: str, *, addresses: bool) -> str:
        text = self._replaced("host", text)
        due = self._due.get(text)
        if due is None:
            due = self._due[text] = _compile_hints().due(text)
        if (rest := find_value_rest(text)) is not None:
            text = _put(text, [(rest, self._pseudonyms.of("secret", text[slice(*rest)]))])
        if "\n" in text:
            text = self._without_continued(text)
        for number in due:
            if number == 0:
                text = self._without_keys(text)
            elif addresses or _RULES[number - 1].kind not in _ADDRESS_KINDS:
                text = self._without(_RULES[number - 1], text)
        text = self._replaced("secret", self._replaced("user", text))
        return self._replaced("phone", self._replaced("secret", text, QUOTED))

    def lines(
        self, lines: Sequence[str], *, before: Sequence[str] = (), behind: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Hide in consecutive lines, a private key that runs over several included.

        As many lines come out as went in. Those right `before` and `behind` are not given back, and
        what is hidden in them alone is not counted: a secret may be named or go on there.
        """
        around = (*before, *lines, *behind)
        if not around:
            return ()
        counted = self._pseudonyms.hidden
        hidden = self.text("\n".join(line.replace("\n", " ") for line in around)).split("\n")
        shown = tuple(hidden[len(before) : len(before) + len(lines)])
        if len(around) > len(lines):
            self._pseudonyms.count_shown("\n".join(shown), counted)
        return shown

    def node(self, name: str) -> str:
        """Give a host's pseudonym."""
        if name.lower() in COMMON_HOSTS or BY_NUMBER.fullmatch(name):
            return name
        return self._pseudonyms.of("host", name)

    def setting(self, name: str, value: object) -> object:
        """Hide the whole value of a setting whose name says that it is a secret.

        Others are left as they are.
        """
        if (
            not isinstance(value, str)
            or PSEUDONYM.fullmatch(value)
            or not is_secret_setting(name, value)
        ):
            return value
        return self._pseudonyms.of("secret", value)

    def _without_keys(self, text: str) -> str:
        """Hide private keys.

        The first line of each is its pseudonym, the others are empty, and what a launcher put
        before them stays.
        """
        pieces: list[tuple[Span, str]] = []
        for key in private_keys.find_private_keys(text):
            body = "".join(text[start:end] for start, end in key)
            if not PSEUDONYM.match(body):
                first = self._pseudonyms.of("secret", body)
                pieces += zip(key, [first] + [""] * (len(key) - 1), strict=True)
        return _put(text, sorted(pieces))

    def _without_continued(self, text: str) -> str:
        """Hide values that go on in the next line: the first piece is the pseudonym of all."""
        pieces: list[tuple[Span, str]] = []
        for joined in continued.iter_joined_lines(text):
            for places in self._continued(joined):
                whole = "".join(text[start:end] for start, end in places)
                pseudonym = self._pseudonyms.of("secret", whole)
                for start, end in places:
                    self._pseudonyms.also("secret", text[start:end], pseudonym)
                new = [pseudonym] + [""] * (len(places) - 1)
                pieces += zip(places, new, strict=True)
        return _put(text, sorted(pieces)) if pieces else text

    def _continued(self, joined: continued.Joined) -> Iterator[list[Span]]:
        """Yield the places of each secret that ends in another line than it or its name begins."""
        taken: list[Span] = []
        for number in _compile_hints().due(joined.text):
            if number and (rule := _RULES[number - 1]).kind == "secret":
                for start, end in rule.spans(joined.text):
                    places = joined.places(start, end)
                    if (
                        places
                        and not PSEUDONYM.match(joined.text[start:end])
                        and all(end <= first or start >= last for first, last in taken)
                    ):
                        taken.append((start, end))
                        yield places

    def _without(self, rule: HidingRule, text: str) -> str:
        """Hide what one rule finds."""
        pieces: list[tuple[Span, str]] = []
        for start, end in rule.spans(text):
            value = text[start:end]
            if PSEUDONYM.match(value):
                continue
            hidden = value.removesuffix(get_file_suffix(value)) if rule.kind == "host" else value
            pseudonym = self._pseudonyms.of(rule.kind, hidden)
            pieces.append(((start, start + len(hidden)), _restore_line_breaks(hidden, pseudonym)))
        return _put(text, pieces) if pieces else text

    def _replaced(self, kind: str, text: str, where: str = "") -> str:
        """Hide the names of a kind that were learnt before.

        Where one character parts two of them, the second is found the second time.
        """
        pattern = self._learnt.get(where or kind)
        if pattern is None or pattern.search(text) is None:
            return text
        for _ in range(2):
            found = [
                (match.span(1), self._pseudonyms.learnt(kind, match["v"]))
                for match in pattern.finditer(text)
            ]
            text = _put(text, found)
        return text
