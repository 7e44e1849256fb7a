"""Places that the page marks on its curves."""

from itertools import pairwise
from pathlib import Path

import pytest

import postmortem
from postmortem.diagnosis.story.timeline_events import MOST, sample_evenly

SAMPLES = Path(__file__).resolve().parents[3] / "sample_logs"


def marked(path: Path) -> dict[str, tuple[int, list[int]]]:
    """Give count and lines of each kind."""
    return {
        one.kind: (one.count, [line for line, _ in one.places])
        for one in postmortem.analyze(path).diagnosis.marks
    }


@pytest.mark.parametrize(
    ("log", "found"),
    [
        pytest.param(
            "xtuner/nan-internlm2.log",
            {"crash": (1, [131])},
            id="the exception behind the last record",
        ),
        pytest.param(
            "deepspeed/diverged-then-exhausted-0.log",
            {"overflow": (8, [170, 172, 174, 176, 178, 180, 183, 185]), "crash": (1, [200])},
            id="skipped steps",
        ),
        pytest.param(
            "pytorch/healthy-nano-0.log",
            {"checkpoint": (5, [16, 28, 40, 52, 64]), "evaluation": (6, [4, 15, 27, 39, 51, 63])},
            id="checkpoints and evaluations, no crash",
        ),
    ],
)
def test_what_happened_is_marked_at_its_line(
    log: str, found: dict[str, tuple[int, list[int]]]
) -> None:
    """Each kind with its lines."""
    assert marked(SAMPLES / log) == found


def test_a_rising_or_standing_scale_is_no_skipped_step(tmp_path: Path) -> None:
    """Of a scale that each record prints only the falls count; a resumed run says so."""
    scales = [65536, 65536, 32768, 32768, 65536, 32768]
    lines = [
        f" iteration {step:8}/ 500 | lm loss: {2.0 - step / 100:.6E} | loss scale: {scale}.0 | grad norm: 1.0 |"
        for step, scale in enumerate(scales, 1)
    ]
    log = tmp_path / "train.log"
    log.write_text("\n".join(["resumed from epoch: 3, iter 300", *lines, ""]))
    assert marked(log) == {"overflow": (2, [4, 7]), "resumed": (1, [1])}


def test_many_places_are_thinned_evenly() -> None:
    """The first and the last stay, the count is told beside."""
    kept = sample_evenly([(line, None) for line in range(10_000)])
    assert (len(kept), kept[0][0], kept[-1][0]) == (MOST, 0, 9_999)
    gaps = [two[0] - one[0] for one, two in pairwise(kept)]
    assert max(gaps) - min(gaps) <= 1
