"""The catalogue of shapes: what the rules and the detectors name is in it, and the reverse."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from postmortem.core import resources
from postmortem.rules.base import load
from postmortem.rules.compile import KINDS, iter_rules

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
CATALOGUE = load().anomalies
ROOM = PACKAGE / "diagnosis" / "detectors"


def asked(rule: Any) -> Iterator[str]:
    """The shapes that a rule asks for, wherever a predicate stands in it."""
    if isinstance(rule, dict):
        for key, value in rule.items():
            if key == "shape":
                yield from value if isinstance(value, list) else [value]
            elif key in {"if", "not"} and isinstance(value, list):
                yield from (name for name in value if name in CATALOGUE)
            elif key != "examples":
                yield from asked(value)
    elif isinstance(rule, list):
        for one in rule:
            yield from asked(one)


def named(module: Path) -> set[str]:
    """The ids that stand in a module as texts of their own."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text for text in texts if isinstance(text, str) and text in CATALOGUE}


def made(module: Path) -> Iterator[str]:
    """The ids that a module gives to the shapes it makes, where they stand in the call."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in {"Shape", "shape"}:
                yield str(node.args[0].value)


def test_what_the_rules_ask_for_is_listed() -> None:
    """A rule that asks for a shape that nobody finds never holds."""
    patterns = resources.find_folder("patterns")
    rules = [rule for kind in KINDS for _, rule in iter_rules(patterns / kind)]
    wanted = {name for rule in rules for name in asked(rule)}
    assert len(wanted) > 40
    assert wanted <= set(CATALOGUE)


def test_what_the_detectors_find_is_listed() -> None:
    """An id that a detector gives to a shape is a row of the catalogue."""
    found = {name for module in sorted(ROOM.glob("*.py")) for name in made(module)}
    assert len(found) > 30
    assert found <= set(CATALOGUE)


def test_what_is_listed_is_found() -> None:
    """Each row is what some detector finds, a class of the model of curves, or bounds of features."""
    as_data = {name for name, kind in CATALOGUE.items() if kind.curve_class or kind.when}
    in_code = set(CATALOGUE) - as_data
    assert in_code == set[str]().union(*map(named, ROOM.glob("*.py"))) - as_data
