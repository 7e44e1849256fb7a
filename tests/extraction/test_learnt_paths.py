"""The templates that a source has taught."""

from collections.abc import Iterator

import pytest

from postmortem import pipeline
from postmortem.extraction.template_reader import LearntTemplates
from postmortem.reading.windows import View
from postmortem.rules.engine import A_SOURCE, Budget

READER = next(one for one in pipeline.get_matcher(()).metrics if one.format.id == "trainer.record")
OPENING = 7
KEPT = 8
"""Templates of one skeleton."""


def line(name: int, figure: str = "0.25", loss: str = "2.5") -> bytes:
    """A line with a metric of its own."""
    return f"{{'loss': {loss}, 'part_{name}': {figure}, 'epoch': 0.5}}\n".encode()


def learnt(count: int) -> LearntTemplates:
    """What a log with so many names has taught, each of which came twice."""
    paths = LearntTemplates(Budget(A_SOURCE))
    for name in range(count):
        for _ in range(2):
            paths.learn(OPENING, View(line(name), 3, 1, srun=False), READER)
    return paths


def found(paths: LearntTemplates, data: bytes) -> bytes | None:
    """The line that the template was learnt from that takes another."""
    known = paths.find(OPENING, data, 0, len(data) - 1)
    if known is not None:
        assert not paths.takes_none(OPENING, data, 0)
    return None if known is None else known[0].template.raw.encode() + b"\n"


def strangers() -> Iterator[bytes]:
    """Lines of the same skeleton that no template takes."""
    for number in range(100):
        yield line(1000 + number)


@pytest.mark.parametrize("misses", [0, 1, 50])
@pytest.mark.parametrize("count", [1, 2, 4, KEPT])
def test_a_line_is_found_however_many_others_were_not(count: int, misses: int) -> None:
    """A template that is kept is found before and after others have been told by what they begin with."""
    paths = learnt(count)
    assert paths.count() == count
    for one, _ in zip(strangers(), range(misses), strict=False):
        assert found(paths, one) is None
    for name in [*range(count), 0]:
        assert found(paths, line(name, "17.125", "nan")) == line(name)
        assert found(paths, line(name + 500)) is None
    assert found(paths, line(0, "abc")) is None


def test_a_template_that_is_learnt_later_is_found() -> None:
    """Though what those before it begin with was told already."""
    paths = learnt(KEPT - 1)
    assert [found(paths, one) for one in strangers()] == [None] * 100
    assert all(paths.takes_none(OPENING, one, 0) for one in strangers())
    assert not paths.takes_none(OPENING + 1, line(2000), 0)
    for _ in range(2):
        paths.learn(OPENING, View(line(700), 3, 1, srun=False), READER)
    assert found(paths, line(700, "3.5")) == line(700)
    assert found(paths, line(701)) is None
    assert found(paths, line(3, "3.5")) == line(3)
