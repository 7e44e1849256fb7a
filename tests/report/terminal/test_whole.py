"""The terminal report."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from postmortem.core.answer import Progress, Verdict
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Environment
from postmortem.report.terminal.whole import render_terminal
from tests.report.samples import HOSTILE, a_series, abstaining, hostile, rich

SGR = re.compile(r"\x1b\[[0-9;]*m")


def prose(text: str, one: Diagnosis) -> list[str]:
    """Give the lines that are no code."""
    code = {
        line.rstrip()
        for cause in one.causes
        for fix in cause.fixes
        for line in fix.snippet.split("\n")
    }
    return [line for line in text.split("\n") if line not in code]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_and_do_not_end_in_blanks(width: int, language: str) -> None:
    """Prose never runs over the width, Chinese counted double, and nothing trails."""
    one = rich(language)
    text = render_terminal(one, width=width, color=False)
    assert [line for line in prose(text, one) if cell_len(line) > width] == []
    assert [line for line in text.split("\n") if line != line.rstrip()] == []


def test_without_colour_there_are_no_escapes() -> None:
    """Plain means plain."""
    assert "\x1b" not in render_terminal(rich(), width=80, color=False)


def test_colour_changes_nothing_but_colour() -> None:
    """With the colours taken out both reports are the same, and nothing but colours was put in."""
    colored = render_terminal(rich(), width=80, color=True)
    assert "\x1b[" in colored
    assert SGR.sub("", colored) == render_terminal(rich(), width=80, color=False)


def test_a_label_colours_itself_only() -> None:
    """The sign of a weight is coloured, the words beside it are not."""
    colored = render_terminal(rich(), width=200, color=True)
    assert "\x1b[32m   +1.0\x1b[0m  \x1b[2menvironment: \x1b[0mTesla" in colored
    assert "\x1b[1mFirst failure: \x1b[0mtrain-3.log" in colored


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich's own variables change nothing: the caller decides."""
    expected = render_terminal(rich(), width=80, color=True)
    for name, value in (
        ("NO_COLOR", "1"),
        ("COLUMNS", "30"),
        ("FORCE_COLOR", "1"),
        ("TERM", "dumb"),
        ("TTY_COMPATIBLE", "0"),
    ):
        monkeypatch.setenv(name, value)
    assert render_terminal(rich(), width=80, color=True) == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("FAILED  Values left the range of float16 (above 65504)", id="headline"),
        pytest.param(
            "numerics.fp16-overflow · supported (more for it than against, not proved) · 93%",
            id="standing",
        ),
        pytest.param(
            "The problem lies in your code or configuration · Run it again: only after a fix",
            id="whose and retry",
        ),
        pytest.param(
            "   +2.0  train-3.log:1832  rank 3 on host-1  {'loss': nan, 'grad_norm': nan,",
            id="evidence",
        ),
        pytest.param(
            "   -0.5  train-3.log:1832  rank 3 on host-1  learning_rate 4.5e-05 > 0",
            id="evidence against",
        ),
        pytest.param(
            "   +1.0  environment: Tesla V100-SXM2-32GB: compute capability 7.0",
            id="evidence of no line",
        ),
        pytest.param(
            "  2. change: Train in float32 with a smaller batch, batch size 8 → 4, accumulation 2 → 4  [costly]",
            id="fix",
        ),
        pytest.param("    22%  learning rate  numerics.lr-divergence", id="other cause"),
        pytest.param("  - Newly initialised classification head  train-3.log:31-32", id="harmless"),
        pytest.param(
            "  loss_scale  ██████████████████████████████████████▇▅▃▁▁  65536 → 1", id="curve"
        ),
        pytest.param("  - last good step 411", id="progress"),
        pytest.param("  - /home/user-1/runs/glm4/train-3.log: log, 18344 lines, gzip", id="source"),
    ],
)
def test_the_report_says(line: str) -> None:
    """The pieces stand where they are looked for."""
    found = [
        one
        for one in render_terminal(rich(), width=140, color=False).split("\n")
        if one.startswith(line)
    ]
    assert found != []


def test_ten_fixes_stand_beside_their_numbers() -> None:
    """The column of the numbers is as wide as the longest."""
    one = rich()
    text = render_terminal(
        replace(one, causes=(replace(one.causes[0], fixes=one.causes[0].fixes * 4),)),
        width=80,
        color=False,
    )
    assert "\n   9. prevent: Stop" in text
    assert "\n  10. check: See which" in text


def test_warnings_come_first() -> None:
    """What is wrong with the input stands above what was concluded from it."""
    text = render_terminal(rich(), width=80, color=False)
    assert (
        text.index("Warnings: 18 lines were longer")
        < text.index("At step 412")
        < text.index("Evidence")
    )


def test_one_point_is_said() -> None:
    """A curve of one point is a number."""
    text = render_terminal(
        replace(rich(), series=(a_series("loss", [5.0], [2.5]),)), width=80, color=False
    )
    assert "  loss  2.5 at step 5, line 1425, a single point\n" in text


def test_a_snippet_can_be_copied() -> None:
    """Code begins in the first column, is not wrapped, and has no box around it."""
    one = rich()
    text = render_terminal(one, width=40, color=False)
    for fix in one.causes[0].fixes:
        assert f"\n{fix.snippet}\n" in text


def test_abstaining_says_what_is_needed_before_the_candidates() -> None:
    """The report that cannot tell names what would decide, then what it could be.

    What would decide has its command.
    """
    text = render_terminal(abstaining(), width=80, color=False)
    assert text.startswith(
        "FAILED  The cause cannot be told from this log\nunknown (nothing here decides)\n"
    )
    assert (
        0
        < text.index("What would decide")
        < text.index("\nscp login:/runs/42/rank-0.log .\n")
        < text.index("What it could be")
    )
    assert "+1.5 standard input:3  ChildFailedError" in text


def test_a_healthy_run_has_no_culprit() -> None:
    """Nothing is said about whose problem it is when there is none."""
    verdict = Verdict(
        "healthy.completed", 0.98, "established", "It finished.", "unknown", "unknown"
    )
    text = render_terminal(
        replace(abstaining(), outcome="completed", verdict=verdict), width=80, color=False
    )
    assert text.startswith("COMPLETED  healthy.completed\n")
    assert "problem" not in text


def test_empty_parts_leave_no_headings() -> None:
    """A heading without anything below it is not written."""
    one = replace(
        rich(),
        series=(),
        signatures=(),
        warnings=(),
        environment=Environment(),
        progress=Progress(),
        frameworks=(),
        first_failure=None,
    )
    text = render_terminal(one, width=80, color=False)
    assert [
        name
        for name in (
            "Curves",
            "Looks alarming",
            "Warnings",
            "Environment",
            "Progress",
            "First failure",
        )
        if f"\n{name}" in text
    ] == []


def test_markup_in_a_log_is_not_obeyed() -> None:
    """Rich's own markup is text, escapes are gone, direction overrides are visible."""
    text = render_terminal(hostile(), width=200, color=False, redact=False)
    assert "<script>alert(1)</script> [red]x[/red] red" in text
    assert r"\u202egnp.exe" in text
    assert [
        char for char in text if (ord(char) < 0x20 and char != "\n") or ord(char) in (0x202E, 0x9B)
    ] == []
    assert HOSTILE not in text
    assert "\x1b" not in SGR.sub("", render_terminal(hostile(), width=200, color=True))
