"""The bar for sizes: aims as a report, hard limits as a test."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
FUNCTION_LINES = 110
CLASS_LINES = 420
FILE_LINES = 660


def spans(module: Path, *kinds: type) -> dict[str, int]:
    """Lines of every function or class of a module."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    }


@pytest.mark.parametrize(
    "module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_nothing_grows_too_long(module: Path) -> None:
    """No function, class or file is longer than the house allows."""
    functions, classes = (
        spans(module, ast.FunctionDef, ast.AsyncFunctionDef),
        spans(module, ast.ClassDef),
    )
    assert not {name: lines for name, lines in functions.items() if lines > FUNCTION_LINES}
    assert not {name: lines for name, lines in classes.items() if lines > CLASS_LINES}
    assert len(module.read_text(encoding="utf-8").splitlines()) <= FILE_LINES
