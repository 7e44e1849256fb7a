"""Who is called what in a report: `host-1`, `user-2`, the same name everywhere the same.

In: names, each of a kind. Out: pseudonyms, how many there are, and the patterns by which names that
are known are found wherever they stand. Not here: finding names (`machines`, `people` ...),
replacing them (`redactor`).
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import re2

from postmortem.core.log_text import compile_lazily
from postmortem.report.redaction.hiding import PSEUDONYM, ROOM
from postmortem.report.redaction.machines import COMMON_HOSTS
from postmortem.report.redaction.people import ORDINARY_WORDS
from postmortem.report.redaction.secret_names import is_harmless, is_random

QUOTED: Final = "secret in quotes"
"""Secrets that may be words, such as `sesame`: elsewhere they are hidden only if quoted whole."""
_SHORTEST_QUOTED: Final = 5
_FILE_SUFFIX: Final = compile_lazily(
    r"(?:\.(?:log|out|err|txt|json|jsonl|yaml|yml|csv|py|sh|gz|zst|bz2|xz|so|html|md))+$"
)
_EVERYWHERE: Final = (
    # of each kind: the fewest characters of a name that is hidden wherever it stands, what stands
    # before it, and behind it
    (
        "host",
        3,
        "(?:^|[^A-Za-z0-9])",
        r"(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*)(?:[^A-Za-z0-9]|$)",
    ),
    ("user", 4, "(?:^|[^A-Za-z0-9])", ")(?:[^A-Za-z0-9]|$)"),
    ("secret", 8, "(?:^|[^A-Za-z0-9])", ")(?:[^A-Za-z0-9]|$)"),
    ("phone", 11, "(?:^|[^A-Za-z0-9.])", ")(?:[^A-Za-z0-9]|$)"),
)


class Pseudonyms:
    """Gives names their pseudonyms, and counts them."""

    def __init__(self) -> None:
        """Start with no names known."""
        self._hidden: set[tuple[str, str]] = set()
        self._names: dict[tuple[str, str], str] = {}
        self._numbers: Counter[str] = Counter()
        self._taken: set[str] = set()

    @property
    def counts(self) -> dict[str, int]:
        """Say how many different names were hidden since the count began, by kind."""
        return dict(sorted(Counter(kind for kind, _ in self._hidden).items()))

    @property
    def knows_any(self) -> bool:
        """Say whether any name is known."""
        return bool(self._names)

    @property
    def hidden(self) -> frozenset[tuple[str, str]]:
        """Give what was hidden since the count began: kinds and pseudonyms."""
        return frozenset(self._hidden)

    def count_shown(self, text: str, counted: frozenset[tuple[str, str]]) -> None:
        """Count of what was hidden since another count only what a text shows."""
        self._hidden = {one for one in self._hidden if one in counted or one[1] in text}

    def count_anew(self) -> None:
        """Begin to count."""
        self._hidden.clear()

    def of(self, kind: str, name: str) -> str:
        """Give the pseudonym of a name, and count it; what looks like one keeps itself."""
        pseudonym = self._given(kind, name)
        if pseudonym != name:
            self._hidden.add((kind, pseudonym))
        return pseudonym

    def also(self, kind: str, name: str, pseudonym: str) -> None:
        """Let a pseudonym stand for another name too: a piece of one that runs over lines."""
        self._names.setdefault((kind, name), pseudonym)

    def learnt(self, kind: str, found: str) -> str:
        """Give the pseudonym of a name that is known.

        A domain behind a host goes with it, a file suffix stays.
        """
        if PSEUDONYM.fullmatch(found):
            return found
        suffix = get_file_suffix(found) if kind == "host" else ""
        known = found.removesuffix(suffix)
        while kind == "host" and (kind, _get_host_key(known)) not in self._names and "." in known:
            known = known.rpartition(".")[0]
        return self.of(kind, known) + suffix

    def _given(self, kind: str, name: str) -> str:
        key = (kind, _get_host_key(name) if kind == "host" else name)
        if key not in self._names:
            self._names[key] = name if PSEUDONYM.fullmatch(name) else self._next(kind)
            self._taken.add(self._names[key])
        return self._names[key]

    def _next(self, kind: str) -> str:
        """Give a pseudonym that nothing bears, be it in the log itself."""
        self._numbers[kind] += 1
        while f"{kind}-{self._numbers[kind]}" in self._taken:
            self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"

    def patterns(self) -> dict[str, Any]:
        """Give what finds every name known so far, by kind: group `v`, the longest name first."""
        named = sorted(
            (key for key in self._names if not PSEUDONYM.fullmatch(key[1])),
            key=lambda key: (-len(key[1]), key),
        )
        found = {}
        for kind, fewest, before, behind in _EVERYWHERE:
            stands_alone: Callable[[str], bool] = _STANDS_ALONE[kind]
            names = [name for its, name in named if its == kind and len(name) >= fewest]
            if alone := list(filter(stands_alone, names)):
                found[kind] = _compile_name_pattern(alone, before, behind)
        quoted = [
            name
            for kind, name in named
            if kind == "secret" and (len(name) >= _SHORTEST_QUOTED and _is_no_word(name))
        ]
        if quoted:
            found[QUOTED] = _compile_name_pattern(quoted, "['\"]", r")\\{0,3}['\"]")
        return found


def _compile_name_pattern(names: list[str], before: str, behind: str) -> Any:
    """Compile a pattern of names in their surroundings: group `v` is the name."""
    return re2.compile(f"{before}(?P<v>(?:{'|'.join(map(re2.escape, names))}){behind}", ROOM)


def _is_no_word(user: str) -> bool:
    """Say whether the name of a user is no word that a log may use for something else."""
    return user.lower() not in ORDINARY_WORDS and not is_harmless(user.lower())


_STANDS_ALONE: Final[dict[str, Callable[[str], bool]]] = {
    "host": bool,
    "phone": bool,
    "secret": is_random,
    "user": _is_no_word,
}
"""Of each kind the names that are hidden wherever they stand."""


def _get_host_key(name: str) -> str:
    """Give the part that stands for a host: `gpu17` for `gpu17.cluster.org`.

    A name without a digit is kept whole, it may be a word.
    """
    first = name.partition(".")[0]
    is_plain = any(char.isdigit() for char in first) and not first.isdigit()
    return first if is_plain and first.lower() not in COMMON_HOSTS else name


def get_file_suffix(host: str) -> str:
    """Give the file suffixes at the end of what a host's name stands in."""
    found = _FILE_SUFFIX.search(host)
    return found[0] if found else ""
