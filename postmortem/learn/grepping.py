"""What an engineer with grep would say: the last line like an error, and a fixed table of words.

In: the log of a job. Out: causes that words of such lines stand for, that of the last line first.
Not here: any rule, any model. It is the yardstick that `postmortem evaluate` holds the program
against.

As `grep -iE 'error|exception|nan|oom|…' run.log` is read: from the last hit upwards, the first line
with a word that one knows. Nothing is known of tracebacks, processes, order or curves.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from postmortem.errors import InputError
from postmortem.lazy_regex import lazy_compile
from postmortem.reading.discover import candidates
from postmortem.reading.opener import open_log
from postmortem.reading.readable import lines_of
from postmortem.reading.sources import origins_of

_LONGEST: Final = 2000
GREP: Final = lazy_compile(
    r"error|exception|fail|killed|abort|fault|denied|refused|timeout|timed out|cancel|preempt"
    r"|no space|quota|out of memory|\boom\b|\bnan\b|\binf\b|nccl|xid",
    re.IGNORECASE,
)
TABLE: Final = tuple(
    (lazy_compile(words, re.IGNORECASE), cause)
    for words, cause in (
        (r"cuda out of memory|outofmemoryerror|\bcuda oom\b", "memory.cuda-oom"),
        (r"oom-kill|out of memory: kill|\bkilled\b|signal 9|sigkill", "memory.host-oom"),
        (r"\bshm\b|bus error|shared memory", "memory.shm-exhausted"),
        (r"out of memory|\boom\b", "memory.cuda-oom"),
        (r"no space left|disk quota|quota exceeded", "io.disk-full"),
        (r"permission denied|operation not permitted", "io.permission"),
        (r"too many open files", "io.file-limit"),
        (r"huggingface\.co|hf_hub|repositorynotfound|gated repo", "io.hub-access"),
        (r"\bxid\b", "cuda.hardware-xid"),
        (r"uncorrectable ecc", "cuda.hardware-ecc"),
        (r"device-side assert", "cuda.device-side-assert"),
        (r"illegal memory access", "cuda.illegal-memory-access"),
        (r"no kernel image", "cuda.no-kernel-image"),
        (r"cublas", "cuda.cublas"),
        (r"cudnn", "cuda.cudnn"),
        (r"address already in use", "distributed.port-in-use"),
        (r"watchdog|collective operation timeout|nccl.{0,40}time", "distributed.nccl-timeout"),
        (r"rendezvous", "distributed.rendezvous"),
        (r"nccl", "distributed.nccl-network"),
        (r"time limit", "scheduler.time-limit"),
        (r"preempt", "scheduler.preempted"),
        (r"cancelled", "scheduler.cancelled"),
        (r"modulenotfound|no module named", "environment.missing-package"),
        (r"undefined symbol", "environment.abi-mismatch"),
        (r"importerror|cannot import name", "environment.version-incompatible"),
        (r"unrecognized arguments|invalid choice", "config.arguments"),
        (r"size mismatch", "checkpoint.shape-mismatch"),
        (r"missing key|unexpected key", "checkpoint.key-mismatch"),
        (r"shapes? cannot be multiplied|must match the size", "code.shape-mismatch"),
        (r"on the same device", "code.device-mismatch"),
        (r"same dtype|expected scalar type", "code.dtype-mismatch"),
        (r"filenotfound|no such file", "data.missing-file"),
        (r"dataloader worker", "data.worker-crash"),
        (r"segmentation fault|signal 11|sigsegv", "code.native-crash"),
        (r"\bnan\b|\binf\b|overflow", "numerics.nonfinite-unknown"),
        (r"[a-z]error\b|exception", "code.user-exception"),
    )
)
"""A word that one searches for, and what one takes it to mean; the first row that fits counts."""


def grepped(log: Path) -> list[str]:
    """Give what the last lines with a known word stand for, the last of all first."""
    found: dict[str, None] = {}
    for line in _lines(log):
        if GREP.search(line) and (cause := _meant(line)) is not None:
            found.pop(cause, None)
            found[cause] = None
    return list(found)[::-1]


def _meant(line: str) -> str | None:
    return next((cause for word, cause in TABLE if word.search(line)), None)


def _lines(log: Path) -> Iterator[str]:
    """Give the lines of a log, or of all files of a job in their order."""
    for one in candidates(origins_of(str(log))):
        if one.skip is not None:
            continue
        try:
            opened = open_log(one.origin)
        except InputError:
            continue
        try:
            yield from lines_of(opened, _LONGEST)
        finally:
            opened.close()
