"""What helpers of a run meet when it is interrupted from the keyboard."""

import pytest

from postmortem import Stream, analyze

RECORDS = [f"epoch 0 step {step} loss {2 - step / 100:.3f}" for step in range(1, 30)]
LIBRARY = "/env/lib/python3.10"
PINNING = [
    "Exception in thread Thread-3 (_pin_memory_loop):",
    "Traceback (most recent call last):",
    f'  File "{LIBRARY}/threading.py", line 1016, in _bootstrap_inner',
    "    self.run()",
    f'  File "{LIBRARY}/site-packages/torch/utils/data/_utils/pin_memory.py", line 26, in do_one_step',
    "    r = in_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)",
    f'  File "{LIBRARY}/multiprocessing/connection.py", line 630, in SocketClient',
    "    s.connect(address)",
    "FileNotFoundError: [Errno 2] No such file or directory",
]
MISSING = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 40, in <module>',
    "    weights = open(path)",
    "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pth'",
]
INTERRUPT = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 90, in <module>',
    "    loss.backward()",
    "KeyboardInterrupt",
]
CARRIED = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 281, in <module>',
    "    out = train_jit(rng)",
    "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CustomCall failed: CpuCallback error: "
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 281, in <module>',
    f'  File "{LIBRARY}/site-packages/jax/_src/interpreters/mlir.py", line 2776, in _wrapped',
    "KeyboardInterrupt: ",
]


@pytest.mark.parametrize(
    ("lines", "outcome", "cause"),
    [
        pytest.param([*PINNING, *INTERRUPT], "cancelled", "scheduler.cancelled", id="a thread"),
        pytest.param([*INTERRUPT, *PINNING], "cancelled", "scheduler.cancelled", id="behind it"),
        pytest.param(CARRIED, "cancelled", "scheduler.cancelled", id="a library carries it"),
        pytest.param(PINNING, "failed", "data.missing-file", id="nobody interrupts"),
        pytest.param([*MISSING, *INTERRUPT], "failed", "data.missing-file", id="the user's file"),
    ],
)
def test_an_interrupt_explains_what_it_breaks(lines: list[str], outcome: str, cause: str) -> None:
    """Between processes, and where a library quotes it; nothing else."""
    text = "\n".join([*RECORDS, *lines]) + "\n"
    report = analyze(Stream("train.log", text.encode())).analysis
    assert (report.outcome, report.causes[0].id) == (outcome, cause)
