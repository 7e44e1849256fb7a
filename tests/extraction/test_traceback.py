"""Tracebacks: joined over their lines in every form in which training logs carry them."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core.findings import ProcessId, Traceback
from postmortem.extraction import frames, traceback
from postmortem.reading.windows import View

HEAD = "Traceback (most recent call last):\n"
FRAME = '  File "train.py", line 10, in main\n    run(model)\n'
MORE = '  File "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1511, in _wrapped_call_impl\n    return self._call_impl(*args, **kwargs)\n'
OWN, LIBRARY = (
    ("train.py", 10, "main"),
    (
        "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py",
        1511,
        "_wrapped_call_impl",
    ),
)


def read_all(text: str, *, srun: bool = False) -> list[Traceback | None]:
    """What is read at every anchor of a log."""
    data, found, position = text.encode(), [], -1
    while (position := data.find(traceback.ANCHOR, position + 1)) >= 0:
        found.append(
            traceback.read(
                View(data, position, data.count(b"\n", 0, position) + 1, srun=srun), 0, 1000
            )
        )
    return found


def labelled(text: str, label: str) -> str:
    """The same with a label before every line."""
    return "".join(f"{label}{line}\n" for line in text.splitlines())


class Expected(NamedTuple):
    """What a traceback must give."""

    exception: str
    message: str
    frames: tuple[tuple[str, int, str], ...]
    line: int
    exception_line: int


def shown(one: Traceback | None) -> Expected | None:
    """The parts of a traceback that the table names."""
    return (
        None
        if one is None
        else Expected(
            one.exception,
            one.message,
            tuple((frame.file, frame.line, frame.function) for frame in one.frames),
            one.line,
            one.exception_line,
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            HEAD + FRAME + MORE + "RuntimeError: boom\n",
            Expected("RuntimeError", "boom", (OWN, LIBRARY), 1, 6),
            id="plain",
        ),
        pytest.param(
            "x\ny\n" + HEAD + FRAME + "RuntimeError: boom",
            Expected("RuntimeError", "boom", (OWN,), 3, 6),
            id="no line break at the end",
        ),
        pytest.param(
            (HEAD + FRAME + "ValueError: x\n").replace("\n", "\r\n"),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="Windows line ends",
        ),
        pytest.param(
            (HEAD + FRAME + "ValueError: x\n").replace("\n", "\r"),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="carriage returns alone",
        ),
        pytest.param(
            HEAD
            + '  File "train.py", line 10, in main\n    run(model)\n    ^^^^^^^^^^\n'
            + "TypeError: x\n",
            Expected("TypeError", "x", (OWN,), 1, 5),
            id="carets",
        ),
        pytest.param(
            HEAD
            + '  File "train.py", line 10, in main\n    run(model) + 1\n    ~~~~~~~~~~~^~~\n'
            + "TypeError: x\n",
            Expected("TypeError", "x", (OWN,), 1, 5),
            id="tildes",
        ),
        pytest.param(
            HEAD + '  File "train.py", line 10, in main\n' + "ValueError: x\n",
            Expected("ValueError", "x", (OWN,), 1, 3),
            id="no source line",
        ),
        pytest.param(
            HEAD
            + '  File "<frozen runpy>", line 198, in _run_module_as_main\n  File "train.py", line 10, in main\n'
            + "ValueError: x\n",
            Expected(
                "ValueError", "x", (("<frozen runpy>", 198, "_run_module_as_main"), OWN), 1, 4
            ),
            id="frozen modules",
        ),
        pytest.param(
            HEAD
            + FRAME
            + '  File "/home/u/foo.py", line 7\n    def f(:\n          ^\nSyntaxError: invalid syntax\n',
            Expected("SyntaxError", "invalid syntax", (OWN, ("/home/u/foo.py", 7, "")), 1, 7),
            id="SyntaxError names a file without a function",
        ),
        pytest.param(
            HEAD + FRAME + "KeyboardInterrupt\n",
            Expected("KeyboardInterrupt", "", (OWN,), 1, 4),
            id="bare exception",
        ),
        pytest.param(
            HEAD + FRAME + "StopIteration\n",
            Expected("StopIteration", "", (OWN,), 1, 4),
            id="bare StopIteration",
        ),
        pytest.param(
            HEAD + FRAME + "_queue.Empty\n",
            Expected("_queue.Empty", "", (OWN,), 1, 4),
            id="bare dotted class of any name",
        ),
        pytest.param(
            HEAD + FRAME + "AssertionError\n\nnext\n",
            Expected("AssertionError", "", (OWN,), 1, 4),
            id="a blank line behind it",
        ),
        pytest.param(
            HEAD + FRAME + "SystemExit: 3\n",
            Expected("SystemExit", "3", (OWN,), 1, 4),
            id="SystemExit",
        ),
        pytest.param(
            HEAD + FRAME + "KeyError: 'labels'\n",
            Expected("KeyError", "'labels'", (OWN,), 1, 4),
            id="quoted message",
        ),
        pytest.param(
            HEAD
            + FRAME
            + "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled\n",
            Expected(
                "torch.distributed.DistBackendError",
                "NCCL error in: x.cpp:1, unhandled",
                (OWN,),
                1,
                4,
            ),
            id="dotted class",
        ),
        pytest.param(
            HEAD + FRAME + "huggingface_hub.errors.HFValidationError: Repo id must be\n",
            Expected("huggingface_hub.errors.HFValidationError", "Repo id must be", (OWN,), 1, 4),
            id="dotted class, long",
        ),
        pytest.param(
            HEAD
            + FRAME
            + FRAME
            + "  [Previous line repeated 993 more times]\nRecursionError: maximum recursion depth exceeded\n",
            Expected("RecursionError", "maximum recursion depth exceeded", (OWN, OWN), 1, 7),
            id="previous line repeated",
        ),
        pytest.param(
            HEAD
            + '  File "C:\\Users\\u\\train.py", line 10, in main\n    run()\nOSError: [WinError 1455] The paging file is too small\n',
            Expected(
                "OSError",
                "[WinError 1455] The paging file is too small",
                (("C:\\Users\\u\\train.py", 10, "main"),),
                1,
                4,
            ),
            id="Windows path",
        ),
        pytest.param(
            HEAD
            + FRAME
            + "RuntimeError: Error(s) in loading state_dict for M:\n\tsize mismatch for a: x\n\tsize mismatch for b: y\n\nnext\n",
            Expected(
                "RuntimeError",
                "Error(s) in loading state_dict for M:\n\tsize mismatch for a: x\n\tsize mismatch for b: y",
                (OWN,),
                1,
                4,
            ),
            id="message over several lines",
        ),
        pytest.param(
            HEAD
            + FRAME
            + "RuntimeError: CUDA error: x\nCUDA kernel errors might be asynchronously reported at some other API call.\nCompile with `TORCH_USE_CUDA_DSA`.\n\n",
            Expected(
                "RuntimeError",
                "CUDA error: x\nCUDA kernel errors might be asynchronously reported at some other API call.\nCompile with `TORCH_USE_CUDA_DSA`.",
                (OWN,),
                1,
                4,
            ),
            id="CUDA error",
        ),
        pytest.param(
            HEAD + FRAME + "ValueError: x\n  3%|▎         | 15/500 [00:20<10:40,  1.32s/it]\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="a progress bar is no message",
        ),
        pytest.param(
            HEAD
            + FRAME
            + "ValueError: x\n[2024-05-01 12:00:00,123] [ERROR] [launch.py:1:f] ends with return code = 1\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="a logger's line is no message",
        ),
        pytest.param(
            HEAD + FRAME + '  File "b.py", line 2, in g\n    y = 1\n',
            Expected("", "", (OWN, ("b.py", 2, "g")), 1, 4),
            id="cut before the exception",
        ),
        pytest.param(
            HEAD + '  File "train.py", line 10, in main\n',
            Expected("", "", (OWN,), 1, 2),
            id="cut behind a frame",
        ),
        pytest.param(
            "  3%|▎  | 15/500 [00:20<10:40,  1.32s/it]" + HEAD + FRAME + "ValueError: x\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="glued to a progress bar",
        ),
        pytest.param(
            "\r  3%|▎  | 15/500 [00:20<10:40,  1.32s/it]\r" + HEAD + FRAME + "ValueError: x\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="a frame of a progress bar's line",
        ),
        pytest.param(
            HEAD + "KeyError: 'a'\n", Expected("KeyError", "'a'", (), 1, 2), id="no frames"
        ),
        pytest.param(
            "  traceback : Traceback (most recent call last):\n"
            '    File "train.py", line 10, in main\n      run(model)\n  ValueError: x\n  \n'
            + "-" * 60
            + "\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="the summary of torch elastic",
        ),
        pytest.param(
            "2024-05-01 12:00:00,123 - mmengine - ERROR - /x/y.py - f - 12 - "
            + HEAD
            + FRAME
            + "ValueError: x\n",
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="logged at once",
        ),
        pytest.param(
            labelled(
                HEAD + FRAME + "ValueError: x\nmore of it\n",
                "2024-05-01 12:00:00,123 - root - WARNING - ",
            ),
            Expected("ValueError", "x\nmore of it", (OWN,), 1, 4),
            id="logged line by line",
        ),
        pytest.param(
            labelled(HEAD + FRAME + "ValueError: x\n", "2025-03-01T12:00:00.123456Z "),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="kubectl",
        ),
        pytest.param(
            labelled(HEAD + FRAME + MORE + "ValueError: x\n", "2025-03-01 12:00:00 - "),
            Expected("ValueError", "x", (OWN, LIBRARY), 1, 6),
            id="a stamp that swallows the indentation",
        ),
        pytest.param(
            labelled(HEAD + FRAME + "ValueError: x\n", "worker-1: "),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="pdsh",
        ),
        pytest.param(
            labelled(HEAD + FRAME + "ValueError: x\n", "[default1]:"),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="torchrun --tee",
        ),
        pytest.param(
            labelled(HEAD + FRAME + "ValueError: x\n", "(TaskRunner pid=5) "),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="Ray",
        ),
        pytest.param(
            labelled(HEAD + FRAME + "ValueError: x\n", "\x1b[31m").replace("\n", "\x1b[0m\n"),
            Expected("ValueError", "x", (OWN,), 1, 4),
            id="in colour",
        ),
    ],
)
def test_a_traceback_is_joined(text: str, expected: Expected) -> None:
    """Exception, message, frames and lines are those that were printed."""
    assert shown(read_all(text)[0]) == expected


RICH = """\
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/u/train.py:10 in main                                                  │
│                                                                              │
│    8 │   x = 1                                                               │
│ ❱ 10 │   raise ValueError("x")                                               │
│                                                                              │
│ ╭───────── locals ─────────╮                                                 │
│ │ x = 1                    │                                                 │
│ ╰──────────────────────────╯                                                 │
│ /opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py:1511 in     │
│ _wrapped_call_impl                                                           │
╰──────────────────────────────────────────────────────────────────────────────╯
ValueError: x
"""


@pytest.mark.parametrize(
    ("text", "exception"),
    [
        pytest.param(RICH, "ValueError", id="whole"),
        pytest.param("\n".join(RICH.split("\n")[:9]), "ValueError", id="cut"),
        pytest.param(labelled(RICH, "[rank0]: "), "ValueError", id="with a label"),
    ],
)
def test_a_box_is_looked_through(text: str, exception: str) -> None:
    """Rich draws a box around frames, and boxes of variables inside it.

    The exception stands behind the outer one.
    """
    found = read_all(text)[0]
    assert found is not None
    assert found.exception == exception
    assert [(frame.file.rsplit("/", 1)[1], frame.line) for frame in found.frames] == [
        ("train.py", 10),
        ("module.py", 1511),
    ][: 2 if "ValueError: x" in text else 1]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD, id="at the very end of the log"),
        pytest.param(HEAD + "\nnext\n", id="nothing follows"),
        pytest.param(
            "see the Traceback (most recent call last) above\nEpoch 3 begins\n", id="prose"
        ),
        pytest.param(
            'if "Traceback (most recent call last)" in text:\n    return True\n', id="code"
        ),
        pytest.param(HEAD + HEAD + FRAME + "ValueError: x\n", id="the next one begins at once"),
    ],
)
def test_the_words_alone_are_no_traceback(text: str) -> None:
    """Without a frame or an exception behind it, the anchor says nothing."""
    assert read_all(text)[0] is None


@pytest.mark.parametrize(
    ("text", "exception", "frames"),
    [
        pytest.param(
            FRAME + MORE + "RuntimeError: boom\n", "RuntimeError", 2, id="the head was not pasted"
        ),
        pytest.param(
            labelled(FRAME + MORE + "RuntimeError: boom\n", "[rank0]: "),
            "RuntimeError",
            2,
            id="labelled",
        ),
        pytest.param(FRAME + "KeyboardInterrupt\n", "KeyboardInterrupt", 1, id="bare exception"),
        pytest.param(FRAME + "and so on\n", None, 0, id="no exception follows"),
        pytest.param(FRAME, None, 0, id="nothing follows"),
        pytest.param(
            '  File "a.py", line 3\n    def f(:\nSyntaxError: invalid syntax\n',
            "SyntaxError",
            1,
            id="no function: a syntax error of its own",
        ),
        pytest.param('see File "a.py" for more\n', None, 0, id="prose"),
    ],
)
def test_a_paste_without_its_head(text: str, exception: str | None, frames: int) -> None:
    """Frames with an exception behind them are a traceback, although its first line was cut off."""
    data = text.encode()
    found, until = traceback.read_headless(
        View(data, data.index(traceback.FRAME_ANCHOR), 1, srun=False), 0, 1000
    )
    assert (found.exception if found else None, len(found.frames) if found else 0) == (
        exception,
        frames,
    )
    assert 1000 < until <= 1000 + len(data)


@pytest.mark.parametrize(
    "phrase",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
@pytest.mark.parametrize("label", ["", "[rank3]: "])
def test_a_chain_gives_both_and_says_which_follows(phrase: str, label: str) -> None:
    """The first of a chain stands on its own, the second is marked."""
    text = labelled(
        HEAD + FRAME + "KeyError: 'a'\n\n" + phrase + "\n\n" + HEAD + FRAME + "ValueError: b\n",
        label,
    )
    first, second = read_all(text)
    assert first is not None
    assert second is not None
    assert (first.exception, first.chained, first.end_line) == ("KeyError", False, 4)
    assert (second.exception, second.chained, second.line) == ("ValueError", True, 8)


def test_a_quoted_traceback_is_wrapped() -> None:
    """A worker's traceback inside the message of another is a traceback of its own, marked."""
    text = (
        HEAD
        + FRAME
        + "KeyError: Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
        '  File "/opt/env/lib/python3.10/site-packages/torch/utils/data/_utils/worker.py", line 308, in _worker_loop\n    data = fetcher.fetch(index)\n'
        "  File \"data.py\", line 9, in __getitem__\n    return d[i]\nKeyError: 'x'\n\n"
    )
    outer, inner = read_all(text)
    assert outer is not None
    assert inner is not None
    assert (outer.message, outer.wrapped, outer.end_line) == (
        "Caught KeyError in DataLoader worker process 0.",
        False,
        4,
    )
    assert (inner.exception, inner.message, inner.wrapped, inner.frames[-1].file) == (
        "KeyError",
        "'x'",
        True,
        "data.py",
    )


def test_interleaved_ranks_are_told_apart() -> None:
    """Two ranks that print at once give two whole tracebacks."""
    three, zero = (
        labelled(HEAD + FRAME + "ValueError: three\n", "[rank3]: ").splitlines(),
        labelled(HEAD + MORE + "KeyError: 'zero'\n", "[rank0]: ").splitlines(),
    )
    text = "".join(f"{one}\n{other}\n" for one, other in zip(three, zero, strict=True))
    first, second = read_all(text)
    assert first is not None
    assert second is not None
    assert (first.where, first.exception, first.message, first.frames[0].file) == (
        ProcessId(rank=3),
        "ValueError",
        "three",
        "train.py",
    )
    assert (second.where, second.exception, second.message, second.frames[0].line) == (
        ProcessId(rank=0),
        "KeyError",
        "'zero'",
        1511,
    )


def test_srun_labels_tell_tasks_apart() -> None:
    """The same with the task numbers of `srun --label`."""
    lines = (HEAD + FRAME + "ValueError: x").splitlines()
    first, second = read_all(
        "".join(f"{task}: {line}\n" for line in lines for task in (0, 1)), srun=True
    )
    assert first is not None
    assert second is not None
    assert [(one.where.rank, one.exception, len(one.frames)) for one in (first, second)] == [
        (0, "ValueError", 1),
        (1, "ValueError", 1),
    ]


def test_time_and_level_of_its_first_line_are_kept() -> None:
    """A traceback that was logged as a warning was caught."""
    found = read_all(
        labelled(
            HEAD + FRAME + "ValueError: x\n", "[2024-05-01 12:00:00,123] [WARNING] [x.py:1:f] "
        )
    )[0]
    assert found is not None
    assert (found.level, found.time) == ("WARNING", "2024-05-01T12:00:00.123")


def test_offsets_are_those_of_the_stream() -> None:
    """The block's place in the stream is added; the end is that of the exception's line."""
    text = "x\n" + HEAD + FRAME + "ValueError: x\nnext\n"
    found = read_all(text)[0]
    assert found is not None
    assert (found.offset, found.end_offset) == (
        1000 + text.index(HEAD),
        1000 + text.index("\nnext"),
    )


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param(
            "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py",
            True,
            id="site-packages",
        ),
        pytest.param("/usr/lib/python3/dist-packages/yaml/loader.py", True, id="dist-packages"),
        pytest.param("/usr/lib/python3.10/multiprocessing/spawn.py", True, id="standard library"),
        pytest.param("C:\\Python310\\Lib\\threading.py", True, id="standard library on Windows"),
        pytest.param(
            "C:\\Python310\\lib\\site-packages\\torch\\x.py", True, id="site-packages on Windows"
        ),
        pytest.param("<frozen importlib._bootstrap>", True, id="frozen"),
        pytest.param(
            "/work/DeepSpeed/deepspeed/runtime/engine.py", True, id="a checkout of a framework"
        ),
        pytest.param(
            "/home/u/LLaMA-Factory/src/llamafactory/train/tuner.py",
            True,
            id="a framework that is run from its checkout",
        ),
        pytest.param("/tmp/ray/session/runtime/env.zip/job.py", True, id="a zip"),
        pytest.param("train.py", False, id="a script"),
        pytest.param("/home/u/project/model.py", False, id="own code"),
        pytest.param("C:\\Users\\u\\train.py", False, id="own code on Windows"),
        pytest.param("/home/u/my_torch_model/net.py", False, id="a name with a framework in it"),
        pytest.param("<string>", True, id="python -c"),
        pytest.param("/tmp/ipykernel_12/123.py", False, id="notebook"),
    ],
)
def test_own_code_is_told_from_libraries(file: str, expected: bool) -> None:  # noqa: FBT001 -- a table
    """Installed packages, the standard library and frameworks are library.

    The rest is the user's.
    """
    assert frames.is_library(file) is expected


def test_who_raised_it() -> None:
    """The innermost frame tells where it was raised, the innermost own frame where to look."""
    found = read_all(HEAD + FRAME + MORE + "RuntimeError: boom\n")[0]
    inner = MORE.replace("_wrapped_call_impl", "to")
    deeper = read_all(HEAD + FRAME + MORE + inner + "RuntimeError: boom\n")[0]
    assert found is not None
    assert found.raised_by_user()  # a frame that only passes a call on has raised nothing
    assert deeper is not None
    assert deeper.raised_in_library()
    own = found.own_frame()
    assert own is not None
    assert (own.file, own.code) == ("train.py", "run(model)")


def test_a_traceback_is_bounded() -> None:
    """Ten thousand frames and a message without end give a bounded value."""
    found = read_all(HEAD + FRAME * 10_000 + "ValueError: " + "x" * 100_000 + "\n")[0]
    assert found is not None
    assert len(found.frames) <= 700
    found = read_all(HEAD + FRAME + "ValueError: " + "x" * 100_000 + "\n" + " more\n" * 100)[0]
    assert found is not None
    assert found.exception == "ValueError"
    assert len(found.message) <= 2000
    assert found.end_line <= 35


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *HEAD.splitlines(),
                    *FRAME.splitlines(),
                    "ValueError: x",
                    "│ /a.py:1 in f │",
                    "╰──╯",
                    "╭── Traceback (most recent call last) ──╮",
                    "[rank1]: Traceback (most recent call last):",
                    "\r",
                    "",
                    '[rank1]:   File "b.py", line 2, in g',
                ]
            ),
            st.text(max_size=40),
        ),
        max_size=25,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_reading_never_fails(lines: list[str], end: str) -> None:
    """Whatever follows the anchor, the result is a traceback or None.

    Its lines are in order.
    """
    for found in read_all(end.join(lines)):
        if found is not None:
            assert found.line <= found.exception_line <= found.end_line
            assert found.frames or found.exception


@pytest.mark.parametrize(
    ("heading", "continues"),
    [
        ("Exception encountered when calling Sequential.call().", True),
        ("Graph execution error:", True),
        ("the run failed:", False),
    ],
)
def test_a_message_begins_behind_a_heading_of_keras_or_tensorflow(
    heading: str, *, continues: bool
) -> None:
    """A blank line stands between the two; behind any other message it ends it."""
    raised = f"ValueError: {heading}\n\nInput 0 is incompatible\n\nArguments received\n"
    (found,) = read_all(HEAD + FRAME + raised)
    assert found is not None
    assert found.message == (f"{heading}\nInput 0 is incompatible" if continues else heading)
