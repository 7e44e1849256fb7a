"""A change that the log contradicts is not advised; the other changes stay."""

import re

import pytest

import postmortem

MMAP = """Traceback (most recent call last):
  File "/ws/load.py", line 20, in <module>
    state = torch.load(path, {how})
RuntimeError: {what}: Cannot allocate memory (12)
"""
LIBUV = """{how}
Traceback (most recent call last):
  File "C:\\ws\\train.py", line 9, in <module>
    dist.init_process_group("nccl")
  File "C:\\env\\Lib\\site-packages\\torch\\distributed\\rendezvous.py", line 189, in _create_c10d_store
    return TCPStore(hostname, port, world_size, start_daemon)
torch.distributed.DistStoreError: use_libuv was requested but PyTorch was build without libuv support, run with USE_LIBUV=0 to disable it.
"""
FORK = """Traceback (most recent call last):
  File "{path}train.py", line 9, in <module>
    for batch in loader:
RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method
"""
RATE = "{{'loss': nan, 'grad_norm': nan, 'learning_rate': {first}, 'epoch': 0.01}}\n" * 2


def changes(log: str) -> str:
    """All changes that are advised for the first cause, in words and code."""
    report = postmortem.analyze(postmortem.Stream("run.log", log.encode()))
    return "\n".join(
        f"{fix.title}\n{fix.snippet}" for fix in report.causes[0].fixes if fix.kind != "check"
    )


@pytest.mark.parametrize(
    ("refuted", "other", "word"),
    [
        (
            MMAP.format(how="mmap=True", what="unable to mmap 49766 bytes from file </m/a.bin>"),
            "OSError: [Errno 12] Cannot allocate memory",
            "mmap=",
        ),
        (FORK.format(path="C:\\ws\\"), FORK.format(path="/ws/"), "fork"),
        (LIBUV.format(how="set USE_LIBUV=0"), LIBUV.format(how="python train.py"), "USE_LIBUV"),
    ],
)
def test_a_refuted_change_is_not_advised(refuted: str, other: str, word: str) -> None:
    """It is for a log that does not refute it."""
    assert word in changes(other)
    found = changes(refuted)
    assert found
    assert word not in found


def test_no_rate_is_changed_where_it_was_zero() -> None:
    """What fails at a rate of 0 does not fail of the rate."""
    found = changes(RATE.format(first="0.0"))
    assert found
    assert not re.search(r"\brate\b", found.lower())
