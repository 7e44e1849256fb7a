"""The raw lines that the page quotes."""

from dataclasses import replace
from pathlib import Path

import postmortem
from postmortem.core.answer import Excerpt
from postmortem.diagnosis.story import shown_places
from tests.report.samples import lifted, rich

SAMPLE = Path(__file__).resolve().parents[3] / "sample_logs" / "xtuner" / "nan-internlm2.log"


def test_every_place_of_the_evidence_is_quoted_as_it_stands_in_the_log() -> None:
    """The lines have their raw numbers and texts, do not overlap and stand in order."""
    found = postmortem.analyze(SAMPLE).analysis
    lines = SAMPLE.read_text(encoding="utf-8").split("\n")
    shown = {
        one.first_line + index: text for one in found.quotes for index, text in enumerate(one.lines)
    }
    assert sum(len(one.lines) for one in found.quotes) == len(shown)
    assert list(shown) == sorted(shown)
    assert all(lines[number - 1] == text for number, text in shown.items())
    places = {item.line for item in found.causes[0].evidence if item.line is not None}
    assert places
    assert places <= set(shown)


def test_a_source_that_is_gone_is_quoted_by_what_was_kept(tmp_path: Path) -> None:
    """Without the file the excerpt around the failure stands, and no more."""
    log = tmp_path / "run.log"
    log.write_bytes(SAMPLE.read_bytes())
    found = postmortem.analyze(log).analysis
    log.unlink()
    assert shown_places.add_quotes(found, [str(log)]).quotes == (found.excerpt,)


def test_quotes_have_a_limit(tmp_path: Path) -> None:
    """However many places the report names, the page quotes some hundred lines.

    The failure is among them.
    """
    log = tmp_path / "run.log"
    log.write_text("".join(f"line {number}\n" for number in range(1, 20_001)), encoding="utf-8")
    one = lifted(rich())
    events = tuple(
        replace(one.timeline[0], source=0, line=number * 10) for number in range(1, 1900)
    )
    excerpt = Excerpt(0, 19_001, tuple(f"line {number}" for number in range(19_001, 19_040)))
    found = shown_places.add_quotes(
        replace(
            one,
            sources=(replace(one.sources[0], path=str(log), lines=20_000),),
            timeline=events,
            excerpt=excerpt,
            causes=(),
            settings={},
            signatures=(),
        ),
        [str(log)],
    )
    count = sum(len(part.lines) for part in found.quotes)
    assert 300 <= count <= 600
    assert excerpt.lines in [part.lines for part in found.quotes]


def test_the_page_counts_what_it_leaves_out_of_a_line(tmp_path: Path) -> None:
    """Of 100,000 characters a thousand are shown, and 99,000 are said to follow."""
    log = tmp_path / "run.log"
    log.write_text(
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: '
        + "x" * (100_000 - 12)
        + "\n",
        encoding="utf-8",
    )
    assert "… 99000 more characters" in postmortem.analyze(log).render("html")
