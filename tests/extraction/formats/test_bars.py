"""Progress bars: the step behind a record where it is certain.

One record for each position of a bar that carries metrics.
"""

import math

import pytest

from postmortem.extraction.formats.bars import Draw, Redraws, RunBar, draw

RECORD = b"{'loss': 1.0, 'epoch': 0.1}"


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        pytest.param(
            b"\n  1%|          | 5/500 [00:09<15:12,  1.84s/it]", 5, id="the bar is drawn again"
        ),
        pytest.param(
            b"\r\n  1%|\xe2\x96\x8f| 5/500 [00:09<15:12]\r  1%|\xe2\x96\x8f| 6/500 [00:10<15:12]",
            5,
            id="the first draw counts",
        ),
        pytest.param(
            b"\n                      \r  1%|          | 5/500 [00:09<15:12,  1.84s/it]",
            5,
            id="the cleared line before it",
        ),
        pytest.param(b"\n", None, id="nothing follows"),
        pytest.param(b"", None, id="the end of the log"),
        pytest.param(b"\nEpoch 1 done\n", None, id="no bar"),
        pytest.param(
            b"\n{'loss': 2.0, 'epoch': 0.2}\n  1%|          | 10/500 [00:09<15:12]",
            None,
            id="the next record comes first",
        ),
        pytest.param(
            b"\n  0%|    | 0/12 [00:00<?, ?it/s]\r  1%|    | 5/500 [00:09<15:12]",
            None,
            id="two bars: an evaluation is running",
        ),
        pytest.param(b"\n" + b" " * 500 + b"  1%|    | 5/500 [00:09<15:12]", None, id="too far"),
        pytest.param(b"\nsee 5/500 [1]\n", None, id="a fraction in prose"),
    ],
)
def test_the_bar_behind_a_record_tells_its_step(behind: bytes, expected: int | None) -> None:
    """Only where one bar follows before anything else is its position certain."""
    step = RunBar().step(RECORD + behind, len(RECORD), math.nan, is_training=True)
    assert step == expected if expected is not None else math.isnan(step)


def test_the_first_bar_tells_the_step_where_it_is_the_runs() -> None:
    """Whatever bars stand behind it, unless a record stands before it."""
    bar = RunBar()
    assert bar.step(b"\n 20%|#| 15/75 [00:00<00:00]", 0, math.nan, is_training=True) == 15
    first = b"\n 33%|###| 25/75 [00:00<00:00]\r100%|###| 13/13 [00:00<00:00]"
    assert bar.step(first, 0, math.nan, is_training=True) == 25
    assert math.isnan(bar.step(b"\n{'loss': 1}" + first, 0, math.nan, is_training=True))
    other = b"\n 33%|###| 25/80 [00:00<00:00]"
    assert bar.step(other, 0, math.nan, is_training=True) == 25
    assert math.isnan(bar.step(first[:32], 0, math.nan, is_training=False))


def test_the_bar_of_an_evaluation_tells_nothing() -> None:
    """Behind the record of an evaluation stands its own bar; the run's is known by its length."""
    both, alone = (
        b"\n 33%|###| 25/75 [00:00<00:00]\r100%|###| 13/13 [00:00<00:00]",
        b"\n100%|###| 13/13 [00:00<00:00]",
    )
    bar = RunBar()
    assert math.isnan(bar.step(both, 0, math.nan, is_training=False))
    assert bar.step(b"\n 20%|#| 15/75 [00:00<00:00]", 0, math.nan, is_training=True) == 15
    assert bar.step(both, 0, math.nan, is_training=False) == 25
    assert math.isnan(bar.step(alone, 0, math.nan, is_training=False))
    assert RunBar().step(both, 0, 75.0, is_training=False) == 25


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Epoch 1:   4%|▎         | 40/1095 [00:03<01:37, 10.84it/s, loss=0.693]",
            Draw("Epoch 1", 40, 1095, "00:03<01:37, 10.84it/s, loss=0.693", ""),
            id="tqdm with metrics",
        ),
        pytest.param(
            "100%|██████████| 10/10 [00:01<00:00]done",
            Draw("", 10, 10, "00:01<00:00", "done"),
            id="text behind it",
        ),
        pytest.param(
            "12it [00:03,  4.00it/s, loss=0.5]",
            Draw("", 12, None, "00:03,  4.00it/s, loss=0.5", ""),
            id="no length",
        ),
        pytest.param(
            "  5%|▌         | 1/20 [00:01<00:19]  10%|█         | 2/20 [00:02<00:18, loss=1]",
            Draw("", 2, 20, "00:02<00:18, loss=1", ""),
            id="the last of several",
        ),
        pytest.param(
            "Epoch 0 ━━━━━━━━╺━━━━━ 40/1095 0:00:03 loss: 0.69",
            Draw("Epoch 0", 40, 1095, "0:00:03 loss: 0.69", ""),
            id="Rich",
        ),
        pytest.param(
            "  5%|▌     | 1/20 [00:01<00:19, loss=1",
            Draw("", 1, 20, "00:01<00:19, loss=1", ""),
            id="cut",
        ),
        pytest.param("loss: 0.5 | lr: 0.1 | 3/4", None, id="bars in a table"),
        pytest.param("Epoch 3", None, id="none"),
        pytest.param("", None, id="empty"),
    ],
)
def test_a_draw_is_read(text: str, expected: Draw | None) -> None:
    """Label, position, length and what stands inside."""
    assert draw(text) == expected


def test_of_one_position_the_last_draw_counts() -> None:
    """A bar is drawn several times at one position.

    The first time it has the metrics of the one before.
    """
    redraws: Redraws[str] = Redraws()
    assert [
        redraws.take("bar", position, drawn)
        for position, drawn in ((1, "a"), (1, "b"), (2, "c"), (2, "d"), (3, "e"))
    ] == [None, None, "b", None, "d"]
    assert redraws.rest() == ["e"]


def test_what_was_given_is_not_given_again() -> None:
    """After the rest was asked for, later draws at these positions are passed over."""
    redraws: Redraws[str] = Redraws()
    redraws.take("bar", 1, "a")
    assert redraws.rest() == ["a"]
    assert redraws.rest() == []
    assert redraws.take("bar", 1, "b") is None
    assert redraws.take("bar", 2, "c") is None
    assert redraws.rest() == ["c"]


def test_bars_of_several_streams_do_not_mix() -> None:
    """Two ranks or two bars are held apart, and their number is bounded."""
    redraws: Redraws[str] = Redraws()
    assert [redraws.take(stream, 1, stream) for stream in ("a", "b")] == [None, None]
    assert redraws.take("a", 2, "a2") == "a"
    for number in range(1000):
        redraws.take(number, 1, "x")
    assert len(redraws.rest()) <= 64
