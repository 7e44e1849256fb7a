"""`postmortem explain`: a page for every id that a report names; `patterns draft`: a skeleton."""

import re
from pathlib import Path

import pytest
import yaml

from postmortem.extraction import proof
from postmortem.interfaces.cli import main
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import KINDS, iter_entries
from postmortem.rules.base import load_compiled_rules
from postmortem.rules.schema import SignatureEntry
from postmortem.rules.signature_draft import write_skeleton

RULES = load_compiled_rules()
EVERYTHING = list(iter_entries(RULES))
PLACE = re.compile(r"\$\{\w+(?:\|[^}]*)?\}")
LINES = [
    "foo.LinkTrainingError: lane 3 of /dev/foo0 lost lock after 12.5 ms (code 0x1f), id 'ab-1'",
    "RuntimeError: shard 17/128 of data/train-00017.tar has 3 members, wanted 4",
    "Peer 10.0.0.7:29400 vanished, 3 left",
    "训练失败：第 12 个分片缺失",
]


def run(*arguments: object) -> int:
    """Run the command line and give its exit status."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return int(done.value.code or 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_everything_has_a_page(kind: str, language: str) -> None:
    """Complete and without a place to fill, in both languages."""
    found = [entry for entry in EVERYTHING if entry.kind == kind]
    assert found
    for entry in found:
        page = render_article(entry, RULES, language)
        assert page.startswith("# ")
        assert f"`{entry.id}`" in page
        assert not PLACE.search(page)


def test_every_cause_has_an_explanation_and_fixes() -> None:
    """Also those that say that all is well."""
    for entry in EVERYTHING:
        if entry.kind == "cause":
            page = render_article(entry, RULES, "en")
            assert "## What to do" in page, entry.id
            assert entry.raw["explanation"]["en"] in page


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        pytest.param(["numerics.fp16-overflow"], 0, "65504", id="a cause"),
        pytest.param(["numerics.fp16-overflow", "--lang", "zh"], 0, "处理办法", id="in Chinese"),
        pytest.param([], 0, "`memory.cuda-oom`", id="all causes"),
        pytest.param(["loss-not-finite"], 0, "## When it holds", id="a condition"),
        pytest.param(["torch-shape.matmul"], 0, "## How it is", id="the rule of an exception"),
        pytest.param(["value.unpack.fix-1"], 0, "· fix", id="a fix of such a rule"),
        pytest.param(["overflow"], 2, "did you mean numerics.fp16-overflow", id="half an id"),
        pytest.param(["memory.cuda-omm"], 2, "memory.cuda-oom", id="a slip"),
        pytest.param(["qqqqqqqq"], 2, "postmortem patterns list", id="nothing like it"),
    ],
)
def test_the_command(
    capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, printed: str
) -> None:
    """A page on standard output; what is not known is one line."""
    assert run("explain", *arguments) == status
    captured = capsys.readouterr()
    assert printed in (captured.err if status else captured.out)


@pytest.mark.parametrize("line", LINES)
def test_a_draft_is_a_rule_that_fires_on_its_line(line: str) -> None:
    """Well formed, and proved on its own example; other numbers and paths are met as well."""
    rule = yaml.safe_load(write_skeleton(line, "unknown.unrecognised-error"))
    SignatureEntry.model_validate(rule)
    assert list(proof.find_example_errors([rule])) == []
    changed = line.translate(str.maketrans("0123456789", "9876543210"))
    assert proof.match_captures(rule, changed) is not None


def test_a_line_of_figures_gives_no_draft(capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing that a rule could go by."""
    with pytest.raises(Exception, match="no words"):
        write_skeleton("0.5 0.25 12")
    assert capsys.readouterr().out == ""


def test_a_draft_from_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what failed first, or of the line asked for; in a folder it passes the check."""
    log = tmp_path / "run.log"
    log.write_text(
        f'begin\nTraceback (most recent call last):\n  File "/a.py", line 1\n{LINES[0]}\n'
    )
    assert run("patterns", "draft", log, "--cause", "cuda.hardware-xid") == 0
    text = capsys.readouterr().out
    assert yaml.safe_load(text)["suggests"] == {"cuda.hardware-xid": "moderate"}
    rules = tmp_path / "rules" / "signatures" / "mine"
    rules.mkdir(parents=True)
    (rules / "one.yaml").write_text(text)
    assert run("patterns", "check", "--no-attack", tmp_path / "rules") == 0
    assert capsys.readouterr().out.startswith("1 rules")
    assert run("patterns", "draft", log, "--line", 9) == 2
    assert run("patterns", "draft", log, "--cause", "no.such") == 2
