"""The patterns of the code are compiled when they are asked something, and not before."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from postmortem import lazy_regex
from postmortem.lazy_regex import lazy_compile

PACKAGE = Path(lazy_regex.__file__).parent
STARTED = """
import re
from postmortem.lazy_regex import LazyPattern

asked, at_first = set(), LazyPattern.__getattr__
LazyPattern.__getattr__ = lambda self, name: asked.add(self.pattern) or at_first(self, name)
import postmortem.cli.analyze_command

print(*asked, sep="\\n")
"""
OF_OTHERS = r"\(\?P<(\w+)>"
"""By which patterns are made of others."""


@pytest.mark.parametrize("name", ["search", "match", "fullmatch", "findall", "split"])
@pytest.mark.parametrize("text", ["", "A1", "a22 a3", "b"])
def test_it_finds_what_the_compiled_one_finds(name: str, text: str) -> None:
    """Whichever method is the first to be asked, flags included."""
    late: Any = lazy_compile(r"a(\d+)", re.IGNORECASE)
    found, wanted = (
        getattr(one, name)(text) for one in (late, re.compile(r"a(\d+)", re.IGNORECASE))
    )
    assert str(found) == str(wanted)
    assert (late.pattern, late.groups, late.flags) == (
        r"a(\d+)",
        1,
        re.compile("", re.IGNORECASE).flags,
    )


def test_it_is_compiled_once_and_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """From then on its methods are those of the compiled one."""
    asked: list[str] = []
    compiler = re.compile
    monkeypatch.setattr(
        re, "compile", lambda text, flags: asked.append(text) or compiler(text, flags)
    )
    late = lazy_compile("a+")
    assert (late.pattern, asked) == ("a+", [])
    assert [late.search("caat"), late.sub("b", "caat")][1] == "cbt"
    assert asked == ["a+"]


def test_what_no_pattern_has_it_has_not() -> None:
    """A wrong name is told as such."""
    with pytest.raises(AttributeError):
        lazy_compile("a").find("a")  # type: ignore[attr-defined]


def test_a_start_compiles_none() -> None:
    """But for the one by which others are made, nothing is asked while modules are imported."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED], check=True, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == {OF_OTHERS}


def compiled_at_import(node: ast.AST) -> bool:
    """Whether `re.compile` is called in a module's body."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    is_compiled = isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    return is_compiled or any(map(compiled_at_import, ast.iter_child_nodes(node)))


def test_no_module_compiles_a_pattern_of_its_own() -> None:
    """All of them are lazy."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if compiled_at_import(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []
