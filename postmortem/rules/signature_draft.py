"""Write a draft signature for lines that no rule matches, from what they have in common.

In: a line or several that fail alike, cleaned, and the cause that somebody gives them. Out: YAML
for `patterns/signatures`, with places for what only a person can say. Not here: which lines of
which logs they are (`cli`).

A line is taken apart into words, marks and places that change from run to run; the lines are laid
beside each other in the order of their texts, so that the pattern does not hang on who came first.
A gap is bounded and none stands beside a place, so that nothing can be matched in two ways.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say

PLACES: Final = compile_lazily(
    r"(?P<path>(?:[A-Za-z]:\\|\.{0,2}/)[^\s'\",:)]+)"
    r"|(?P<address>\b0x[0-9a-fA-F]+\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b)"
    r"|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{8,}\b)"
    r"|(?P<quoted>(?<!\w)'[^'\n]{1,200}'|(?<!\w)\"[^\"\n]{1,200}\")"
    r"|(?P<number>(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_WRITTEN: Final = {
    "path": r"\S{1,300}",
    "address": r"[\w.:]{1,60}",
    "hash": r"[0-9a-f]{8,64}",
    "quoted": "['\"][^'\"]{1,200}['\"]",
    "number": r"[-+\d.,e]{1,40}",
    "gap": r".{0,200}",
}
"""What changes from run to run, and the pattern that stands for it."""
_ATOM: Final = compile_lazily(r"\w+|\s+|[^\w\s]")
_MARK: Final = "\0"
"""Begins an atom that is a place."""
_GAP: Final = "\0gap"
_MOST_GAPS: Final = 3
_MIN_TEXT_AT_GAP: Final = 5
"""Characters of what stands beside a gap; of less nobody could say that it belongs there."""


def find_common_parts(lines: Iterable[str]) -> tuple[str, ...]:
    """Give what all lines share: texts, and places and gaps under names that `build_pattern` knows.

    Args:
        lines: at least one, without line breaks; the order does not matter.
    """
    atoms = [list(_split_atoms(line.replace(_MARK, " "))) for line in sorted(set(lines))]
    shared = atoms[0]
    for other in atoms[1:]:
        shared = _merge_atoms(shared, other)
    if len(atoms) > 1:
        shared = _reduce_gaps(shared)
    return tuple(_join_text_atoms(_strip_leading_places(shared)))


def select_fixed_texts(parts: Iterable[str]) -> list[str]:
    """Give the parts that are text."""
    return [part for part in parts if not part.startswith(_MARK)]


def build_pattern(parts: Iterable[str]) -> str:
    """Write parts as a regular expression, linear in the length of what is searched."""
    written = "".join(
        _WRITTEN[part[len(_MARK) :]] if part.startswith(_MARK) else re.escape(part)
        for part in parts
    )
    return written.replace("\\ ", " ")


def _split_atoms(text: str) -> Iterator[str]:
    end = 0
    for place in PLACES.finditer(text):
        yield from _ATOM.findall(text[end : place.start()])
        yield f"{_MARK}{place.lastgroup}"
        end = place.end()
    yield from _ATOM.findall(text[end:])


def _merge_atoms(shared: Sequence[str], other: Sequence[str]) -> list[str]:
    """Give the atoms that two lines share, a gap where either has others."""
    found: list[str] = []
    mine = its = 0
    for block in SequenceMatcher(None, shared, other, autojunk=False).get_matching_blocks():
        if block.a > mine or block.b > its:
            found.append(_GAP)
        found += shared[block.a : block.a + block.size]
        mine, its = block.a + block.size, block.b + block.size
    return found


def _reduce_gaps(atoms: Sequence[str]) -> list[str]:
    """Drop text next to a gap that is too short, and variable places; keep the longest parts."""
    islands = _split_at_gaps(atoms)
    last = len(islands) - 1
    for number, island in enumerate(islands):
        while number < last and island and island[-1].startswith(_MARK):
            island.pop()
        while number and island and island[0].startswith(_MARK):
            del island[0]
    kept = [island for island in islands if _sum_text_length(island) >= _MIN_TEXT_AT_GAP]
    while len(kept) - 1 > _MOST_GAPS:
        del kept[min(range(len(kept)), key=lambda number: _sum_text_length(kept[number]))]
    return [atom for island in kept for atom in (_GAP, *island)][1:]


def _split_at_gaps(atoms: Iterable[str]) -> list[list[str]]:
    """Give what stands between the gaps."""
    found: list[list[str]] = [[]]
    for atom in atoms:
        if atom == _GAP:
            found.append([])
        else:
            found[-1].append(atom)
    return found


def _strip_leading_places(atoms: Sequence[str]) -> Sequence[str]:
    """Drop variable places at the beginning, which would match anywhere."""
    begin = next((at for at, atom in enumerate(atoms) if not atom.startswith(_MARK)), len(atoms))
    return atoms[begin:]


def _sum_text_length(island: Iterable[str]) -> int:
    return sum(len(atom) for atom in island if not atom.startswith(_MARK))


def _join_text_atoms(atoms: Iterable[str]) -> Iterator[str]:
    """Join neighbouring atoms of text."""
    text = ""
    for atom in atoms:
        if atom.startswith(_MARK):
            if text:
                yield text
            yield atom
            text = ""
        else:
            text += atom
    if text:
        yield text


_LONGEST: Final = 400
_SHORTEST_ANCHOR: Final = 6
_LONGEST_ANCHOR: Final = 60
_MOST_COMPARED: Final = 50
_MOST_EXAMPLES: Final = 5
_TODO: Final = "TODO"


def write_skeleton(line: str, cause: str | None = None) -> str:
    """Write the skeleton of a signature that fires on a line.

    Raises:
        UsageError: nothing in the line stays the same from run to run.
    """
    return write_skeleton_for_lines([line], cause)


def write_skeleton_for_lines(lines: Iterable[str], cause: str | None = None) -> str:
    """Write the skeleton of a signature that fires on all of some lines.

    Fifty of very many lines are looked at, spread over them in the order of their texts.

    Raises:
        UsageError: nothing stays the same in all of them.
    """
    import yaml  # noqa: PLC0415 -- a run has no need of it

    texts = _sample_evenly(
        sorted({line.strip()[:_LONGEST] for line in lines} - {""}), _MOST_COMPARED
    )
    parts = find_common_parts(texts or [""])
    anchor = _select_anchor(select_fixed_texts(parts), texts)
    name = re.sub(r"[^a-z0-9]+", "-", anchor.lower()).strip("-")[:40].strip("-")
    area = cause.split(".")[0] if cause else "unknown"
    rule: dict[str, Any] = {
        "id": f"{area}.mine.{name or 'line'}",
        "title": say("{todo}: what it means", todo=_TODO).by_language(),
        "anchors": [anchor],
        "match": build_pattern(parts),
        "role": "cause" if cause else "context",
        **({"suggests": {cause: "moderate"}} if cause else {}),
        "source": f"{_TODO}: who prints it",
        "examples": {
            "fires": [{"text": text} for text in _sample_evenly(texts, _MOST_EXAMPLES)],
            "silent": [
                {
                    "text": f"{_TODO}: a line that looks like it and means something else",
                    "because": f"{_TODO}: why",
                }
            ],
        },
    }
    return str(yaml.safe_dump(rule, allow_unicode=True, sort_keys=False, width=160))


def _select_anchor(fixed: list[str], texts: list[str]) -> str:
    """Give the longest text that every line has.

    Raises:
        UsageError: there is none that a rule could go by.
    """
    anchor = max((part.strip() for part in fixed), key=len, default="")[:_LONGEST_ANCHOR].rstrip()
    if len(anchor.encode()) >= _SHORTEST_ANCHOR:
        return anchor
    if len(texts) > 1:
        what, mend = "the lines have no words in common", "name fewer, which are more alike"
    else:
        what, mend = "the line holds no words", "name another with --line"
    raise UsageError(f"{what} that a rule could go by", repr(texts[0]) if texts else "", mend)


def _sample_evenly(texts: list[str], most: int) -> list[str]:
    """Give so many of the texts, from the first to the last."""
    if len(texts) <= most:
        return texts
    return [texts[number * (len(texts) - 1) // (most - 1)] for number in range(most)]
