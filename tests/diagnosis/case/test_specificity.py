"""Words of the field count only where no narrower rule names what ended the run."""

from pathlib import Path

import pytest

import postmortem
from postmortem.report.job_report import Report

RULE = """
id: data.decode.an-example
title: {en: "Words of a broken image", zh: "损坏图像的字样"}
anchors: ["the picture"]
match: 'the picture .{0,40}broken'
broad: true
role: cause
suggests: {data.decode: moderate}
source: "an example"
examples:
  fires: [{text: "ERROR the picture 7 is broken"}]
  silent: [{text: "ERROR the picture 7 is gone", because: "gone"}]
"""
WORDS = "ERROR: the picture 7 is broken\n"
EXACT = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"


@pytest.fixture
def patterns(tmp_path: Path) -> Path:
    """A folder of rules with a broad one."""
    (tmp_path / "signatures").mkdir()
    (tmp_path / "signatures" / "an-example.yaml").write_text(RULE, encoding="utf-8")
    return tmp_path


def causes(report: Report) -> list[str]:
    """The causes of a report, best first."""
    return [cause.id for cause in report.analysis.causes]


def test_words_name_a_cause_where_nothing_else_does(patterns: Path) -> None:
    """A broad signature alone suggests its cause."""
    assert causes(postmortem.analyze(WORDS.encode(), patterns=[patterns])) == ["data.decode"]


def test_words_say_nothing_beside_a_narrower_rule(patterns: Path) -> None:
    """Not even behind it in the order of causes, wherever it stands."""
    for text in (WORDS + EXACT, EXACT + WORDS):
        found = causes(postmortem.analyze(text.encode(), patterns=[patterns]))
        assert found[0] == "memory.cuda-oom"
        assert "data.decode" not in found


def test_words_step_back_on_a_line_that_a_narrower_rule_explains() -> None:
    """A consequence or a harmless line is not told anew by its words."""
    text = (
        "W tensorflow/core/common_runtime/bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of"
        " memory trying to allocate 2.20GiB. The caller indicates that this is not a failure, but"
        " this may mean that there could be performance gains if more memory were available.\n"
    )
    found = {hit.id for hit in postmortem.analyze(text.encode()).analysis.signatures}
    assert found == {"harmless.tf-allocator-hint"}


def test_words_stand_before_the_bare_fact_that_an_exception_was_raised() -> None:
    """An exception whose line says what is the matter is not called the user's own."""
    text = "ValueError: invalid checkpoint header, the file step_400.msgpack is truncated\n"
    assert causes(postmortem.analyze(text.encode()))[0] == "checkpoint.corrupt"


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        pytest.param("ERROR: the picture 7 is broken", True, id="plainly"),
        pytest.param("ERROR: the picture 7 is broken - skipped", False, id="it goes on"),
        pytest.param("ERROR: the picture 7 is broken, falling back to zeros", False, id="so too"),
        pytest.param("ERROR: the picture 7 is broken, retrying, giving up", True, id="it does not"),
    ],
)
def test_words_of_a_fault_that_is_passed_over(
    patterns: Path, tmp_path: Path, line: str, *, counts: bool
) -> None:
    """Count for nothing where the line says that whoever prints it goes on."""
    log = tmp_path / "run.log"
    log.write_text(f"step 1 loss 2.0\n{line}\n", encoding="utf-8")
    report = postmortem.analyze(log, patterns=[patterns])
    assert ("data.decode" in causes(report)) is counts
