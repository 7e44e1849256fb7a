"""Processes that ended in their own start-up, and imports that failed otherwise."""

import pytest

from postmortem import Stream, analyze

IMPORT = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 7, in <module>\n'
    "    import torch\n"
    "ImportError: No module named torch\n"
)
LATE = IMPORT.replace("7", "90").replace("torch", "plots")
USAGE = "usage: {0} [-h] [--lr LR]\n{0}: error: argument --lr: expected one argument\n"
NOT_THERE = "python: can't open file 'tools/train.py': [Errno 2] No such file or directory\n"
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 9, in <module>\n'
    "    main()\n"
    '  File "train.py", line 5, in main\n'
    "    x = 1 / 0\n"
    "ZeroDivisionError: division by zero\n"
)
UNREAD = '  File "train.py", line 44\n    if args.continue:\n            ^\nSyntaxError: invalid syntax\n'
SUMMARY = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED\n"


def records(count: int) -> str:
    """Lines of a training loop."""
    return "".join(f"step {step} loss {2 - step / 100:.3f}\n" for step in range(1, count + 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(IMPORT + records(20), [1, 5], id="an import first"),
        pytest.param(IMPORT + records(20) + IMPORT * 2, [1, 5, 25, 29], id="and again behind"),
        pytest.param(NOT_THERE + records(20), [1, 2], id="a script that is not there"),
        pytest.param(records(20) + CRASH + USAGE.format("train.py"), [1, 27], id="a wrong call"),
        pytest.param(records(20) + CRASH + USAGE.format("test.py"), [1], id="of the next stage"),
        pytest.param(records(20) + LATE, [1], id="an import behind the training"),
        pytest.param(IMPORT * 2 + SUMMARY, [1], id="several processes of a launcher"),
        pytest.param(IMPORT, [1], id="nothing else"),
        pytest.param(
            records(20) + UNREAD + records(20), [1, 21, 25], id="a script that cannot be parsed"
        ),
    ],
)
def test_a_process_that_fails_in_its_startup_is_an_attempt(text: str, expected: list[int]) -> None:
    """It printed only what ended it; a launcher's ranks and a shell's stages are no attempts."""
    attempts = analyze(Stream("run.log", text.encode())).to_dict().get("attempts", [])
    assert [attempt["first_line"] for attempt in attempts] == expected


def describe_crash(line: int) -> str:
    """An exception that comes up to the outermost frame, raised on a line."""
    return CRASH.replace("line 5", f"line {line}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(records(20) + CRASH + records(20), [1, 27], id="the count falls"),
        pytest.param(
            CRASH + records(500), [1, 7], id="more records than a buffer holds, and none before"
        ),
        pytest.param(records(20) + CRASH + records(40)[len(records(20)) :], [1], id="a buffer"),
        pytest.param("".join(map(describe_crash, (5, 6, 7, 8))), [1, 7, 13, 19], id="errors alone"),
        pytest.param("".join(map(describe_crash, (5, 6, 5, 6))), [1], id="errors of two ranks"),
        pytest.param(
            "".join(f"[rank{at}]: {line}\n" for at in (0, 1) for line in CRASH.splitlines())
            + records(500),
            [1],
            id="ranks",
        ),
    ],
)
def test_an_exception_of_the_script_ends_its_process(text: str, expected: list[int]) -> None:
    """What another one prints behind it is another attempt; what was buffered is not."""
    attempts = analyze(Stream("run.log", text.encode())).to_dict().get("attempts", [])
    assert [attempt["first_line"] for attempt in attempts] == expected
