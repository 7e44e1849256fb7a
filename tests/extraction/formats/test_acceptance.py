"""A layout is one of metric lines once it has shown that it is."""

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.extraction.formats.acceptance import Acceptance
from postmortem.extraction.formats.metric_line_parser import Found, parse_metric_line


def found(text: str, line: int) -> Found:
    """What stands on a line."""
    looked = parse_metric_line(text, NOWHERE, line)
    assert looked is not None
    return looked.found


@pytest.mark.parametrize(
    ("texts", "is_owned", "lines"),
    [
        pytest.param(["step 1 loss: 0.5"], False, [[1]], id="a place beside the first loss"),
        pytest.param(["step 1 loss: 0.5"], True, [[]], id="a place, but there is a loss already"),
        pytest.param(["loss: 0.5", "loss: 0.4", "loss: 0.4"], False, [[], [1, 2], [3]], id="again"),
        pytest.param(["loss: 0.5", "loss: 0.5"], False, [[], []], id="the same line twice"),
        pytest.param(["loss: nan", "loss: nan"], False, [[], [1, 2]], id="no number any more"),
        pytest.param(
            ["val loss: 0.711"] * 4, True, [[], [], [1, 2, 3], [4]], id="an evaluation stands still"
        ),
        pytest.param(["loss: 0.711"] * 4, True, [[], [], [], []], id="a setting may"),
    ],
)
def test_a_layout_must_come_again(
    texts: list[str],
    is_owned: bool,  # noqa: FBT001 -- a column of the table
    lines: list[list[int]],
) -> None:
    """Its first line is kept until then."""
    acceptance = Acceptance()
    assert [
        [taken.line for taken in acceptance.take(found(text, number), is_owned=is_owned)]
        for number, text in enumerate(texts, 1)
    ] == lines
    layout = found(texts[0], 1).layout
    assert acceptance.is_known(layout, NOWHERE) == bool(lines[-1])


def test_a_number_that_does_not_grow_is_no_step() -> None:
    """A number in brackets may be a rank."""
    grows, stays = Acceptance(), Acceptance()
    for acceptance, last in ((grows, 2), (stays, 1)):
        for number, value in ((1, 0.5), (last, 0.4)):
            line = found(f"[{number}] loss: {value}", number)
            acceptance.take(line, is_owned=False)
    assert grows.is_counted(line.layout, NOWHERE)
    assert not stays.is_counted(line.layout, NOWHERE)
