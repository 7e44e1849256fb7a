"""Partition templates by their words into groups that share enough of them.

In: templates as words, all of one length. Out: groups, each with the words that its members share.
Not here: which templates may be in one group at all (`grouping.failure_clusters`).

Groups are split top-down, so the order of reading has no effect: while the members of a group share
too few words, the group is split at the position with the fewest different words.
Two groups thus always differ in a word that each of them holds: no template is an instance of both.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

Words = tuple[str, ...]
ANY: Final = "<*>"
"""In place of words that differ."""
MOST_WORDS: Final = 40
"""What stands behind so many words of a template is not looked at."""


def split(text: str) -> Words:
    """Give the words of a template."""
    return tuple(text.split()[:MOST_WORDS])


def compute_similarity(template: Words, pattern: Words) -> float:
    """Give the share of words that a template has in common with a pattern, from 0 to 1.

    What is open on both sides counts for nothing.
    """
    pairs = [
        (first, second)
        for first, second in zip(template, pattern, strict=True)
        if _is_informative(first, second)
    ]
    return sum(first == second for first, second in pairs) / len(pairs) if pairs else 1.0


def merge_rows(rows: Iterable[Words]) -> Words:
    """Give the words that all share, `<*>` in place of the others."""
    return tuple(words[0] if len(set(words)) == 1 else ANY for words in zip(*rows, strict=True))


def compute_fixed_share(pattern: Words) -> float:
    """Give the share of the words of a pattern that are not open, from 0 to 1."""
    fixed = sum(_is_word(word) for word in pattern)
    return fixed / (fixed + pattern.count(ANY)) if ANY in pattern else 1.0


def split_by_similarity(rows: Iterable[Words], least: float) -> list[list[Words]]:
    """Part templates of one length into groups, sorted.

    Args:
        rows: each once.
        least: the share of words that all of a group must have in common.
    """
    found, waiting = [], [sorted(rows)]
    while waiting:
        group = waiting.pop()
        if not group:
            continue
        if len(group) == 1 or compute_fixed_share(merge_rows(group)) >= least:
            found.append(group)
        else:
            waiting += _split_at_fewest(group)
    return sorted(found)


def _split_at_fewest(group: list[Words]) -> list[list[Words]]:
    """Split a group where its members have the fewest different words, the first such place."""
    counts = [len(set(words)) for words in zip(*group, strict=True)]
    place = min(
        (number for number, count in enumerate(counts) if count > 1), key=counts.__getitem__
    )
    parts: defaultdict[str, list[Words]] = defaultdict(list)
    for row in group:
        parts[row[place]].append(row)
    return list(parts.values())


def _is_informative(first: str, second: str) -> bool:
    return second != ANY and (_is_word(first) or _is_word(second))


def _is_word(text: str) -> bool:
    return text != ANY and any(letter.isalpha() for letter in text)
