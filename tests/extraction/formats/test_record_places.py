"""Where the parts of a record stand, remembered for texts that differ in digits alone."""

import pytest

from postmortem import pipeline
from postmortem.extraction.formats.records import FormatReader
from postmortem.reading.windows import View
from postmortem.rules.engine import Pattern

TRAINER = next(
    one.format for one in pipeline.get_matcher(()).metrics if one.format.id == "trainer.record"
)
FIRST = "{'loss': 2.31, 'part_001': 0.50, 'eval_runtime': 3.3, 'epoch': 0.1}"


def values(reader: FormatReader, text: str) -> list[tuple[str, float]] | None:
    """What a reader reads on a line."""
    record = reader.read(View(text.encode() + b"\n", 0, 1, srun=False))
    return None if record is None else record.values


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param(
            "{'loss': 4.25, 'part_907': 1.75, 'eval_runtime': 9.9, 'epoch': 7.3}",
            [("loss", 4.25), ("part_907", 1.75), ("epoch", 7.3)],
            id="other digits",
        ),
        pytest.param(
            "{'loss': 4.25, 'part_907': 11.75, 'eval_runtime': 9.9, 'epoch': 7.3}",
            [("loss", 4.25), ("part_907", 11.75), ("epoch", 7.3)],
            id="a longer figure",
        ),
        pytest.param(
            "{'loss': 4.25, 'pert_907': 1.75, 'eval_runtime': 9.9, 'epoch': 7.3}",
            [("loss", 4.25), ("pert_907", 1.75), ("epoch", 7.3)],
            id="other letters",
        ),
        pytest.param("{'loss': 4.25, 'part_907': 1.75, 'eval_runtime': 9.9", None, id="cut off"),
    ],
)
def test_a_line_like_another_is_read_as_it_would_be_alone(
    text: str, read: list[tuple[str, float]] | None
) -> None:
    """Whatever was read before."""
    reader = FormatReader(TRAINER)
    values(reader, FIRST)
    assert values(reader, text) == values(FormatReader(TRAINER), text) == read


def test_a_line_that_differs_in_digits_alone_is_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a thousand such lines one is."""
    reader, searched = FormatReader(TRAINER), list[str]()
    pattern = TRAINER.pattern()

    def search(_: Pattern, text: str, *rest: object) -> object:
        searched.append(text)
        return found(text, *rest)

    found = pattern.search
    monkeypatch.setattr(type(pattern), "search", search)
    for number in range(1000):
        text = f"{{'loss': 2.31, 'part_{number:03d}': 0.50, 'epoch': 0.1}}"
        assert values(reader, text) == [("loss", 2.31), (f"part_{number:03d}", 0.5), ("epoch", 0.1)]
    assert len(searched) == 1
