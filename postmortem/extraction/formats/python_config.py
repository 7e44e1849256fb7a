"""Configurations that are Python assignments, as mmengine dumps them, as flat names.

In: the source. Out: `Leaf`s, as of any nested configuration (`formats.nested`). Not here: running
it. Only the syntax tree is looked at: what is no literal, call of a name or name is passed over.
Source: mmengine/config/config.py, `Config.dump`; `Runner.dump_config` writes it into the work
folder, and the visualiser as `vis_data/config.py`.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from postmortem.extraction.formats.nested import Leaf

_MOST_BYTES: Final = 256 << 10
_MOST_OPEN: Final = 60
"""Brackets within brackets beyond which no parser is troubled."""
_DEEPEST: Final = 20
_LONGEST: Final = 400


def parse_assignments(source: str) -> list[Leaf]:
    """Give what the assignments hold; nothing of a source that is no Python, or too deep."""
    if len(source) > _MOST_BYTES or _measure_bracket_depth(source) > _MOST_OPEN:
        return []
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        leaf
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        for leaf in _iter_leaves(statement.targets[0].id, statement.value, _DEEPEST)
    ]


def _iter_leaves(name: str, node: ast.expr, left: int) -> Iterator[Leaf]:
    """Yield what an expression holds under a name."""
    entries = _list_entries(node)
    if entries is None:
        value = _get_literal_text(node)
        if value:
            yield Leaf(name, value[:_LONGEST], node.lineno)
        return
    for key, entry in entries if left else ():
        yield from _iter_leaves(f"{name}.{key}", entry, left - 1)


def _list_entries(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Give the named parts of an expression; None of one that has none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return [(word.arg, word.value) for word in node.keywords if word.arg]
    if isinstance(node, ast.Dict):
        return [
            (str(key.value), value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    if isinstance(node, (ast.List, ast.Tuple)) and any(
        _list_entries(element) for element in node.elts
    ):
        return [(str(number), element) for number, element in enumerate(node.elts)]
    return None


def _get_literal_text(node: ast.expr) -> str:
    """Give the text of a value; empty of one that would have to be computed."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _get_literal_text(node.operand)
        return f"-{value}" if value else ""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.List, ast.Tuple)):
        return f"[{', '.join(_get_literal_text(element) for element in node.elts)}]"
    return ""


def _measure_bracket_depth(source: str) -> int:
    """Give how many brackets stand open at most."""
    deepest = depth = 0
    for mark in re.findall(r"[(\[{]|[)\]}]", source):
        depth += 1 if mark in "([{" else -1
        deepest = max(deepest, depth)
    return deepest
