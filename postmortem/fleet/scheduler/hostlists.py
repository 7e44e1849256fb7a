"""Lists of hosts in the short form of Slurm: `node[01-03,7],gpu[1-2]a` to their names.

In: text. Out: names. Not here: where such lists stand.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, say
from postmortem.fleet.scheduler.allocations import BadCell

MOST: Final = 65_536
"""Hosts of one list; more is a mistake or an attack."""
_NO_HOSTS: Final = frozenset({"", "none", "none assigned", "(null)", "n/a", "unknown", "-"})
_PARTS: Final = compile_lazily(r"\[([^\[\]]*)\]")
_RANGE: Final = compile_lazily(r"(\d{1,18})(?:-(\d{1,18}))?\Z", re.ASCII)


def expand_hostlist(text: str) -> tuple[str, ...]:
    """Give the names of a list of hosts, each once, in the order in which they stand.

    Names are parted by commas, semicolons, plus signs or blanks; a name may hold several brackets.
    Leading zeros are kept: `node[08-10]` is node08, node09, node10.

    Raises:
        BadCell: brackets that do not match, a range that is none, more than `MOST` hosts.
    """
    if text.strip().lower() in _NO_HOSTS:
        return ()
    names: dict[str, None] = {}
    for word in _iter_words(text):
        for name in _iter_hosts(word):
            names[name] = None
            if len(names) > MOST:
                raise BadCell(_describe_too_many_hosts())
    return tuple(names)


def get_short_hostname(host: str) -> str:
    """Give the first label of a host's name in lower case, an address as it is."""
    is_address = bool(re.fullmatch(r"[\d.]+|[\da-fA-F:]*:[\da-fA-F:]+", host))
    return host if is_address else host.partition(".")[0].lower()


def _iter_words(text: str) -> Iterator[str]:
    """Yield what stands between separators that are in no brackets."""
    depth, begin = 0, 0
    for place, mark in enumerate(text):
        depth += (mark == "[") - (mark == "]")
        if depth not in {0, 1}:
            raise BadCell(_describe_unmatched_brackets(text))
        if depth == 0 and (mark in ",;+" or mark.isspace()):
            yield text[begin:place]
            begin = place + 1
    if depth:
        raise BadCell(_describe_unmatched_brackets(text))
    yield text[begin:]


def _iter_hosts(word: str) -> Iterator[str]:
    """Yield the names of one word of a list."""
    if not word:
        return
    fixed = _PARTS.split(word)
    choices = [_expand_numbers(inside) for inside in fixed[1::2]]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise BadCell(_describe_too_many_hosts())
    for chosen in product(*choices):
        pairs = zip(fixed[2::2], chosen, strict=True)
        yield fixed[0] + "".join(number + rest for rest, number in pairs)


def _expand_numbers(inside: str) -> list[str]:
    """Give the numbers of a bracket, with their leading zeros."""
    numbers: list[str] = []
    for part in inside.split(","):
        found = _RANGE.match(part.strip())
        if not found:
            raise BadCell(_describe_bad_range(inside))
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first) or int(last) - int(first) >= MOST:
            raise BadCell(_describe_bad_range(inside))
        numbers += (f"{n:0{len(first)}d}" for n in range(int(first), int(last) + 1))
    return numbers


def _describe_too_many_hosts() -> Message:
    return say("a list of more than {most} hosts", most=MOST)


def _describe_unmatched_brackets(text: str) -> Message:
    return say("brackets do not match: {text}", text=text[:60])


def _describe_bad_range(inside: str) -> Message:
    return say("not a range of hosts: [{inside}]", inside=inside[:60])
