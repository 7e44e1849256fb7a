"""The terminal report on one screen."""

import re
from dataclasses import replace

import pytest
import samples as recorded
from rich.cells import cell_len

import postmortem
from postmortem.core.answer import Evidence, Verdict
from postmortem.core.diagnosis import Diagnosis
from postmortem.report.terminal.paper import wrap_command
from postmortem.report.terminal.screen import ROOM, render_screen
from postmortem.report.terminal.whole import render_terminal
from tests.report.samples import a_series, abstaining, hostile, rich

SGR = re.compile(r"\x1b\[[0-9;]*m")
EVERY = 24


@pytest.fixture(scope="module")
def diagnoses() -> list[Diagnosis]:
    """Recorded logs of all kinds in both languages, and made ones."""
    labels = recorded.labels_in(recorded.ROOT / "sample_logs")[::EVERY]
    found = [
        postmortem.analyze(recorded.input_of(label)).in_language(language).diagnosis
        for label in labels
        for language in ("en", "zh")
    ]
    return [*found, rich(), rich("zh"), abstaining(), hostile()]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_it_fits_one_screen(diagnoses: list[Diagnosis], width: int) -> None:
    """Twenty-four lines hold it with prompt and summary, and the verdict is on it.

    No line is wider than the screen (Chinese counted double) or ends in blanks.
    """
    for one in diagnoses:
        lines = render_screen(one, width=width, color=False).removesuffix("\n").split("\n")
        assert len(lines) <= ROOM == 24 - 2
        assert [line for line in lines if cell_len(line) > width] == []
        assert [line for line in lines if line != line.rstrip()] == []
        if one.verdict.cause is not None:
            assert any(one.verdict.cause[:30] in line for line in lines)


def test_the_whole_report_is_no_wider_either(diagnoses: list[Diagnosis]) -> None:
    """But for code, which is not broken, so that it can be copied."""
    for one in diagnoses[:-1]:
        code = {
            line.rstrip()
            for cause in one.causes
            for fix in cause.fixes
            for line in fix.snippet.split("\n")
        } | {line for need in one.verdict.need for line in need.command.split("\n")}
        for width in (40, 120):
            assert [
                line
                for line in render_terminal(one, width=width, color=False, redact=False).split("\n")
                if cell_len(line) > width and line not in code
            ] == []


def test_the_order_is_that_of_the_whole() -> None:
    """Verdict, whose problem, first failure, fixes, evidence, curves, and where the rest is."""
    text = render_screen(rich(), width=80, color=False)
    whole = render_terminal(rich(), width=80, color=False)
    for shown in (text, whole):
        places = [
            shown.index(part)
            for part in (
                "Values left the range",
                "supported",
                "The problem lies",
                "First failure",
                "What to do",
                "\nEvidence",
                "  loss  ",
            )
        ]
        assert places == sorted(places)
    assert text.rstrip().endswith("Everything: --full · a page with charts: -o report.html")


def test_what_to_begin_with_stands_out_with_its_reason() -> None:
    """The first fix is marked and says why, each once; a sound run has nothing to begin with."""
    one = rich()
    screen = render_screen(one, width=80, color=False)
    lines = screen.split("\n")
    at = next(number for number, line in enumerate(lines) if "Do this first: " in line)
    assert screen.count("Do this first") == 1
    assert lines[at].startswith("  1. ")
    assert one.causes[0].fixes[0].why[:30] in lines[at + 1]
    sound = replace(one, verdict=replace(one.verdict, cause="healthy.completed"))
    assert "Do this first" not in render_terminal(sound, width=80, color=False)


def test_colour_changes_nothing_but_colour() -> None:
    """With the colours taken out both are the same."""
    colored = render_screen(rich(), width=80, color=True)
    assert "\x1b[" in colored
    assert SGR.sub("", colored) == render_screen(rich(), width=80, color=False)


def test_what_speaks_against_is_never_left_out() -> None:
    """However much speaks for a cause, the strongest evidence against it is on the screen."""
    one = rich()
    items = tuple(
        Evidence(
            "signature",
            f"s{index}",
            "g",
            f"for {index}",
            3.0,
            0,
            one.causes[0].evidence[0].where,
            10 + index,
        )
        for index in range(9)
    )
    against = Evidence(
        "shape", "x", "y", "a flat curve before", -0.7, 0, one.causes[0].evidence[0].where, 5
    )
    text = render_screen(
        replace(one, causes=(replace(one.causes[0], evidence=(*items, against)),)),
        width=80,
        color=False,
    )
    assert "-0.7" in text
    assert "a flat curve before" in text


def test_an_abstention_shows_what_to_send_and_what_it_could_be() -> None:
    """The command that would decide stands on the screen."""
    text = render_screen(abstaining(), width=80, color=False)
    assert (
        0
        < text.index("What would decide")
        < text.index("scp login:/runs/42/rank-0.log .")
        < text.index("What it could be")
    )


def test_a_quiet_report_is_short() -> None:
    """A healthy run without findings takes a few lines, and no heading stands above nothing."""
    verdict = Verdict(
        "healthy.completed", 0.98, "established", "It finished.", "unknown", "unknown"
    )
    text = render_screen(
        replace(
            abstaining(),
            outcome="completed",
            verdict=verdict,
            causes=(),
            signatures=(),
            series=(a_series("loss", [1.0, 2.0], [3.0, 2.0]),),
        ),
        width=80,
        color=False,
    )
    assert text.startswith("COMPLETED  healthy.completed\n")
    assert "What to do" not in text
    assert len(text.split("\n")) < 12


@pytest.mark.parametrize(
    ("language", "snippet", "lines"),
    [
        pytest.param("bash", "pip install 'x>=2'", ["pip install 'x>=2'"], id="a single line"),
        pytest.param("bash", "# first\ncd /run   # here\nls", ["cd /run"], id="the first command"),
        pytest.param("bash", "a \\\n  --b", ["a --b"], id="what was folded for no need"),
        pytest.param("bash", "python - <<'EOF'\nprint(1)\nEOF", [], id="a here-document"),
        pytest.param("bash", "tool " + "--option value " * 8, ["tool --option value --option value --option value --option value \\", "  --option value --option value --option value --option value"], id="a long one is folded"),
        pytest.param("bash", f"python -c '{'x ' * 50}'", [], id="not within quotes"),
        pytest.param("python", "x = 1\nif x:\n    y(x)", ["x = 1", "if x:", "    y(x)"], id="short code"),
        pytest.param("python", "a\nb\nc\nd", [], id="long code"),
        pytest.param("python", f"x = 1  # {'then ' * 20}", ["x = 1"], id="a comment that is too long"),
        pytest.param("python", "f(" + "x, " * 40 + ")", [], id="a wide line"),
    ],
)  # fmt: skip
def test_a_command_is_shown_whole_or_not(language: str, snippet: str, lines: list[str]) -> None:
    """What is shown can be copied: nothing is cut, a shell command may be folded."""
    one = rich()
    fix = replace(one.causes[0].fixes[0], snippet=snippet, language=language)
    shown = render_screen(
        replace(one, causes=(replace(one.causes[0], fixes=(fix,)),)), width=80, color=False
    )
    assert wrap_command(snippet, language, 75) == lines
    assert "\n".join(f"     {line}" for line in lines) in shown
    assert "…" not in "".join(lines)


def test_log_text_cannot_steer() -> None:
    """No escape, no control character but the line break."""
    text = render_screen(hostile(), width=80, color=False, redact=False)
    assert [
        char for char in text if (ord(char) < 0x20 and char != "\n") or ord(char) in (0x202E, 0x9B)
    ] == []
    assert "\x1b" not in SGR.sub("", render_screen(hostile(), width=80, color=True))
