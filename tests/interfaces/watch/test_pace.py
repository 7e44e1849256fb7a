"""How long a run may be silent."""

import math

from postmortem.interfaces.watch.stall_detector import FIRST, FLOOR, Pace


def test_before_the_pace_is_known_an_hour_may_pass() -> None:
    """Downloads, data, compilation; and a program may write into its file in large pieces."""
    pace = Pace()
    assert pace.get_limit() == FIRST
    pace.record_output(100.0, 5.0, 80)
    assert pace.get_limit() == FIRST


def test_a_quick_run_has_the_floor() -> None:
    """Evaluation and saving take minutes whatever a step takes."""
    pace = Pace()
    for second in range(10):
        pace.record_output(float(second), 1.0, 1)
    assert pace.get_limit() == FLOOR
    assert pace.get_usual() == 1.0


def test_a_slow_run_has_more() -> None:
    """Thirty times the usual distance, three times the longest silence."""
    pace = Pace()
    for index in range(10):
        pace.record_output(60.0 * index, 60.0, 1)
    assert pace.get_limit() == 1800.0
    pace.record_output(3000.0, 2400.0, 1)
    assert pace.get_limit() == 7200.0


def test_the_printed_clock_tells_of_pauses_before_the_watch_began() -> None:
    """An evaluation of half an hour is known then.

    Clocks of another kind in the same log are left out.
    """
    pace = Pace()
    pace.learn(
        [
            *(f"2026-01-01 12:00:{second} step 1" for second in range(10, 60, 10)),
            "I0101 05:00:00.000 elastic",
            "2026-01-01 12:30:50 evaluated",
        ]
    )
    assert pace.get_limit() == 5400.0


def test_the_user_decides() -> None:
    """A limit of his own; 0 for none."""
    assert Pace(30.0).get_limit() == 30.0
    assert math.isinf(Pace(0.0).get_limit())
