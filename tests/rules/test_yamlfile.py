"""YAML files of rules: every fault has a place, and none exhausts the machine."""

import os
from pathlib import Path

import pytest

import postmortem
from postmortem.core.errors import PatternError
from postmortem.rules.base import load
from postmortem.rules.compile import read_yaml

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level + 1}: &a{level + 1} [{', '.join([f'*a{level}'] * 9)}]\n" for level in range(9)
)


@pytest.mark.parametrize(
    ("content", "what", "line"),
    [
        pytest.param("[" * 100_000, "nested more than 100 deep", 1, id="brackets"),
        pytest.param("a: 1\nb: " + '{"a":' * 100_000, "nested more than 100 deep", 2, id="braces"),
        pytest.param("- " * 100_000, "nested more than 100 deep", 1, id="lists of lists"),
        pytest.param(
            "".join(" " * level + "a:\n" for level in range(200)),
            "nested more than 100 deep",
            101,
            id="indentation",
        ),
        pytest.param(BOMB, "YAML anchors are not used (a0)", 1, id="a billion laughs"),
        pytest.param(
            "a: 1\nb: &b\n  c: *b\n",
            "YAML anchors are not used (b)",
            2,
            id="an alias within itself",
        ),
        pytest.param(
            "a: 1\nb: [&b 2, *b]\n", "YAML anchors are not used (b)", 2, id="an anchor of a value"
        ),
        pytest.param("x: 1\n" * 1_000_000, "the file is larger than 4 MiB", 0, id="a huge file"),
        pytest.param(
            "a: 1\nb: 2\na: 3\n", "the key 'a' stands twice", 3, id="a key that stands twice"
        ),
        pytest.param("? [a]\n: 1\n", "is no plain word", 1, id="a list as a key"),
        pytest.param(
            "a: " + "9" * 5000, "a value cannot be read", 0, id="a number of thousands of digits"
        ),
        pytest.param("a: 2024-13-45\n", "a value cannot be read", 0, id="a day of no calendar"),
        pytest.param("a: [1\nb: 2\n", "not valid YAML", 2, id="an open bracket"),
        pytest.param(
            "a: !!python/object/apply:os.getcwd []\n",
            "not valid YAML",
            1,
            id="an object of Python's",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(
    tmp_path: Path, content: str, what: str, line: int
) -> None:
    """Before anything is built of it."""
    path = tmp_path / "rule.yaml"
    path.write_text(content)
    with pytest.raises(PatternError) as caught:
        read_yaml(path)
    assert what in str(caught.value.what)
    assert str(caught.value.where) == (f"{path}:{line}" if line else str(path))
    assert caught.value.mend


def test_a_pipe_among_the_rules_is_not_waited_for(tmp_path: Path) -> None:
    """It is named, and nothing hangs."""
    (tmp_path / "signatures").mkdir()
    os.mkfifo(tmp_path / "signatures" / "rule.yaml")
    (tmp_path / "run.log").write_text("step 1 loss 0.5\n")
    with pytest.raises(PatternError, match="this is no file"):
        postmortem.analyze(tmp_path / "run.log", patterns=[tmp_path])


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        pytest.param("rule.yaml", "id: x.y\n", "x.y: ", id="a rule without a pattern"),
        pytest.param(
            "rule.yaml",
            "id: x.y\nanchors: [1]\nmatch: a\nrole: cause\n",
            "x.y: ",
            id="an anchor that is no text",
        ),
        pytest.param("rule.yaml", "", "FileNotFoundError", id="a link that leads nowhere"),
    ],
)
def test_rules_that_no_check_would_pass_are_a_pattern_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, what: str
) -> None:
    """Whoever wrote them is told how to find the fault."""
    monkeypatch.delenv("POSTMORTEM_DEBUG", raising=False)
    path = tmp_path / "signatures" / name
    path.parent.mkdir()
    if content:
        path.write_text(content)
    else:
        path.symlink_to("nowhere")
    with pytest.raises(PatternError, match=what) as caught:
        load((tmp_path,))
    assert "patterns" in caught.value.mend
    assert str(tmp_path) in str(caught.value.where)
