"""What an exception says is asked of all words of the field, where no rule knows its line."""

import pytest

import postmortem

HEAD = (
    'Traceback (most recent call last):\n  File "/src/train.py", line 8, in <module>\n    main()\n'
)
FRAME = '  File "/env/lib/python3.11/site-packages/flow/net.py", line 12, in step\n    raise_it()\n'


def causes(text: str) -> list[str]:
    """The causes of a text, best first."""
    return [cause.id for cause in postmortem.analyze([text.encode()]).analysis.causes]


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        pytest.param(
            "RuntimeError: Validation loss contains a NaN.",
            "numerics.nonfinite-unknown",
            id="no literal of the words stands in it",
        ),
        pytest.param(
            "ValueError: queries should be [4, 8, 64] like keys, whose tensor is [4, 6, 64]",
            "code.shape-mismatch",
            id="two shapes",
        ),
        pytest.param("ValueError: the frobnicator is sad", "code.user-exception", id="no words"),
    ],
)
@pytest.mark.parametrize("before", [HEAD + FRAME, "step 1 loss 2.5\nstep 2 loss 2.4\n"])
def test_words_of_an_exception(before: str, said: str, cause: str) -> None:
    """Below its traceback, and as the last line of a log."""
    assert causes(f"{before}{said}\n")[0] == cause


def test_a_known_line_is_not_asked_again() -> None:
    """What a rule knows of an exception stands."""
    known = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB, must be [4, 8]"
    assert causes(f"{HEAD}{FRAME}{known}\n")[0].startswith("memory.")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        pytest.param(
            "F0930 16:44:30.997221 17607 net.cpp:66] the frobnicator is sad",
            "unknown.no-cause-shown",
            id="glog",
        ),
        pytest.param("FrobError: it is sad", "code.user-exception", id="an exception alone"),
        pytest.param(
            "ERROR (nnet3-train[5.5.1~1-2b62]:Run():nnet-run.cc:85) Dim mismatch for input 'ivector': 100 expected, 40 in the tensor.",
            "code.shape-mismatch",
            id="Kaldi",
        ),
    ],
)
def test_one_line_alone(line: str, cause: str) -> None:
    """A line that somebody took from a log without anything around it."""
    assert causes(line)[0] == cause


@pytest.mark.parametrize("mark", ["# ", "\t# "])
def test_output_in_comments(mark: str) -> None:
    """Of a script or a notebook, where somebody kept it."""
    lines = f"{HEAD}{FRAME}RuntimeError: No HIP GPUs are available".split("\n")
    assert causes("\n".join(mark + line for line in lines))[0] == "cuda.not-available"


def test_comments_of_a_script_are_no_output() -> None:
    """What they hold is the script's."""
    assert causes("# export CUDA_LAUNCH_BLOCKING=1\n# step 3\npython train.py\n")[0].startswith(
        ("unknown.", "healthy.")
    )


@pytest.mark.parametrize(
    ("before", "said", "cause"),
    [
        pytest.param(HEAD, "ImportError: charts need plotly.", "missing-package", id="a package"),
        pytest.param(
            HEAD + FRAME,
            "RuntimeError: flow>=2.1 is required for sharding",
            "version-incompatible",
            id="a version",
        ),
        pytest.param(
            HEAD + '  File "/src/train.py", line 9, in main\n    assert cfg.mode in MODES\n',
            "AssertionError",
            "config.arguments",
            id="a setting",
        ),
        pytest.param(
            HEAD
            + '  File "/src/train.py", line 9, in load_checkpoint\n    it = state["iteration"]\n',
            "KeyError: 'iteration'",
            "checkpoint.",
            id="a key of a checkpoint",
        ),
    ],
)
def test_what_an_exception_asks_for(before: str, said: str, cause: str) -> None:
    """By its class, its message and the statement that raised it."""
    assert cause in causes(f"{before}{said}\n")[0]


def test_a_traceback_is_no_environment() -> None:
    """Though its paths tell the version of Python, and no rule knows its exception."""
    sources = postmortem.analyze([f"{HEAD}{FRAME}FrobError: sad\n".encode()]).analysis.sources
    assert [source.kind for source in sources] == ["log"]
