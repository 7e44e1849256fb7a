"""Where runs start anew in one log, and where it only looks like it."""

import pytest

from postmortem import Stream, analyze
from postmortem.core.errors import UsageError

HEADER = "loading data from /data/train\nmodel has 12 layers\noptimizer adam\n"
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 9, in <module>\n'
    "    main()\n"
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


def records(first: int, last: int) -> str:
    """Lines of a training loop."""
    return "".join(
        f"step {step} loss {2 - step / 100:.3f} lr 0.001\n" for step in range(first, last)
    )


SWEEP = "wandb: Agent Starting Run: {} with config:\n" + "".join(
    f"wandb: \toption_{letter}: 1\n" for letter in "abcdefghijklmnopqrstuvwx"
)
EPOCHS = (*range(5), *range(20))
RUN = HEADER + records(1, 30)
CONFIGURATION = "".join(f"option_{letter}: set\n" for letter in "klmnopqrstuv")
ONE_OF_MANY = "Running experiment\n" + CONFIGURATION + records(1, 30)
AGAIN = 13 + 29
JOB = "{day} 2025\n" + CONFIGURATION
NAMESPACE = "Namespace(checkpoint={}, size=3, rate=0.1)\nlearning rate: 0.1\n"
PROMPT = "(base) bash-4.4$ /opt/env/bin/torchrun --nproc_per_node=4 train.py\n"


CAUSED_BY = (
    "Caused by op 'PyFunc', defined at:\n"
    + "".join(f'  File "part{number}.py", line 3, in run\n    call()\n' for number in range(12))
    + "\n"
)
BESIDE = (RUN + CRASH + CAUSED_BY).count("\n")


def bare(*epochs: int) -> str:
    """Records without a line beside them."""
    return "".join(f"Epoch {epoch} loss: {2 / (epoch + 1):.4f}\n" for epoch in epochs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(RUN, [1], id="one run"),
        pytest.param(RUN + CRASH + RUN, [1, 37], id="again behind a crash"),
        pytest.param(RUN + RUN + RUN, [1, 33, 65], id="the counter falls"),
        pytest.param(RUN + HEADER + records(30, 60), [1], id="the data are printed again"),
        pytest.param(HEADER * 4 + records(1, 30), [1], id="four ranks print the same"),
        pytest.param(
            "nohup: ignoring input\n" + RUN + "nohup: ignoring input\n" + CRASH,
            [1, 34],
            id="a launcher speaks",
        ),
        pytest.param(SWEEP.format("w6wqgpnb") + SWEEP.format("ks5iqphe"), [1, 26], id="a sweep"),
        pytest.param(
            HEADER + CRASH + "usage: train.py [-h]\ntrain.py: error: argument --lr: invalid\n",
            [1, 8],
            id="wrong arguments behind a crash",
        ),
        pytest.param(
            "".join(f'{{"epoch": {epoch}, "loss": {2 - epoch / 9:.3f}}}\n' for epoch in EPOCHS),
            [1, 6],
            id="epochs of a file of records begin anew",
        ),
        pytest.param(
            "nohup: ignoring input\nTotal 3 experiments\n" + 3 * ONE_OF_MANY,
            [1, 3 + AGAIN, 3 + 2 * AGAIN],
            id="what runs them all speaks once",
        ),
        pytest.param(
            "nohup: ignoring input\n" + 3 * CONFIGURATION + records(1, 30),
            [1],
            id="it prints its options again and again",
        ),
        pytest.param(
            JOB.format(day="Sun Aug 17 00:40:32")
            + CRASH
            + JOB.format(day="Thu Aug 21 01:31:46")
            + CRASH,
            [1, 18],
            id="jobs of other days of the week",
        ),
        pytest.param(RUN + PROMPT + records(30, 60), [1, 33], id="typed behind a prompt"),
        pytest.param(
            RUN + PROMPT.replace("train.py", "predict.py") + "source: a\ngreedy: b\n",
            [1],
            id="another program is typed",
        ),
        pytest.param(
            3 * (RUN + CRASH + CAUSED_BY),
            [1, 1 + BESIDE, 1 + 2 * BESIDE],
            id="a second traceback behind each",
        ),
        pytest.param(bare(*range(1, 21), *range(1, 21)), [1, 21], id="bare records begin anew"),
        pytest.param(bare(*range(1, 31), 30, 31, 32), [1, 31], id="bare records, resumed"),
        pytest.param(bare(*range(1, 31), *range(90, 99)), [1, 31], id="bare records of another"),
        pytest.param(
            records(1, 21) + records(1, 31) + records(1, 26),
            [1, 21, 51],
            id="bare steps begin anew",
        ),
        pytest.param(3 * records(1, 31), [1], id="steps of each epoch"),
        pytest.param(
            NAMESPACE.format("None") + records(1, 30) + NAMESPACE.format("'a.pt'") + records(1, 9),
            [1, 32],
            id="an option has another value",
        ),
        pytest.param(bare(*(epoch for epoch in range(15) for _ in "ab")), [1], id="two a count"),
        pytest.param(
            "".join(
                bare(epoch) + f"Epoch {epoch}, rate: 0.001\n" * (epoch % 11 == 0)
                for epoch in range(1, 120)
            ),
            [1],
            id="some counts have a second line",
        ),
        pytest.param(bare(1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3), [1], id="counted within rounds"),
        pytest.param(
            "".join(f"[rank{rank}]: {line}\n" for rank in (0, 1) for line in CRASH.splitlines()),
            [1],
            id="two ranks fail",
        ),
    ],
)
def test_a_start_needs_its_opening_and_a_second_witness(text: str, expected: list[int]) -> None:
    """What a run prints first comes again, and something else says that it is another run."""
    attempts = analyze(Stream("train.log", text.encode())).analysis.attempts
    assert [attempt.first_line for attempt in attempts] == expected


def test_the_last_attempt_is_judged_unless_another_is_asked_for() -> None:
    """Its curves and its end alone count; each says to which attempt it belongs."""
    log = (RUN + CRASH + RUN + RUN).encode()
    last, first = analyze(Stream("a.log", log)), analyze(Stream("a.log", log), attempt=1)
    assert first.analysis.outcome == "failed"
    assert last.analysis.outcome != "failed"
    assert [attempt.outcome for attempt in last.analysis.attempts][:1] == ["failed"]
    assert {series.attempt for series in last.analysis.series} == {3}
    assert {series.attempt for series in last.analysis.other_series} == {1, 2}
    assert {series.points for series in last.analysis.series} == {29}
    with pytest.raises(UsageError, match="no attempt 7: the log holds 3 attempts"):
        analyze(Stream("a.log", log), attempt=7)
