"""Hide what a log gives away about people and machines.

Tokens, passwords, addresses, telephone numbers, user and host names.

In: text (raw or cleaned) and the host names that the reader found. Out: the same text with
pseudonyms (`secret-1`, `email-1`, `ip-1`, `mac-1`, `phone-1`, `user-1`, `host-1`) and a count for
each kind. Not here: what gives away (`credentials`, `private_keys`, `machines`, `people`), when to
redact (rendering does, reading and the store never do).

One `Redactor` serves one report: the same name gets the same pseudonym everywhere. Line breaks are
never touched, so that line numbers hold. Of every text one pass tells which rules may find
something; what became of it is remembered until more names are known.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import re2

from postmortem.reading.prefixes import ANSI
from postmortem.redaction import private_keys
from postmortem.redaction.credentials import SECRETS
from postmortem.redaction.hiding import KINDS, PSEUDONYM, ROOM, Rule, Span
from postmortem.redaction.machines import BY_NUMBER, COMMON_HOSTS, MACHINES
from postmortem.redaction.people import PEOPLE
from postmortem.redaction.secret_names import is_random, is_secret_setting

__all__ = ["KINDS", "Redactor"]

_FILE_SUFFIX: Final = re.compile(
    r"(?:\.(?:log|out|err|txt|json|jsonl|yaml|yml|csv|py|sh|gz|zst|bz2|xz|so|html|md))+$"
)

_RULES: Final = (*SECRETS, *MACHINES, *PEOPLE)
_ADDRESS_KINDS: Final = frozenset({"ip", "mac", "phone"})
_SHORTEST: Final = 4
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LEAST_KNOWN: Final = 8
"""Characters of a secret that is hidden wherever it stands, not only behind its name."""


class _Hints:
    """Tells which rules may find something in a text, in one pass over it."""

    def __init__(self, hints: Sequence[str]) -> None:
        """Compile the hints; an empty one, which always matches, tells whether the engine had room enough to answer."""
        self._set = re2.Set.SearchSet(ROOM)
        for hint in (*hints, ""):
            self._set.Add(hint)
        self._set.Compile()
        self._all = range(len(hints))

    def due(self, text: str) -> Sequence[int]:
        """Give the numbers of the rules, in their order."""
        found = sorted(self._set.Match(text))
        return found[:-1] if found and found[-1] == len(self._all) else self._all


@cache
def _hints() -> _Hints:
    """Compile the hints when something is hidden for the first time."""
    return _Hints([private_keys.HINT, *(rule.hint for rule in _RULES)])


def _host_key(name: str) -> str:
    """Give the part that stands for a host: `gpu17` for `gpu17.cluster.org`.

    A name without a digit is kept whole, it may be a word.
    """
    first = name.partition(".")[0]
    is_plain = any(char.isdigit() for char in first) and not first.isdigit()
    return first if is_plain and first.lower() not in COMMON_HOSTS else name


def _breaks_kept(hidden: str, pseudonym: str) -> str:
    """Put a pseudonym where a text stood, on its first line that holds anything, with all its line breaks."""
    head = len(hidden) - len(hidden.lstrip("\n"))
    return "\n" * head + pseudonym + "\n" * (hidden.count("\n") - head)


def _suffix(host: str) -> str:
    """Give the file suffixes at the end of what a host's name stands in."""
    found = _FILE_SUFFIX.search(host)
    return found[0] if found else ""


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
        self._hidden: set[tuple[str, str]] = set()
        self._names: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._taken: set[str] = set()
        self._learnt: dict[str, Any] = {}
        self._known: dict[tuple[str, bool], str] = {}
        """What became of a text, until more is learnt."""

    @property
    def counts(self) -> dict[str, int]:
        """Say how many different secrets, addresses and names were hidden, by kind."""
        return dict(sorted(Counter(kind for kind, _ in self._hidden).items()))

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
        self._hidden.clear()
        self._compile()

    def text(self, text: str, *, addresses: bool = True) -> str:
        """Hide what a text gives away.

        Without `addresses`, numbers of four parts are left: they are versions.
        """
        if len(text) < _SHORTEST:
            return text
        if (text, addresses) not in self._known:
            bare = ANSI.sub("", text) if "\x1b" in text else text
            bare = bare if bare.isascii() else _SURROGATE.sub("\ufffd", bare)
            hidden = self._hide(bare, addresses=addresses)
            self._known[text, addresses] = text if hidden == bare else hidden
        return self._known[text, addresses]

    def _hide(self, text: str, *, addresses: bool) -> str:
        text = self._replaced("host", text)
        for number in _hints().due(text):
            if number == 0:
                text = self._without_keys(text)
            elif addresses or _RULES[number - 1].kind not in _ADDRESS_KINDS:
                text = self._without(_RULES[number - 1], text)
        return self._replaced("secret", self._replaced("user", text))

    def lines(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Hide in consecutive lines, a private key that runs over several included.

        As many lines come out as went in.
        """
        return (
            tuple(self.text("\n".join(line.replace("\n", " ") for line in lines)).split("\n"))
            if lines
            else ()
        )

    def node(self, name: str) -> str:
        """Give a host's pseudonym."""
        return (
            name
            if name.lower() in COMMON_HOSTS or BY_NUMBER.fullmatch(name)
            else self._count("host", name)
        )

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
        return self._count("secret", value)

    def _without_keys(self, text: str) -> str:
        """Hide private keys: the first line of each is its pseudonym, the others are empty, and what a launcher put before them stays."""
        pieces: list[tuple[Span, str]] = []
        for key in private_keys.keys(text):
            body = "".join(text[start:end] for start, end in key)
            if not PSEUDONYM.match(body):
                pieces += zip(
                    key, [self._count("secret", body)] + [""] * (len(key) - 1), strict=True
                )
        return _put(text, sorted(pieces))

    def _without(self, rule: Rule, text: str) -> str:
        """Hide what one rule finds."""
        pieces: list[tuple[Span, str]] = []
        for start, end in rule.spans(text):
            value = text[start:end]
            if not PSEUDONYM.match(value):
                hidden = value.removesuffix(_suffix(value)) if rule.kind == "host" else value
                pieces.append(
                    (
                        (start, start + len(hidden)),
                        _breaks_kept(hidden, self._count(rule.kind, hidden)),
                    )
                )
        return _put(text, pieces) if pieces else text

    def _replaced(self, kind: str, text: str) -> str:
        """Hide the names of a kind that were learnt before.

        Where one character parts two of them, the second is found the second time.
        """
        pattern = self._learnt.get(kind)
        if pattern is None or pattern.search(text) is None:
            return text
        for _ in range(2):
            text = _put(
                text,
                [
                    (match.span(1), self._again(kind, match["v"]))
                    for match in pattern.finditer(text)
                ],
            )
        return text

    def _again(self, kind: str, found: str) -> str:
        """Give the pseudonym of a name learnt before.

        A domain behind a host goes with it, a file suffix stays.
        """
        if PSEUDONYM.fullmatch(found):
            return found
        suffix = _suffix(found) if kind == "host" else ""
        bare = found.removesuffix(suffix)
        while kind == "host" and (kind, _host_key(bare)) not in self._names and "." in bare:
            bare = bare.rpartition(".")[0]
        return self._count(kind, bare) + suffix

    def _count(self, kind: str, name: str) -> str:
        pseudonym = self._pseudonym(kind, name)
        if pseudonym != name:
            self._hidden.add((kind, pseudonym))
        return pseudonym

    def _pseudonym(self, kind: str, name: str) -> str:
        key = (kind, _host_key(name) if kind == "host" else name)
        if key not in self._names:
            if PSEUDONYM.fullmatch(name):
                self._names[key] = name
            else:
                self._numbers[kind] += 1
                while f"{kind}-{self._numbers[kind]}" in self._taken:
                    self._numbers[kind] += 1
                self._names[key] = f"{kind}-{self._numbers[kind]}"
            self._taken.add(self._names[key])
        return self._names[key]

    def _compile(self) -> None:
        names = sorted(
            (name for name in self._names if not PSEUDONYM.fullmatch(name[1])),
            key=lambda key: (-len(key[1]), key),
        )
        hosts = [name for kind, name in names if kind == "host" and len(name) >= 3]
        users = [name for kind, name in names if kind == "user" and len(name) >= 4]
        secrets = [
            name
            for kind, name in names
            if kind == "secret" and len(name) >= _LEAST_KNOWN and is_random(name)
        ]
        self._learnt = {
            kind: re2.compile(
                before + f"(?P<v>(?:{'|'.join(map(re2.escape, found))}){behind}", ROOM
            )
            for kind, found, before, behind in (
                (
                    "host",
                    hosts,
                    "(?:^|[^A-Za-z0-9])",
                    r"(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*)(?:[^A-Za-z0-9]|$)",
                ),
                ("user", users, r"[/\\]", r")(?:[^\w.-]|$)"),
                ("secret", secrets, "(?:^|[^A-Za-z0-9])", ")(?:[^A-Za-z0-9]|$)"),
            )
            if found
        }
        self._known.clear()
