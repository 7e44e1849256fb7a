"""A rule of the user's own that no run can work with is refused, with file, key and what to do."""

from pathlib import Path

import pytest

from postmortem.core.errors import PatternError
from postmortem.rules.base import load
from postmortem.rules.check import find_faults, find_malformed_rules

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
    faults = list(find_malformed_rules(folder(tmp_path, GOOD.replace(old, new))))
    assert faults
    assert any(key in str(fault.what) for fault in faults)
    assert all("thing.yaml:1" in str(fault.where) and fault.mend for fault in faults)


def test_without_examples_a_rule_is_used(tmp_path: Path) -> None:
    """What proves a rule is asked for by `patterns check`, not by a run."""
    assert list(find_malformed_rules(folder(tmp_path, GOOD))) == []


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
    assert list(find_malformed_rules(folder(tmp_path, text, kind)))


def test_a_run_refuses_it(tmp_path: Path) -> None:
    """Loading says so, in the place of an error of its own."""
    text = GOOD.replace("{data.empty: strong}", "[data.empty]")
    with pytest.raises(PatternError, match=r"own\.thing: suggests.*thing\.yaml:1"):
        load((folder(tmp_path, text),))


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        pytest.param("taxonomy", "[1]", "taxonomy", id="a list for the taxonomy"),
        pytest.param("taxonomy", "causes: [x]", "causes", id="a list of causes"),
        pytest.param("taxonomy", "causes: {own.thing: [1]}", "own.thing", id="a cause that is a list"),
        pytest.param("taxonomy", "causes: {own.thing: {}}", "title", id="a cause without a title"),
        pytest.param("taxonomy", "causes: {own.thing: {title: x}}", "title", id="a title that is a text"),
        pytest.param("taxonomy", "precedence: [{winner: a.b}]", "loser", id="half a precedence"),
        pytest.param("keys", "7", "keys", id="a number for the keys"),
        pytest.param("keys", "- {to: 3, is: number, keys: [a]}", "to", id="a number for a name"),
        pytest.param("keys", "- [a]", "0", id="a key that is a list"),
        pytest.param("gpus", "- {match: '(', name: x, capability: 1.0}", "match", id="no regex"),
        pytest.param("gpus", "- {match: a, name: x}", "capability", id="a card without capability"),
    ],
)  # fmt: skip
def test_tables_are_checked_as_rules_are(tmp_path: Path, name: str, text: str, key: str) -> None:
    """By a run and by `patterns check` alike: file, field, and how to mend it."""
    root = tmp_path / "rules"
    root.mkdir()
    (root / f"{name}.yaml").write_text(text)
    (fault, *_) = find_malformed_rules(root)
    assert key in str(fault.what)
    assert f"{name}.yaml:1" in str(fault.where)
    assert fault.mend
    assert find_faults([root])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "", id="empty"),
        pytest.param(b"\xff\xfe\x00", "thing.yaml", id="not UTF-8"),
        pytest.param(b"\x00", "thing.yaml", id="a NUL"),
        pytest.param(b"text", "must be a mapping", id="a text"),
        pytest.param(b"[[[]]]", "must be a mapping", id="a list of lists"),
        pytest.param(b"a: &a [x]\nb: [*a, *a]", "anchors are not used", id="a bomb"),
        pytest.param(b"[" * 5000, "thing.yaml", id="depth"),
        pytest.param(b"{[1]: 2}", "thing.yaml", id="a key that is a list"),
        pytest.param(b"!!python/object/apply:os.system [id]", "thing.yaml", id="a tag"),
        pytest.param(b"id: " + b"9" * 9000, "thing.yaml", id="a number of 9,000 digits"),
        pytest.param(b"{x: 1}", "id: ", id="no id"),
    ],
)
def test_any_file_is_refused_by_name(tmp_path: Path, content: bytes, says: str) -> None:
    """Whatever stands in it; an empty one holds no rule."""
    root = folder(tmp_path, "")
    (root / "signatures/own/thing.yaml").write_bytes(content)
    if not says:
        assert list(find_malformed_rules(root)) == []
        return
    with pytest.raises(PatternError, match=says) as error:
        raise next(find_malformed_rules(root))
    assert "thing.yaml" in str(error.value)


def test_a_run_refuses_a_table_that_is_none(tmp_path: Path) -> None:
    """With the file, as `patterns check` does."""
    (tmp_path / "taxonomy.yaml").write_text("causes: {own.thing: [1]}")
    with pytest.raises(PatternError, match=r"taxonomy\.yaml:1"):
        load((tmp_path,))


@pytest.mark.parametrize(
    "predicate",
    [
        pytest.param("package: {torch: '2.x'}", id="a version with a letter"),
        pytest.param("package: {torch: '=> 2.5'}", id="no such comparison"),
        pytest.param("env: {cuda: ['12.1', new]}", id="a word in a list"),
        pytest.param("env: {driver: '>= 525 < 560'}", id="no comma"),
        pytest.param("any: [{package: {numpy: '~= 2.0'}}]", id="a range that is read as a regex"),
    ],
)
def test_a_range_that_is_none_is_a_fault(tmp_path: Path, predicate: str) -> None:
    """`patterns check` names it; a run goes on with what can be read of it, as it always did."""
    text = f"""\
- id: own-versions
  meaning: {{en: the versions, zh: 版本}}
  holds: {{{predicate}}}
  examples: {{holds: [{{outcome: failed}}], fails: [{{outcome: failed}}]}}
"""
    rules = folder(tmp_path, text, "conditions")
    assert any("no range of versions" in str(fault.what) for fault in find_faults([rules]))
    assert list(find_malformed_rules(rules)) == []
