"""A rule of the user's own that no run can work with is refused, with file, key and what to do."""

from pathlib import Path

import pytest

from postmortem.errors import PatternError
from postmortem.knowledge.base import load
from postmortem.knowledge.check import malformed

GOOD = """\
id: own.thing
title: {en: A thing, zh: 某事}
anchors: ['the thing broke']
match: 'the thing broke: (?P<what>\\w+)'
role: cause
suggests: {data.empty: strong}
"""


def folder(tmp_path: Path, text: str, kind: str = "signatures") -> Path:
    """A pattern folder with one rule."""
    path = tmp_path / "rules" / kind / "own"
    path.mkdir(parents=True)
    (path / "thing.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "rules"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        pytest.param("['the thing broke']", "'the thing broke'", "anchors", id="a text for a list"),
        pytest.param("{data.empty: strong}", "[data.empty]", "suggests", id="a list for a mapping"),
        pytest.param("{data.empty: strong}", "{data.empty: 3}", "suggests", id="no level"),
        pytest.param("{en: A thing, zh: 某事}", "A thing", "title", id="one language"),
        pytest.param("role: cause", "role: culprit", "role", id="no role"),
        pytest.param("\\w+)'", "\\w+'", "regex", id="no regex"),
        pytest.param("anchors:", "anchor:", "anchors", id="a key misspelt"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, key: str) -> None:
    """The fault names file and line, the key, and how to mend it."""
    assert old in GOOD
    faults = list(malformed(folder(tmp_path, GOOD.replace(old, new))))
    assert faults
    assert any(key in str(fault.what) for fault in faults)
    assert all("thing.yaml:1" in str(fault.where) and fault.mend for fault in faults)


def test_without_examples_a_rule_is_used(tmp_path: Path) -> None:
    """What proves a rule is asked for by `patterns check`, not by a run."""
    assert list(malformed(folder(tmp_path, GOOD))) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param("fixes", "- {id: own.fix, causes: data.empty}\n", id="a fix"),
        pytest.param("formats", "- {id: own.form, kind: facts, anchors: 7}\n", id="a format"),
        pytest.param("stacks", "{id: own, title: [x]}\n", id="a stack"),
        pytest.param("advisories", "- {id: own.defect, package: [1]}\n", id="an advisory"),
    ],
)
def test_every_kind_is_looked_at(tmp_path: Path, kind: str, text: str) -> None:
    """Each kind of rule has a shape."""
    assert list(malformed(folder(tmp_path, text, kind)))


def test_a_run_refuses_it(tmp_path: Path) -> None:
    """Loading says so, in the place of an error of its own."""
    text = GOOD.replace("{data.empty: strong}", "[data.empty]")
    with pytest.raises(PatternError, match=r"own\.thing: suggests.*thing\.yaml:1"):
        load((folder(tmp_path, text),))
