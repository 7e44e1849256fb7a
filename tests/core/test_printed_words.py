"""Lists of words and the code that asks for them fit."""

import ast
import re
from pathlib import Path

import pytest

from postmortem.core import printed_words
from postmortem.core.printed_words import join_words, list_words

PACKAGE = Path(printed_words.__file__).parents[1]
TABLE = printed_words._read_table()
ASKED = {
    argument.value
    for path in PACKAGE.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"join_words", "list_words"}
    for argument in node.args
    if isinstance(argument, ast.Constant)
}


def test_each_list_is_asked_for_and_no_other() -> None:
    """None is left over, none is missing."""
    assert set(TABLE) == ASKED


@pytest.mark.parametrize("name", TABLE)
def test_a_list_says_what_it_is_and_holds_pieces_of_patterns(name: str) -> None:
    """Each is a pattern by itself, so that they can be joined; none stands there twice."""
    pieces = [
        piece for row in list_words(name) for piece in ([row] if isinstance(row, str) else row[:2])
    ]
    assert TABLE[name]["meaning"].endswith(".")
    assert len({*map(str, list_words(name))}) == len(list_words(name))
    for piece in pieces:
        re.compile(piece)


def test_lists_are_joined_in_their_order() -> None:
    """Without a group: what stands around them says how far they reach."""
    assert join_words("loss", "without") == "损失|没有|无"
