"""`patterns draft --cluster`: one rule for failures that are alike."""

import json
import random
import re
from pathlib import Path

import pytest
import yaml

from postmortem.core.errors import UsageError
from postmortem.extraction import proof
from postmortem.interfaces.cli import main
from postmortem.rules.check import find_slow_patterns
from postmortem.rules.schema import SignatureEntry
from postmortem.rules.signature_draft import (
    build_pattern,
    find_common_parts,
    write_skeleton_for_lines,
)

GROUPS = {
    "fabric": [
        "FabricError: link 3 of port eth0 went down after 12.5 s while sending 'chunk-a'",
        "FabricError: link 7 of port ib1 went down after 2 s while sending 'chunk-b'",
        "FabricError: link 7 of port mlx5_2 went down after 2 s while receiving 'chunk-b'",
    ],
    "paths": [
        "/opt/run/train.py: the shard store refused lease 17",
        "C:\\run\\train.py: the shard store refused lease 4 of tenant blue",
    ],
    "chinese": ["训练失败：第 12 个分片缺失，节点 甲", "训练失败：第 3 个分片缺失，节点 乙"],
    "marks": ["a (b) [c] lost its *lease* {1}", "a (x) [c] lost its *lease* {22}"],
}


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


@pytest.mark.parametrize("name", GROUPS)
def test_a_rule_for_a_group_fires_on_all_of_it(name: str) -> None:
    """It is well formed, proved on its own examples, and quick on texts made to be slow."""
    lines = GROUPS[name]
    rule = yaml.safe_load(write_skeleton_for_lines(lines, "code.user-exception"))
    SignatureEntry.model_validate(rule)
    assert list(proof.find_example_errors([rule])) == []
    assert [proof.match_captures(rule, line) is not None for line in lines] == [True] * len(lines)
    assert list(find_slow_patterns(rule)) == []
    assert proof.match_captures(rule, "a line that says something else") is None


def test_the_rule_is_the_same_in_whatever_order_the_lines_come() -> None:
    """And however often one of them does."""
    lines = GROUPS["fabric"] * 3
    random.Random(3).shuffle(lines)
    assert write_skeleton_for_lines(lines) == write_skeleton_for_lines(GROUPS["fabric"])


def test_what_differs_is_open_and_what_is_shared_is_not() -> None:
    """A port, where the others have another one."""
    pattern = build_pattern(find_common_parts(GROUPS["fabric"]))
    assert re.search(pattern, "FabricError: link 9 of port roce went down after 1 s while idle x")
    assert not re.search(pattern, "FabricError: link 9 of port roce went up after 1 s while idle")


def test_a_rule_for_very_many_lines() -> None:
    """Fifty are compared and five are shown; a line without end is cut."""
    lines = [f"LeaseError: shard {number} of tenant t{number}x lost" for number in range(5_000)]
    rule = yaml.safe_load(write_skeleton_for_lines([*lines, lines[0] + " x" * 50_000]))
    assert len(rule["examples"]["fires"]) == 5
    assert all(proof.match_captures(rule, line) is not None for line in lines[::500])


@pytest.mark.parametrize("lines", [[], ["0.5 0.25"], ["alpha is gone", "something else entirely"]])
def test_lines_without_common_words_give_no_rule(lines: list[str]) -> None:
    """It would fire on anything."""
    with pytest.raises(UsageError, match="no words"):
        write_skeleton_for_lines(lines)


def test_a_draft_from_a_text_of_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder of one's own it passes the check."""
    text = tmp_path / "lines.txt"
    text.write_text("\n".join(f"[rank{at}]: {one}" for at, one in enumerate(GROUPS["fabric"])))
    assert run("patterns", "draft", "--cluster", text, "--cause", "distributed.nccl-network") == 0
    rules = tmp_path / "rules" / "signatures" / "mine"
    rules.mkdir(parents=True)
    (rules / "one.yaml").write_text(capsys.readouterr().out, encoding="utf-8")
    assert run("patterns", "check", "--no-attack", tmp_path / "rules") == 0
    assert capsys.readouterr().out.startswith("1 rules")


def test_a_draft_from_the_results_of_a_triage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the group that is named, where there are several."""
    results = tmp_path / "results.jsonl"
    rows = [
        {"group": group, "failing_line": line, "job": "x"}
        for group in ("fabric", "paths")
        for line in GROUPS[group]
    ]
    rows += [{"group": None, "failing_line": None}]
    results.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run("patterns", "draft", "--cluster", results, "--group", "fabric") == 0
    assert yaml.safe_load(capsys.readouterr().out)["anchors"] == ["FabricError: link"]
    assert run("patterns", "draft", "--cluster", results) == 2
    assert "--group: fabric, paths" in capsys.readouterr().err
    assert run("patterns", "draft", "--cluster", results, "--group", "none") == 2


def test_calls_that_cannot_be_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to draft from, two things, a file that is gone, one without a line."""
    empty = tmp_path / "empty.txt"
    empty.write_text("\n\n")
    assert run("patterns", "draft") == 2
    assert run("patterns", "draft", empty, "--cluster", empty) == 2
    assert run("patterns", "draft", "--cluster", tmp_path / "gone") == 2
    assert run("patterns", "draft", "--cluster", empty) == 2
    assert capsys.readouterr().out == ""
