"""The timeline over processes."""

from dataclasses import replace

from postmortem.core.answer import Event
from postmortem.core.findings import NOWHERE, ProcessId, Source
from postmortem.report.page.article_parts import build_lanes
from postmortem.report.words import Words
from tests.report.samples import rich


def event(source: int, where: ProcessId = NOWHERE) -> Event:
    """Something that happened in a source."""
    return Event(source, where, 1, None, None, "context", "x")


def source(path: str, where: ProcessId = NOWHERE) -> Source:
    """A file."""
    return Source(path, 1, 1, "utf-8", None, where, "log")


def test_a_process_has_one_lane_whatever_file_names_it() -> None:
    """A line that names its rank, and a file that is the rank's, share a lane.

    A file without a process has its own.
    """
    one = replace(
        rich(),
        sources=(source("job/out.log"), source("job/rank_1.log", ProcessId(rank=1))),
        timeline=(event(0), event(1), event(0, ProcessId(rank=1)), event(0, ProcessId(rank=0))),
    )
    found = build_lanes(one, Words("en"))
    assert found.names == ("out.log", "rank 1", "rank 0")
    assert found.of == (0, 1, 1, 2)


def test_a_file_that_names_one_process_is_its() -> None:
    """What a line without a rank tells in the log of rank 0 happened to rank 0."""
    one = replace(
        rich(),
        sources=(source("out.log"),),
        timeline=(event(0), event(0, ProcessId(rank=0)), event(0)),
    )
    assert build_lanes(one, Words("en")) == (("rank 0",), (0, 0, 0))


def test_many_processes_share_the_last_lane() -> None:
    """A thousand ranks do not make a thousand lanes, and nothing is left without one."""
    one = replace(rich(), timeline=tuple(event(0, ProcessId(rank=rank)) for rank in range(1000)))
    found = build_lanes(one, Words("en"))
    assert found.names[:2] == ("rank 0", "rank 1")
    assert found.names[-1] == "992 others"
    assert len(found.of) == 1000
    assert max(found.of) == len(found.names) - 1 == 8
