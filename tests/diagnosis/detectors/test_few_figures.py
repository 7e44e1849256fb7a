"""Fragments of a few records that print nothing but figures, and what they are worth.

Each that speaks has beside it one of a sound run that looks like it.
"""

import pytest

from postmortem.api import analyze

BAR = "Epoch {n}/30: 100%|##########| 400/400 [{clock}, {rate}, loss={loss:.2f}]"
MEANS = "Epoch: [{n}][{s}/900]\tTime {t} ({tm})\tData {d} ({dm})\tLoss {x} ({xm})\tAcc@1 {a} ({am})"


def bars(rates: list[str]) -> str:
    """Epoch after epoch by its bar."""
    return "\n".join(
        BAR.format(n=n, clock="03:20<00:00", rate=rate, loss=3.0 * 0.9**n)
        for n, rate in enumerate(rates, 1)
    )


def means(rows: list[tuple[float, ...]]) -> str:
    """Records of the second epoch with the means so far."""
    keys = ("s", "t", "tm", "d", "dm", "x", "xm", "a", "am")
    return "\n".join(MEANS.format(n=2, **dict(zip(keys, row, strict=True))) for row in rows)


def lines(row: str, *figures: tuple[float | str, ...]) -> str:
    """A line each."""
    return "\n".join(row.format(*one) for one in figures)


SLOW = [
    pytest.param(bars(["4.10it/s", "4.05it/s", "4.12it/s", "1.90s/it", "3.80s/it"]), id="bars"),
    pytest.param(
        lines("step {0} loss 1.{1}0 (52.{2} samples/s)", (2000, 4, 1), (2010, 3, 5), (2020, 3, 2))
        + "\n"
        + lines("step {0} loss 1.{1}0 ({2} samples/s)", (2030, 3, 6.1), (2040, 2, 5.9)),
        id="samples",
    ),
    pytest.param(
        lines(
            "iter {0}, loss = 0.4{0} ({1}s)",
            (400, 61.2), (401, 2.1), (402, 2.2), (403, 55.9), (404, 71.3), (405, 2.3),
        ),
        id="stalls",
    ),
    pytest.param(
        lines(
            "Epoch {0} done, loss 0.{1}, took {2}s",
            (1, 812, 40.2), (2, 755, 41.1), (3, 712, 40.8), (4, 690, 133.0), (5, 655, 290.4),
        ),
        id="epochs",
    ),
]  # fmt: skip
WAITING = [
    pytest.param(
        means(
            [
                (0, 90.1, 90.1, 86.2, 86.2, 6.9, 6.9, 0.4, 0.4),
                (150, 0.41, 5.1, 0.01, 4.6, 6.8, 6.9, 0.8, 0.5),
            ]
        ),
        id="means of which the records in between are a part",
    ),
    pytest.param(
        lines(
            "iter {0} | loss {1} | data {2}s | fwd 0.09s | bwd 0.14s",
            (40, 2.4, 3.02), (60, 2.3, 2.88), (80, 2.2, 3.11),
        ),
        id="parts of a step",
    ),
    pytest.param(
        lines(
            "Epoch: 2 [{0}/800] batch_time {1} data_time {2} loss {3}",
            (40, 3.201, 3.004, 2.41), (50, 3.104, 2.951, 2.38),
        ),
        id="two records",
    ),
]  # fmt: skip
UNLEARNT = [
    pytest.param(
        lines(
            "Epoch {0}: loss {1} acc {2} val_loss {3} val_acc {4}",
            (6, 0.6934, 0.497, 0.6932, 0.5031), (7, 0.6931, 0.502, 0.6931, 0.4969),
            (8, 0.6933, 0.499, 0.6932, 0.5031), (9, 0.6932, 0.501, 0.6931, 0.4969),
        ),
        id="a coin",
    ),
]  # fmt: skip
SOUND = [
    pytest.param(bars(["4.10it/s", "4.05it/s", "4.12it/s", "3.20it/s", "3.05it/s"]), id="bars"),
    pytest.param(bars(["4.10it/s", "4.05it/s", "4.12it/s", "1.90s/it", "4.02it/s"]), id="one"),
    pytest.param(
        lines(
            "iter {0}, loss = 0.4{0} ({1}s)",
            (0, 61.2), (1, 22.1), (2, 2.2), (3, 2.1), (4, 2.3), (5, 2.2),
        ),
        id="the first steps",
    ),
    pytest.param(
        means(
            [
                (0, 9.1, 9.1, 8.6, 8.6, 2.1, 2.1, 50.4, 50.4),
                (150, 0.41, 0.47, 0.01, 0.07, 2.0, 2.05, 51.8, 51.5),
                (300, 0.41, 0.44, 0.01, 0.04, 2.1, 2.06, 51.6, 51.4),
            ]
        ),
        id="a first step that waits",
    ),
    pytest.param(
        lines(
            "iter {0} | loss {1} | data 0.02s | fwd 0.09s | bwd 0.14s",
            (40, 2.4), (60, 2.3), (80, 2.2),
        ),
        id="parts of a step",
    ),
    pytest.param(
        lines(
            "Epoch {0}: loss {1} acc {2} val_loss {3} val_acc {4}",
            (86, 2.0134, 0.497, 2.132, 0.4831), (87, 2.0131, 0.502, 2.131, 0.4869),
            (88, 2.0129, 0.503, 2.132, 0.4851), (89, 2.0127, 0.503, 2.131, 0.4869),
        ),
        id="half of many classes, late",
    ),
    pytest.param(
        lines(
            "Epoch {0}: loss {1} acc {2} val_loss {3} val_acc {4}",
            (1, 0.6931, 0.501, 0.6925, 0.5102), (2, 0.6921, 0.522, 0.6905, 0.5304),
            (3, 0.6881, 0.542, 0.6822, 0.5511),
        ),
        id="a beginning",
    ),
    pytest.param(
        lines(
            "step {0}: train loss {1}, val loss {2}",
            (6000, 3.212, 3.320), (6250, 3.211, 3.321), (6500, 3.212, 3.319),
        ),
        id="level, but of what has been learnt",
    ),
    pytest.param(
        lines(
            "Epoch {0}/90 - loss: {1} - acc: {2} - val_loss: {3} - val_acc: 0.0",
            *((n, 0.2 * 0.8**n, 0.004 * (n % 2), 0.19 * 0.8**n) for n in range(4, 12)),
        ),
        id="numbers, of which none is met exactly",
    ),
    pytest.param(
        lines(
            "Epoch 4, {0}/ 900; acc: 0.00; ppl: {1}; 5100 tok/s; {2} s elapsed",
            *((50 * n, 14.0 * 0.93**n, 5 * n) for n in range(1, 9)),
        ),
        id="a counter beside a perplexity that falls",
    ),
    pytest.param(
        lines("step {0}: loss={1}", (4000, 2.3127), (4100, 2.2824), (4200, 2.3329), (4300, 2.2926)),
        id="near the logarithm of ten",
    ),
    pytest.param(
        lines("Total reward in episode {0} is {1}", *[(n, 2.7 + n % 3) for n in range(40, 56)]),
        id="rewards",
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", SLOW)
def test_few_records_of_a_pace(text: str) -> None:
    """What breaks down to a fraction, or stalls again and again, is slow."""
    verdict = analyze(text.encode()).verdict
    assert verdict.cause == "performance.slow"
    assert verdict.probability < 0.99


@pytest.mark.parametrize("text", WAITING)
def test_few_records_of_waiting(text: str) -> None:
    """Seconds of each step, and nearly all of it."""
    assert analyze(text.encode()).verdict.cause == "performance.input-bound"


@pytest.mark.parametrize("text", UNLEARNT)
def test_few_records_of_a_guess(text: str) -> None:
    """Late figures of a guess."""
    assert analyze(text.encode()).verdict.cause in {"learning.plateau", "learning.collapse"}


@pytest.mark.parametrize("text", SOUND)
def test_few_records_of_a_sound_run(text: str) -> None:
    """Nothing is held against it."""
    assert analyze(text.encode()).verdict.cause == "healthy.running"


def test_a_reward_that_sinks() -> None:
    """Few records of it are a hypothesis."""
    text = lines(
        "step {0} mean reward: {1}", (10, 2.1), (20, 1.9), (30, -4.0), (40, -31.0), (50, -98.5)
    )
    assert analyze(text.encode()).verdict.cause == "learning.collapse"
