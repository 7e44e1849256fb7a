"""Where names and languages may stand in the package."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if not path.stem.startswith("__")]
AT_THE_ROOT = {"__init__", "__main__", "api", "pipeline", "recorder"}
SPEAKING = ("report/", "interfaces/cli/", "core/message.py")
"""Where a language is chosen, and the value that is worded in one."""


def tree(module: Path) -> ast.Module:
    """A module, parsed."""
    return ast.parse(module.read_text(encoding="utf-8"))


def test_no_module_bears_the_name_of_its_function() -> None:
    """`from x import x` says neither what it is nor what it does."""
    assert [
        str(module.relative_to(PACKAGE))
        for module in MODULES
        for node in tree(module).body
        if isinstance(node, ast.FunctionDef) and node.name == module.stem
    ] == []


def test_little_stands_at_the_root() -> None:
    """Whatever else there is has a room."""
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_ROOT
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_language_is_chosen_where_text_is_made(module: Path) -> None:
    """No function outside the packages that render is asked for a language."""
    is_speaking = module.relative_to(PACKAGE).as_posix().startswith(SPEAKING)
    asked = [
        f"{node.name}({argument.arg})"
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.arg in {"language", "lang"}
    ]
    assert is_speaking or asked == []


RETIRED = re.compile(
    r"(?:^|_)(?:told|tells|tell|heard|hearing|beside|own_words|last_words|in_words|at_hand|at_work"
    r"|passed_over|retold|stand_ins|wish|crowd|said)(?:_|$)",
    re.IGNORECASE,
)
"""Private words that no newcomer understood; docs/GLOSSARY.md has the terms."""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_definition_bears_a_retired_word(module: Path) -> None:
    """Functions and classes are named by the terms of the field."""
    named = [
        node.name
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    assert [name for name in named if RETIRED.search(name)] == []
