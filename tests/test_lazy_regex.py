"""The patterns of the code are compiled when they are asked something, and not before."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from postmortem.core import log_text
from postmortem.core.log_text import (
    NeedyPattern,
    compile_lazily,
    compile_lazily_with_words,
    may_hold,
)
from postmortem.report.redaction import arguments
from postmortem.rules.attack import parser

PACKAGE = Path(log_text.__file__).parents[1]
HELPER = "compile_lazily_with_words("
STARTED = """
import re
from postmortem.core.log_text import LazyPattern

asked, at_first = set(), LazyPattern.__getattr__
LazyPattern.__getattr__ = lambda self, name: asked.add(self.pattern) or at_first(self, name)
import postmortem.interfaces.cli.analyze_command

print(*asked, sep="\\n")
"""
OF_OTHERS = r"\(\?P<(\w+)>"
"""By which patterns are made of others."""


@pytest.mark.parametrize("name", ["search", "match", "fullmatch", "findall", "split"])
@pytest.mark.parametrize("text", ["", "A1", "a22 a3", "b"])
def test_it_finds_what_the_compiled_one_finds(name: str, text: str) -> None:
    """Whichever method is the first to be asked, flags included."""
    late: Any = compile_lazily(r"a(\d+)", re.IGNORECASE)
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
    late = compile_lazily("a+")
    assert (late.pattern, asked) == ("a+", [])
    assert [late.search("caat"), late.sub("b", "caat")][1] == "cbt"
    assert asked == ["a+"]


def test_what_no_pattern_has_it_has_not() -> None:
    """A wrong name is told as such."""
    with pytest.raises(AttributeError):
        compile_lazily("a").find("a")  # type: ignore[attr-defined]


def test_a_start_compiles_none() -> None:
    """But for those by which others are made, nothing is asked while modules are imported."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED], check=True, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == {OF_OTHERS, arguments._ANY_BEGINNING.pattern}


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


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("loss: nan", True),
        ("loss: NaN", True),
        ("loss: 损失 Inf", True),
        ("loss: \u0131nf", True),
        ("loss: \u0130NF", True),
        ("loss: 1.0", False),
        ("损失 1.0", False),
    ],
)
def test_one_that_needs_a_word_finds_the_same(text: str, *, is_found: bool) -> None:
    """Large letters, and letters that are taken for others where case is ignored, count too."""
    pattern, flags = r"\b(?:nan|inf)\b", re.IGNORECASE
    late, whole = compile_lazily_with_words("nan inf", pattern, flags), re.compile(pattern, flags)
    assert str(late.search(text)) == str(whole.search(text))
    assert list(map(str, late.finditer(text))) == list(map(str, whole.finditer(text)))
    assert may_hold(text, ("nan", "inf")) == (late.search(text) is not None) == is_found


def test_letters_that_are_taken_for_others_are_known() -> None:
    """Of all characters those alone are not told by the small letters of a text."""
    letter = re.compile("[a-z]", re.IGNORECASE)
    every = map(chr, range(128, sys.maxunicode + 1))
    odd = [one for one in every if letter.match(one) and not one.lower().isascii()]
    assert len(odd) == 3
    assert all(may_hold(one, ("a word",)) for one in odd)


def needy_patterns() -> Iterator[tuple[str, NeedyPattern]]:
    """All of the package, each with its module and name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path != Path(log_text.__file__) and HELPER in path.read_text("utf-8"):
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            for its, value in vars(importlib.import_module(name)).items():
                if isinstance(value, NeedyPattern):
                    yield f"{name}.{its}", value


def needs(parts: Sequence[tuple[Any, Any]], words: tuple[str, ...], before: str = "") -> bool:
    """Whether each match of a parsed pattern holds a word.

    `before` is the text that stands directly before the parts, as far as it is certain.
    """
    for place, (kind, what) in enumerate(parts):
        rest, name = list(parts[place + 1 :]), str(kind)
        if name == "SUBPATTERN":
            return needs([*what[-1], *rest], words, before)
        if name == "BRANCH":
            return all(needs([*branch, *rest], words, before) for branch in what[1])
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, _, body = what
            return needs(rest, words) or (least > 0 and needs(list(body), words, before))
        if name in {"LITERAL", "IN"}:
            letters = {what} if name == "LITERAL" else {one for _, one in what}
            is_one = all(isinstance(one, int) for one in letters)
            small = {chr(one).lower() for one in letters} if is_one else set()
            before = before + small.pop() if len(small) == 1 else ""
            if any(word in before for word in words):
                return True
        elif name not in {"AT", "ASSERT", "ASSERT_NOT"}:
            before = ""
    return False


@pytest.mark.parametrize(("name", "pattern"), list(needy_patterns()))
def test_what_a_pattern_needs_stands_in_each_match(name: str, pattern: NeedyPattern) -> None:
    """Else a line that it is about would be passed over."""
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    assert needs(list(parsed), pattern.words), name


@pytest.mark.parametrize("pattern", ["nan|1e9", "(?:nan)?", "na[nm]", "n.n", "[^n]an", "nan*"])
def test_the_proof_finds_what_is_wrong(pattern: str) -> None:
    """A match without the word is no match of a pattern that needs it."""
    assert not needs(list(parser.parse(pattern)), ("nan",))
