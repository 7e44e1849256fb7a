"""Loss scales that fall step after step, and those that look for their level."""

import math

import pytest

from postmortem.core.diagnosis import MetricRecord, Sign
from postmortem.core.findings import NOWHERE
from postmortem.interfaces.watch.signs import ScalerSigns


def followed(lines: list[tuple[str, float]]) -> list[Sign]:
    """The signs of a run that prints these lines.

    (scale, value) at an overflow, (step, number) of a record.
    """
    looking, found = ScalerSigns(), []
    for number, (kind, value) in enumerate(lines, 1):
        if kind == "scale":
            found += looking.read_event(
                MetricRecord(NOWHERE, "deepspeed", number, math.nan, {"loss_scale": value})
            )
        else:
            found += looking.pass_by(
                MetricRecord(NOWHERE, "deepspeed", number, value, {"loss": 2.0})
            )
    return found


def halvings(start: float, count: int) -> list[tuple[str, float]]:
    """Overflows in a row."""
    return [("scale", start / 2**index) for index in range(1, count + 1)]


def steps(first: int, last: int, every: int = 1) -> list[tuple[str, float]]:
    """Records of clean steps."""
    return [("step", float(step)) for step in range(first, last + 1, every)]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        pytest.param(
            halvings(65536, 17),
            10,
            id="from the start to the floor: below the level of any sound run",
        ),
        pytest.param(
            [*steps(1, 15), *halvings(65536, 3)], 18, id="the third on end behind clean steps"
        ),
        pytest.param(
            [
                *steps(1, 15),
                ("scale", 32768),
                ("step", 16),
                ("scale", 16384),
                ("step", 17),
                ("scale", 8192),
            ],
            20,
            id="a record of each skipped step between",
        ),
        pytest.param([*steps(10, 200, 10), *halvings(65536, 3)], 23, id="three within an interval"),
        pytest.param([*halvings(8, 2), *[("scale", 1.0)] * 4], 3, id="at its floor"),
    ],
)
def test_the_scale_collapses(lines: list[tuple[str, float]], line: int) -> None:
    """The line of the first warning."""
    assert followed(lines)[0].line == line


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([*halvings(2.0**29, 12), *steps(1, 40)], id="a start at 2**29"),
        pytest.param(
            [("scale", 65536), *halvings(65536, 8), *steps(1, 200, 10)],
            id="down to 256, a hysteresis first",
        ),
        pytest.param(
            [
                *steps(1, 50),
                ("scale", 32768),
                *steps(51, 60),
                ("scale", 16384),
                *steps(61, 70),
                ("scale", 8192),
                *steps(71, 80),
            ],
            id="clean steps between",
        ),
        pytest.param(
            [*steps(1, 50), *[("scale", 32768)] * 8, *steps(51, 60), *[("scale", 16384)] * 8],
            id="eight processes say the same",
        ),
        pytest.param(
            [
                *steps(1, 50),
                ("scale", 131072),
                ("scale", 65536),
                ("scale", 131072),
                ("scale", 65536),
                ("scale", 131072),
            ],
            id="it rises and falls",
        ),
        pytest.param(
            [
                *steps(10, 100, 10),
                ("scale", 32768),
                ("step", 110),
                ("scale", 16384),
                ("step", 120),
                ("scale", 8192),
                ("step", 130),
            ],
            id="one in each interval of ten steps",
        ),
    ],
)
def test_the_scale_finds_its_level(lines: list[tuple[str, float]]) -> None:
    """No warning."""
    assert followed(lines) == []


def with_records(scales: list[float], every: int = 1) -> list[Sign]:
    """The signs of a run that prints the scale in each record."""
    looking, found = ScalerSigns(), []
    for number, scale in enumerate(scales, 1):
        found += looking.pass_by(
            MetricRecord(
                NOWHERE,
                "pytorch",
                number,
                float(number * every),
                {"loss": 2.0, "loss_scale": scale},
            )
        )
    return found


def test_a_scale_that_is_printed_with_each_record() -> None:
    """The third fall on end behind clean steps.

    At the start, only below the level of any sound run.
    """
    assert with_records([65536.0] * 12 + [32768.0, 16384.0, 8192.0, 4096.0])[0].line == 15
    assert (
        with_records([2.0**21, 2.0**20, 2.0**20, 2.0**19, 2.0**18, 2.0**17] + [2.0**17] * 30) == []
    )
    assert with_records([65536.0 / 2**index for index in range(16)])[0].line == 11


def test_steps_that_are_counted_as_skipped() -> None:
    """Nine in ten of the last twenty, once the start is past."""

    def run(skipped: list[float]) -> list[Sign]:
        looking = ScalerSigns()
        return [
            sign
            for index, count in enumerate(skipped, 1)
            for sign in looking.pass_by(
                MetricRecord(NOWHERE, "deepspeed", index, 10.0 * index, {"skipped_steps": count})
            )
        ]

    assert [sign.kind for sign in run([10.0, 12.0, 12.0, 12.0, 12.0, 12.0, 22.0, 32.0])] == [
        "overflow"
    ]
    assert run([10.0, 20.0, 22.0, 22.0, 22.0, 23.0, 23.0, 24.0]) == []
