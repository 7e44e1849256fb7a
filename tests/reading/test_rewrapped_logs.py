"""Logs that were packed once more are read as they were printed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.reading import rewrapped_logs

LINES = [
    "loading",
    "Traceback (most recent call last):",
    '  File "t.py", line 3, in <module>',
    "KeyError: 'a'",
]
WORDS = "the quick brown fox jumps over the lazy dog and runs away from here to there again"


def wrapped(lines: list[str], width: int) -> list[str]:
    """What a terminal of this width leaves of the lines."""
    return [line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width)]


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(json.dumps([f"{line}\n" for line in LINES]), id="JSON on one line"),
        pytest.param(json.dumps(LINES, indent=2), id="JSON, an item a line"),
        pytest.param(repr([f"{line}\n" for line in LINES]), id="as Python shows it"),
        pytest.param("[" + "\n ".join(repr(f"{line}\n") for line in LINES), id="without commas"),
        pytest.param(
            "\n".join(json.dumps({"log": f"{line}\n", "stream": "stderr"}) for line in LINES),
            id="records of Docker",
        ),
    ],
)
def test_packed_lines(packed: str) -> None:
    """Each packing gives the lines as they were printed."""
    found = rewrapped_logs.extract_printed_lines(packed.encode())
    assert found is not None
    assert found.decode().split("\n") == LINES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("['a', 'b', 'c']\nstep 1 loss 2\n", id="a list that a program prints"),
        pytest.param('{"log": "x"}\nno record\n', id="records among other lines"),
        pytest.param("\n".join(f"step {n:05d} loss {'0' * 60}" for n in range(40)), id="one form"),
        pytest.param("\n".join(["=" * 80, "head", "=" * 80, "tail"]), id="lines that part others"),
        pytest.param(
            "".join(f"Layer 82 Avg: 0.{n}{'0' * 60}\n{n}: 1.5 avg, 2.5 s\n" for n in range(2, 8)),
            id="two messages by turns, the longer one always as long",
        ),
        pytest.param(
            "".join(
                f"Layer 82 Avg: 0.{'1' * 60}\n{n}: {10.5**n:.6f}, {n}.5 avg, 2.5 s\n"
                for n in range(2, 30, 4)
            ),
            id="two messages by turns, the shorter one with figures that grow",
        ),
        pytest.param(
            "".join(
                f"{n * 16:3d}/48 [{'=' * 40}] - loss: 0.6{n}31 - lr: 0.0100\n"
                f"Epoch {n + 1}/30{' ' * (n % 3)}\n"
                for n in range(3, 9)
            ),
            id="records as long as each other, each before a heading",
        ),
        pytest.param("[" + '"a" ' * 4000 + "x", id="no list in the end"),
    ],
)
def test_not_packed(text: str) -> None:
    """What only looks like a packing is left as it is."""
    assert rewrapped_logs.extract_printed_lines(text.encode()) is None


@settings(max_examples=50, deadline=None)
@given(st.integers(64, 140), st.lists(st.sampled_from(WORDS.split()), min_size=60, max_size=200))
def test_a_wrapped_log_keeps_its_numbers(width: int, words: list[str]) -> None:
    """Joined lines leave as many empty ones, and nothing is lost."""
    text = "-".join(words)  # cut within words only
    lines = wrapped(["start of it", text, "Done: all of it", text[::-1], "end"], width)
    found = rewrapped_logs.extract_printed_lines("\n".join(lines).encode())
    if found is None:  # two pieces that happen to begin alike are left as they are
        return
    joined = found.decode().split("\n")
    assert len(joined) == len(lines)
    assert "".join(joined) == "".join(lines)


def test_a_cut_exception_is_whole_again() -> None:
    """A message that a terminal cut is read in one."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/home/u/envs/flash/lib/python3.10/site-packages/some_package/layers/attention/core.py", line 3',
        "ImportError: /home/u/envs/flash/lib/python3.10/site-packages/some_package.so: undefined symbol: _ZN2at",
    ]
    found = rewrapped_logs.extract_printed_lines("\n".join(wrapped(lines, 80)).encode())
    assert found is not None
    assert [line for line in found.decode().split("\n") if line] == lines


def test_messages_of_one_length_are_no_width() -> None:
    """What stands behind them stands by itself elsewhere, too."""
    lines = []
    for number in range(10, 50):
        lines.append(f"epoch 0 it {number} loss 1.0{number}")
        if number % 7 == 3:
            lines.append(
                f"[data] cannot decode shard-00{number}.tar/0{number}.jpg: broken stream -"
            )
    assert rewrapped_logs.extract_printed_lines(("\n".join(lines) + "\n").encode()) is None


def test_two_messages_in_turn_are_no_width() -> None:
    """Whatever figures the second begins with: longer ones, or none at all."""
    lines = []
    for number in range(1, 14):
        figure = "-nan" if number > 8 else f"0.{30 + number}"
        lines.append(
            f"Part 7 mean: {figure}, {'over all of its cells in this very batch, ':.<52}it 4"
        )
        lines.append(f"{number}: {figure}, {figure} mean, 0.001 rate")
    assert rewrapped_logs.extract_printed_lines(("\n".join(lines) + "\n").encode()) is None


def test_the_message_below_a_box_of_rich_is_whole_again() -> None:
    """It is broken between words; what has room enough on the line above is another line."""
    box = f"╭{'─' * 60}╮\n│{' ' * 60}│\n╰{'─' * 60}╯\n"
    words = "AssertionError: parameters of the batch are wrong, that is not\nequal to what it says: 64 != 4 *\n8"
    found = rewrapped_logs.extract_printed_lines(f"{box}{words}\nnext\n".encode())
    assert found is not None
    lines = found.decode().split("\n")
    assert (
        lines[3]
        == "AssertionError: parameters of the batch are wrong, that is not equal to what it says: 64 != 4 *"
    )
    assert lines[4:] == ["", "8", "next", ""]
