"""What wraps a line is peeled off and remembered; what only looks like a wrapper stays."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.reading.prefixes import clean, convert_to_seconds, get_time_basis, has_srun_labels


@pytest.mark.parametrize(
    ("raw", "text", "where"),
    [
        pytest.param("[rank3]: text", "text", ProcessId(rank=3), id="torch excepthook"),
        pytest.param(
            "(Worker pid=46) WARNING 12-18 11:27:11 [tokenizer.py:284] text",
            "text",
            ProcessId(pid=46),
            id="vLLM below Ray",
        ),
        pytest.param(
            '[rank3]:   File "a.py", line 3, in f',
            '  File "a.py", line 3, in f',
            ProcessId(rank=3),
            id="torch excepthook, indented",
        ),
        pytest.param("[rank12]:", "", ProcessId(rank=12), id="torch excepthook, blank line"),
        pytest.param(
            "[rank3]:[E1111 17:01:37.061727749 ProcessGroupNCCL.cpp:683] text",
            "text",
            ProcessId(rank=3),
            id="c10 logger, torch >= 2.4",
        ),
        pytest.param(
            "[rank3]:[E ProcessGroupNCCL.cpp:577] text",
            "text",
            ProcessId(rank=3),
            id="c10 logger, torch 2.2-2.3",
        ),
        pytest.param(
            "[E ProcessGroupNCCL.cpp:828] text", "text", NOWHERE, id="c10 logger, torch <= 2.1"
        ),
        pytest.param(
            "[W socket.cpp:426] [c10d] text", "[c10d] text", NOWHERE, id="c10 logger, warning"
        ),
        pytest.param("[default0]:text", "text", ProcessId(local_rank=0), id="torchrun --tee"),
        pytest.param(
            "[trainer12]:  text",
            " text",
            ProcessId(local_rank=12),
            id="torchrun --tee, another role",
        ),
        pytest.param("worker-0: text", "text", ProcessId(node="worker-0"), id="pdsh"),
        pytest.param("worker-0:   File", "  File", ProcessId(node="worker-0"), id="pdsh, indented"),
        pytest.param("worker-0: ", "", ProcessId(node="worker-0"), id="pdsh, blank line"),
        pytest.param("host1: text", "text", ProcessId(node="host1"), id="pdsh, another name"),
        pytest.param("worker-1  | text", "text", ProcessId(node="worker-1"), id="docker compose"),
        pytest.param("[1,3]<stdout>:text", "text", ProcessId(rank=3), id="mpirun, stdout"),
        pytest.param("[1,0]<stderr>: text", "text", ProcessId(rank=0), id="mpirun, stderr"),
        pytest.param(
            "(RayTrainWorker pid=123, ip=10.0.0.1) text",
            "text",
            ProcessId(node="10.0.0.1", pid=123),
            id="Ray with an address",
        ),
        pytest.param("(pid=123) text", "text", ProcessId(pid=123), id="Ray, pid alone"),
        pytest.param(
            "\x1b[36m(TaskRunner pid=7)\x1b[0m text", "text", ProcessId(pid=7), id="Ray in colour"
        ),
        pytest.param(
            "2025-03-01T12:00:00.123456Z text", "text", NOWHERE, id="kubectl --timestamps"
        ),
        pytest.param(
            "2025-03-01T12:00:00.123456Z     x = 1",
            "    x = 1",
            NOWHERE,
            id="kubectl --timestamps, indented",
        ),
        pytest.param(
            "2025-03-01T12:00:00.123456Z stderr F     x = 1",
            "    x = 1",
            NOWHERE,
            id="CRI, indented",
        ),
        pytest.param(
            "2025-03-01T12:00:00.123456789Z stdout F text", "text", NOWHERE, id="CRI, full line"
        ),
        pytest.param(
            "2025-03-01T12:00:00.123456789+08:00 stderr P text",
            "text",
            NOWHERE,
            id="CRI, partial line",
        ),
        pytest.param(
            "Mar  1 12:00:00 gpu-node7 kernel: [12345.678901] NVRM: Xid",
            "NVRM: Xid",
            ProcessId(node="gpu-node7"),
            id="syslog with uptime",
        ),
        pytest.param(
            "Mar 11 12:00:00 n7 python[12]: text",
            "text",
            ProcessId(node="n7"),
            id="syslog of a program",
        ),
        pytest.param("[12345.678901] NVRM: Xid", "NVRM: Xid", NOWHERE, id="dmesg"),
        pytest.param("[    5.678901] NVRM: Xid", "NVRM: Xid", NOWHERE, id="dmesg, early"),
        pytest.param("[Sat Mar  1 12:00:00 2025] NVRM: Xid", "NVRM: Xid", NOWHERE, id="dmesg -T"),
        pytest.param(
            "W0301 12:00:00.123000 139912 torch/distributed/elastic/x.py:123] text",
            "text",
            NOWHERE,
            id="torch._logging",
        ),
        pytest.param(
            "E0301 12:00:00.123000 139912 site-packages/torch/distributed/run.py:793] ",
            "",
            NOWHERE,
            id="torch._logging, blank line",
        ),
        pytest.param(
            "[2024-03-01 12:00:00,123] torch.distributed.elastic.multiprocessing.api: [WARNING]"
            " text",
            "text",
            NOWHERE,
            id="torch 2.1",
        ),
        pytest.param(
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1)",
            "failed (exitcode: 1)",
            NOWHERE,
            id="basicConfig",
        ),
        pytest.param(
            "08/02 10:00:00 - mmengine - \x1b[4m\x1b[97mINFO\x1b[0m - text",
            "text",
            NOWHERE,
            id="mmengine console",
        ),
        pytest.param(
            "2024/08/02 10:00:00 - mmengine - ERROR - /a/b.py - func - 123 - text",
            "text",
            NOWHERE,
            id="mmengine file, with a place",
        ),
        pytest.param("2021-05-01 12:00:00,123 - mmdet - INFO - text", "text", NOWHERE, id="mmcv"),
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=1",
            "[Rank 0] step=1",
            NOWHERE,
            id="DeepSpeed",
        ),
        pytest.param(
            "[INFO|trainer.py:2134] 2024-05-01 12:00:00,123 >> text",
            "text",
            NOWHERE,
            id="transformers",
        ),
        pytest.param(
            "[INFO|/opt/t/trainer.py:2134] 2024-05-01 12:00:00,123 >> text",
            "text",
            NOWHERE,
            id="transformers, detail",
        ),
        pytest.param(
            "[INFO|2025-05-01 12:00:00] llamafactory.data.loader:143 >> text",
            "text",
            NOWHERE,
            id="LLaMA-Factory",
        ),
        pytest.param(
            "05/01/2024 12:00:00 - INFO - llamafactory.data - text",
            "text",
            NOWHERE,
            id="LLaMA-Factory <= 0.9.0",
        ),
        pytest.param(
            "[XTuner][RANK 5][2025-08-01 12:00:00][INFO] text",
            "text",
            ProcessId(rank=5),
            id="XTuner 1.x",
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123]     loss=0.5",
            "    loss=0.5",
            NOWHERE,
            id="a stamp in brackets, indented",
        ),
        pytest.param(
            "[2024-05-01 12:00:00]: text", "text", NOWHERE, id="a stamp in brackets and a colon"
        ),
        pytest.param(
            "[titan] 2025-03-01 12:00:00,123 - root - INFO - text", "text", NOWHERE, id="torchtitan"
        ),
        pytest.param(
            "2024-05-01 12:00:00 | INFO | train_inner | epoch 001:",
            "epoch 001:",
            NOWHERE,
            id="fairseq",
        ),
        pytest.param(
            "2024-05-01 12:00:00.123 | ERROR    | __main__:<module>:12 - text",
            "text",
            NOWHERE,
            id="loguru",
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123] [INFO] [axolotl.train.train:45] [PID:4242] [RANK:1] text",
            "text",
            ProcessId(rank=1, pid=4242),
            id="axolotl",
        ),
        pytest.param(
            " [2024-09-01 12:00:00] iteration       10/",
            "iteration       10/",
            NOWHERE,
            id="Megatron core",
        ),
        pytest.param("[10:00:00][I] step=2", "step=2", NOWHERE, id="a clock without a day"),
        pytest.param(
            "[10:00:00] rank 1 step 2 loss 0.7",
            "step 2 loss 0.7",
            ProcessId(rank=1),
            id="a clock without a day and a rank",
        ),
        pytest.param(
            "10:00:00 | INFO    | step 12/120",
            "step 12/120",
            NOWHERE,
            id="a clock without a day and a level",
        ),
        pytest.param(
            "10:00:00.157334 rank0   File",
            "  File",
            ProcessId(rank=0),
            id="a clock without a day, a rank and an indented line",
        ),
        pytest.param("INFO     text", "text", NOWHERE, id="a padded level alone"),
        pytest.param("10:00:00|INFO|text", "text", NOWHERE, id="bars without blanks"),
        pytest.param("10:00:00.114 [INFO ] a - text", "a - text", NOWHERE, id="a padded level"),
        pytest.param("[W 2024-05-01 12:00:00,123] text", "text", NOWHERE, id="Optuna"),
        pytest.param("10:00:00 ^CTraceback", "^CTraceback", NOWHERE, id="a clock before Ctrl-C"),
        pytest.param("10:00:00 \tfg=(2/9)", "\tfg=(2/9)", NOWHERE, id="a clock before a tab"),
        pytest.param("10:00:00 text", "text", NOWHERE, id="a clock without a day alone"),
        pytest.param(
            "rank=2 step=26/60 loss=nan",
            "step=26/60 loss=nan",
            ProcessId(rank=2),
            id="a rank before a step",
        ),
        pytest.param(
            "node1:4242:4300 [0] NCCL INFO x",
            "NCCL INFO x",
            ProcessId(node="node1", pid=4242),
            id="NCCL",
        ),
        pytest.param(
            "[2025-05-01 12:00:00] gpu-a.b:4242:4300 [7] socket.cc:484 NCCL WARN x",
            "socket.cc:484 NCCL WARN x",
            ProcessId(node="gpu-a.b", pid=4242),
            id="NCCL with a stamp and a place",
        ),
        pytest.param("E   AssertionError: x", "AssertionError: x", NOWHERE, id="pytest"),
        pytest.param("rank 2: text", "text", ProcessId(rank=2), id="a rank and a colon"),
        pytest.param(
            "2025-03-01T12:00:00.1Z [rank3]: 2024-05-01 12:00:00,123 - x - INFO - text",
            "text",
            ProcessId(rank=3),
            id="nested",
        ),
    ],
)
def test_a_wrapper_is_peeled(raw: str, text: str, where: ProcessId) -> None:
    """The program's own text is left, and the process that the wrapper names."""
    cleaned = clean(raw)
    assert (cleaned.text, cleaned.where) == (text, where)


@pytest.mark.parametrize(
    "raw",
    [
        "RuntimeError: x",
        "12: data",
        "[1] 2 3",
        '  File "a.py", line 3, in f',
        "{'loss': 1}",
        "Epoch 3",
        "E AssertionError",
        "E   text",
        "",
        " ",
        "    x = 1",
        "[0]: x",
        "2024",
        "2024-05-01",
        "[2024] x",
        "(3, 4)",
        "[tensor([1.])]",
        "W x",
        "Note: x",
        "node: x",
        "INFO: x",
        "INFO x",
        "hosts: a",
        "worker died",
        "IndexError: x",
        "1/10 [00:10<00:20]",
        "  0%|   | 0/10",
        "12:00:00",
        "rank 16, alpha 32",
        "Rank 1 accuracy: 0.9",
        "[10:00] x",
        "Dec 1 text",
        "node1:29500 refused",
        "see a.py:4242:4250 [0] x",
        "[layer3]: frozen",
        "[epoch12]: loss 0.5",
        "[step120]: x",
        "[c10d] The client socket has failed",
        "ERROR: x",
        "(worker1) text",
        "[INFO] x",
        "训练失败",
    ],
)
def test_a_plain_line_stays(raw: str) -> None:
    """What is data, code or prose is not taken for a wrapper."""
    assert clean(raw) == (raw, NOWHERE, None, "")


@pytest.mark.parametrize(
    ("raw", "time", "basis"),
    [
        pytest.param(
            "2025-03-01T12:00:00.123456Z x", "2025-03-01T12:00:00.123456Z", "full", id="kubectl"
        ),
        pytest.param(
            "2025-03-01T12:00:00.1+08:00 stderr F x",
            "2025-03-01T12:00:00.1+08:00",
            "full",
            id="with a zone",
        ),
        pytest.param(
            "2024/08/02 10:00:00 - mmengine - INFO - x", "2024-08-02T10:00:00", "full", id="slashes"
        ),
        pytest.param(
            "2021-05-01 12:00:00,123 - mmdet - INFO - x",
            "2021-05-01T12:00:00.123",
            "full",
            id="comma",
        ),
        pytest.param(
            "05/01/2024 12:00:00 - INFO - a.b - x", "2024-05-01T12:00:00", "full", id="American"
        ),
        pytest.param(
            "08/02 10:00:00 - mmengine - INFO - x", "--08-02T10:00:00", "no-year", id="no year"
        ),
        pytest.param("[E1111 17:01:37.06 x.cpp:1] x", "T17:01:37", "no-date", id="clock alone"),
        pytest.param(
            "W0301 12:00:00.123000 1 a/b.py:1] x", "T12:00:00", "no-date", id="torch._logging"
        ),
        pytest.param("Mar  1 12:00:00 n kernel: x", "T12:00:00", "no-date", id="syslog"),
        pytest.param("[Sat Mar  1 12:00:00 2025] x", "T12:00:00", "no-date", id="dmesg -T"),
        pytest.param("[12345.678901] x", "+12345.678901s", "uptime", id="uptime"),
        pytest.param("[rank0]: x", None, None, id="no time"),
        pytest.param(
            "2025-03-01T12:00:00Z 2024-01-01 00:00:00,000 - a - INFO - x",
            "2025-03-01T12:00:00Z",
            "full",
            id="the outermost counts",
        ),
    ],
)
def test_the_printed_time_is_kept_as_far_as_it_goes(
    raw: str, time: str | None, basis: str | None
) -> None:
    """ISO 8601 with what is missing left out, and a word for how much there is."""
    cleaned = clean(raw)
    assert (cleaned.text, cleaned.time, get_time_basis(cleaned.time)) == ("x", time, basis)


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        pytest.param("2021-05-01 12:00:00,123 - mmdet - WARNING - x", "WARNING", id="mmcv"),
        pytest.param(
            "[2024-05-01 12:00:00,123] [ERROR] [launch.py:1:f] x", "ERROR", id="DeepSpeed"
        ),
        pytest.param(
            "[WARNING|trainer.py:1] 2024-05-01 12:00:00,123 >> x", "WARNING", id="transformers"
        ),
        pytest.param("DEBUG:root:x", "DEBUG", id="basicConfig"),
        pytest.param("[rank0]: x", "", id="none"),
    ],
)
def test_the_level_is_kept(raw: str, level: str) -> None:
    """Whoever logs a failure below ERROR has caught it."""
    assert clean(raw).level == level


@pytest.mark.parametrize(
    ("raw", "text", "rank"),
    [
        pytest.param("0: text", "text", 0, id="one digit"),
        pytest.param(" 3: text", "text", 3, id="right-aligned"),
        pytest.param("10: text", "text", 10, id="two digits"),
        pytest.param("0:   File", "  File", 0, id="indented"),
        pytest.param("2: ", "", 2, id="blank line"),
        pytest.param("3: [rank7]: text", "text", 7, id="a rank label inside says more"),
        pytest.param(
            "2024-05-01T12:00:00.123456789Z 3: text", "text", 3, id="behind a container's stamp"
        ),
        pytest.param(
            "[2024-05-01 12:00:00,123] 3:   File",
            "  File",
            3,
            id="behind a stamp in brackets, indented",
        ),
        pytest.param("\x1b[36m3: \x1b[0mtext", "text", 3, id="in colour"),
        pytest.param("3: 2024-05-01T12:00:00Z text", "text", 3, id="before a stamp"),
        pytest.param("3: 4: text", "4: text", 3, id="there is only one"),
        pytest.param(
            "3: 2024-05-01 12:00:00,123 - train - INFO - 4: text",
            "4: text",
            3,
            id="what the program logs is none",
        ),
    ],
)
def test_srun_labels_are_peeled_where_the_file_carries_them(raw: str, text: str, rank: int) -> None:
    """The task number counts only if the whole file is labelled."""
    assert clean(raw, srun=True)[:2] == (text, ProcessId(rank=rank))
    assert clean(raw).text != text


def labelled(*tasks: int, lines: int = 20) -> str:
    """Lines with the labels of these tasks in turn."""
    return "".join(f"{tasks[number % len(tasks)]}: text {number}\n" for number in range(lines))


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        pytest.param(labelled(0, 1, 2, 3), True, id="four tasks"),
        pytest.param(labelled(0), True, id="one task"),
        pytest.param(labelled(8, 9, 10, 11), True, id="tasks of two widths"),
        pytest.param(labelled(0, 1).replace("text 5", ""), True, id="a blank line of a task"),
        pytest.param(
            labelled(0, 1, lines=40) + "slurmstepd: error: x\n",
            True,
            id="a line of Slurm among them",
        ),
        pytest.param(
            "".join(f"{number}: item\n" for number in range(30)), False, id="a numbered listing"
        ),
        pytest.param(
            "".join(f"{number}: text\nplain\n" for number in range(10)),
            False,
            id="every second line",
        ),
        pytest.param(labelled(0, 1, lines=5), False, id="too few lines to tell"),
        pytest.param("Epoch 1: x\n" * 20, False, id="words"),
        pytest.param(
            "".join(f"2024-05-01T12:00:{number:02d}Z {number % 4}: text\n" for number in range(40)),
            True,
            id="four tasks behind a stamp",
        ),
        pytest.param("2024-05-01T12:00:00Z 0: text\n" * 20, True, id="one task behind a stamp"),
        pytest.param(
            "\x1b[36m0: \x1b[0mtext\n\x1b[35m1: \x1b[0mtext\n" * 20, True, id="tasks in colour"
        ),
        pytest.param(
            "".join(
                f"2024-05-01T12:00:{number:02d}Z {number // 10}: loss 0.5\n" for number in range(40)
            ),
            False,
            id="epochs behind a stamp",
        ),
        pytest.param(
            "".join(
                f"2024-05-01 12:00:{number:02d} - train - INFO - {number % 4}: text\n"
                for number in range(40)
            ),
            False,
            id="numbers that a program logs",
        ),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_file_carries_srun_labels_or_not(sample: str, expected: bool) -> None:  # noqa: FBT001 -- a table
    """A single leading number is data; the same shape on nearly all lines is a label."""
    assert has_srun_labels(sample) is expected


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param("\x1b[31mError\x1b[0m: x", "Error: x", id="colour"),
        pytest.param("\x1b[1;38;5;196mx\x1b[K", "x", id="extended colour, erase"),
        pytest.param("\x1b]0;title\x07x", "x", id="window title"),
        pytest.param("\x1b(Bx", "x", id="character set"),
        pytest.param("\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\", "x", id="hyperlink"),
        pytest.param("a\x1b[2Kb", "ab", id="in the middle"),
    ],
)
def test_colours_are_taken_off(raw: str, text: str) -> None:
    """Terminal escapes are no text."""
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("train loss : **-0.07**", "train loss : -0.07", id="a figure"),
        pytest.param("**loss: 0.7** acc 3", "loss: 0.7 acc 3", id="a pair"),
        pytest.param("**loss**: 0.7", "loss: 0.7", id="a name"),
        pytest.param("f(**kwargs, **other)", "f(**kwargs, **other)", id="code"),
        pytest.param("***** Running training *****", "***** Running training *****", id="stars"),
    ],
)
def test_bold_type_is_taken_off_figures(line: str, text: str) -> None:
    """Whoever pastes a log makes figures bold."""
    assert clean(line).text == text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.booleans())
def test_cleaning_never_fails_and_only_takes_away(raw: str, srun: bool) -> None:  # noqa: FBT001 -- given
    """Whatever comes in, the text that is left is its end; colours, NUL and marks of Markdown apart."""
    cleaned = clean(raw, srun=srun)
    if not {"\x1b", "\0", "`", "*"} & set(raw):
        assert raw.endswith(cleaned.text)
    assert get_time_basis(cleaned.time) in {None, "full", "no-year", "no-date", "uptime"}


def test_holes_are_no_text() -> None:
    """NUL bytes, left where a log was truncated under a running program, are taken out."""
    assert clean("\0" * 30 + "[rank1]: text").text == "text"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        pytest.param("2024-05-01T12:00:00", 1714564800.0, id="a date"),
        pytest.param("2024-05-01T12:00:00.5", 1714564800.5, id="one digit"),
        pytest.param("2024-05-01T12:00:00.123", 1714564800.123, id="milliseconds"),
        pytest.param("2024-05-01T12:00:00.123456789", 1714564800.123456, id="nanoseconds"),
        pytest.param("2024-05-01T12:00:00Z", 1714564800.0, id="UTC"),
        pytest.param("2024-05-01T12:00:00.25Z", 1714564800.25, id="a fraction in UTC"),
        pytest.param("2024-05-01T20:00:00+0800", 1714564800.0, id="a zone"),
        pytest.param("2024-05-01T20:00:00.75+08:00", 1714564800.75, id="a zone with a colon"),
        pytest.param("2024-05-01T07:30:00-04:30", 1714564800.0, id="a zone in the west"),
        pytest.param("--01-02T00:00:01", 946771201.0, id="no year"),
        pytest.param("T01:00:00.1", 3600.1, id="no day"),
        pytest.param("+12.5s", 12.5, id="since the boot"),
        pytest.param("2024-13-01T12:00:00", None, id="no such month"),
        pytest.param(None, None, id="nothing printed"),
    ],
)
def test_a_printed_time_is_read_alike_by_every_python(
    time: str | None, expected: float | None
) -> None:
    """Python 3.10 itself reads fractions of three and six digits only, and no `Z`."""
    found = convert_to_seconds(time)
    assert math.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-6)
