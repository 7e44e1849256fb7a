"""Memory that lines of their own tell, of the card and of the host, before a run fails."""

import pytest

from postmortem.api import Report, analyze

RISING = [10.1 + 1.1 * number for number in range(12)]
LEVEL = [22.0 + 0.01 * (number % 3) for number in range(12)]
FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total"
    " capacity of 23.69 GiB of which 100.00 MiB is free. Including non-PyTorch memory, this process"
    " has 23.50 GiB memory in use. Of the allocated memory 23.00 GiB is allocated by PyTorch, and"
    " 20.00 MiB is reserved by PyTorch but unallocated.\n"
)
OF_CARD = [
    "GPU memory: {gib:.1f} GB",
    "  max mem {mib:.0f}",
    "VRAM: {mib:.0f}MiB / 24576MiB",
    "memory used (MB): {mib:.0f}",
    "Memory usage: allocated {gib:.2f} GiB | peak 23.10 GiB",
]
OF_HOST = [
    "RSS {gib:.1f} GiB",
    "CPU RAM used: {gib:.1f} GB",
    "host memory: {mib:.0f} MB",
    "Process memory {gib:.1f}GB",
    "VmRSS: {kib:.0f} kB",
    "RAM used {gib:.1f}/64.0 GB",
]


def of(line: str, figures: list[float], end: str) -> Report:
    """The report of records with such a line behind each."""
    rows = (
        f"step {100 * number} loss {2.5 * 0.95**number:.4f}\n"
        + line.format(gib=gib, mib=gib * 1024, kib=gib * 1024**2)
        + "\n"
        for number, gib in enumerate(figures)
    )
    return analyze(("".join(rows) + end).encode())


@pytest.mark.parametrize("line", OF_CARD)
def test_memory_of_the_card_that_rises_is_a_leak(line: str) -> None:
    """Level memory that does not suffice is none."""
    assert of(line, RISING, FULL).verdict.cause == "memory.cuda-leak"
    assert of(line, LEVEL, FULL).verdict.cause == "memory.cuda-oom"


@pytest.mark.parametrize("line", OF_HOST)
def test_memory_of_the_host_is_not_that_of_the_card(line: str) -> None:
    """It may rise as it will."""
    assert of(line, RISING, FULL).verdict.cause == "memory.cuda-oom"


@pytest.mark.parametrize("line", OF_HOST)
@pytest.mark.parametrize("end", ["Killed\n", "Process finished with exit code 137\n"])
def test_memory_of_the_host_that_rises_speaks_for_its_end(line: str, end: str) -> None:
    """And what grows is to be looked for."""
    risen, level = of(line, RISING, end), of(line, LEVEL, end)
    assert risen.verdict.cause == "memory.host-oom"
    for report, is_told in ((risen, True), (level, False)):
        cause = next(one for one in report.causes if one.id == "memory.host-oom")
        assert any("rose over the run" in item.text for item in cause.evidence) == is_told
        assert any(fix.id == "memory.host-growth" for fix in cause.fixes) == is_told
