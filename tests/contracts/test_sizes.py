"""The bar for sizes, held after formatting: no function, class or file is longer or has more branches."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
MODULES = sorted(PACKAGE.rglob("*.py"))
FUNCTION_LINES, FUNCTION_LINES_MOSTLY = 60, 35
CLASS_LINES = 200
FILE_LINES, FILE_LINES_MOSTLY = 600, 400
BRANCHES = 12
MOSTLY = 0.95
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.match_case)


def nodes(module: Path, *kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Every function or class of a module, by name."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, kinds):
            yield getattr(node, "name", ""), node


def lines(node: ast.AST) -> int:
    """The lines of a function or class, its docstring among them."""
    return (getattr(node, "end_lineno", 0) or 0) - getattr(node, "lineno", 0) + 1


def branches(node: ast.AST) -> int:
    """The ways on in a function: conditions, loops, handlers, those within expressions too."""
    return sum(
        isinstance(part, BRANCHING)
        + (1 + len(part.ifs) if isinstance(part, ast.comprehension) else 0)
        + (len(part.values) - 1 if isinstance(part, ast.BoolOp) else 0)
        for part in ast.walk(node)
    )


def over(found: Iterator[tuple[str, int]], limit: int) -> dict[str, int]:
    """What is beyond a limit."""
    return {name: count for name, count in found if count > limit}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_grows_too_long(module: Path) -> None:
    """No function, class or file is longer than the house allows, and no function has more ways."""
    assert (
        over(((name, lines(node)) for name, node in nodes(module, *FUNCTIONS)), FUNCTION_LINES)
        == {}
    )
    assert (
        over(((name, branches(node)) for name, node in nodes(module, *FUNCTIONS)), BRANCHES) == {}
    )
    assert (
        over(((name, lines(node)) for name, node in nodes(module, ast.ClassDef)), CLASS_LINES) == {}
    )
    assert len(module.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


def test_most_are_much_shorter() -> None:
    """Nineteen of twenty functions and files are within a closer bound."""
    functions = sorted(lines(node) for module in MODULES for _, node in nodes(module, *FUNCTIONS))
    files = sorted(len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES)
    assert functions[int(len(functions) * MOSTLY)] <= FUNCTION_LINES_MOSTLY
    assert files[int(len(files) * MOSTLY)] <= FILE_LINES_MOSTLY


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("x = 1", 0, id="none"),
        pytest.param("if a and b or c:\n    pass\nelse:\n    pass", 3, id="a condition of three"),
        pytest.param("[x for x in y if x for z in x]", 3, id="a comprehension"),
        pytest.param("try:\n    pass\nexcept A:\n    pass\nexcept B:\n    pass", 2, id="handlers"),
        pytest.param("while a:\n    b = c if d else e", 2, id="a loop, a choice"),
        pytest.param(
            "match a:\n    case 1:\n        pass\n    case _:\n        pass", 2, id="cases"
        ),
    ],
)
def test_what_counts_as_a_branch(text: str, count: int) -> None:
    """Nothing hides in an expression."""
    assert branches(ast.parse(text)) == count
