"""The arithmetic of an out-of-memory line, on what every version of torch prints."""

import pytest

from postmortem.core.findings import NOWHERE, Finding
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.out_of_memory import detect_oom_conditions, parse_gib
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.pipeline import get_matcher

HINT = " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
NEW_HINT = " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."


def oom(text: str) -> Finding:
    """The finding that the knowledge base gives for a line."""
    for rule in get_matcher(()).signatures:
        if (
            rule.id.startswith("memory.cuda-oom.")
            and any(anchor.decode() in text for anchor in rule.anchors)
            and (match := rule.search(text))
        ):
            captures = tuple(
                (name, value) for name, value in match.groupdict().items() if value is not None
            )
            if any(name == "total" for name, _ in captures) or "total capac" not in text:
                return Finding(rule.id, "cause", 0, NOWHERE, 7, 7, 0, text, captures)
    raise AssertionError(text)


def shapes(findings: list[tuple[Finding, int]], card_gib: float | None = None) -> list[Anomaly]:
    """What the account of these lines shows, beside a GPU of so much memory."""
    facts = FactStore()
    if card_gib is not None:
        facts.add("gpu_memory_gib", str(card_gib), 1, 0, 1)
    return list(detect_oom_conditions(Observed(findings=findings, facts=facts)))


def legacy(asked: str, total: str, allocated: str, free: str, reserved: str) -> str:
    """The line of torch 1.4 to 2.0."""
    return f"RuntimeError: CUDA out of memory. Tried to allocate {asked} (GPU 0; {total} total capacity; {allocated} already allocated; {free} free; {reserved} reserved in total by PyTorch){HINT}"


def modern(asked: str, total: str, free: str, uses: str, allocated: str, unallocated: str) -> str:
    """The line of torch 2.2 and newer."""
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of {total} of which {free} is free. {uses}"
        f"Of the allocated memory {allocated} is allocated by PyTorch, and {unallocated} is reserved by PyTorch but unallocated.{NEW_HINT}"
    )


PLAIN = {"oom-little-spare", "oom-all-own"}
SHARED = {"oom-little-spare", "oom-other-process"}
FRAGMENTED = {"oom-fragmented", "oom-all-own"}
THIS = "Including non-PyTorch memory, this process has {} memory in use. "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 10.91 GiB total capacity; 9.33 GiB already allocated; 9.75 MiB free; 114.88 MiB cached)",
            PLAIN,
            id="torch 1.0, plainly full",
        ),
        pytest.param(
            "RuntimeError: CUDA out of memory. Tried to allocate 144.00 MiB (GPU 0; 7.93 GiB total capacity; 5.10 GiB already allocated; 88.50 MiB free; 2.31 GiB cached)",
            FRAGMENTED,
            id="torch 1.3: cached is additional to allocated",
        ),
        pytest.param(
            legacy("2.00 GiB", "15.78 GiB", "13.01 GiB", "1.20 GiB", "13.30 GiB"),
            PLAIN,
            id="torch 1.10, plainly full",
        ),
        pytest.param(
            legacy("512.00 MiB", "15.78 GiB", "9.01 GiB", "300.00 MiB", "14.30 GiB"),
            FRAGMENTED,
            id="torch 1.10, fragmented",
        ),
        pytest.param(
            legacy("2.00 GiB", "23.69 GiB", "9.01 GiB", "1.20 GiB", "9.30 GiB"),
            SHARED,
            id="torch 1.10, another process",
        ),
        pytest.param(
            legacy("20.00 MiB", "10.76 GiB", "9.58 GiB", "12.56 MiB", "9.73 GiB"),
            PLAIN,
            id="torch 1.13, the last megabytes; the hint is no evidence",
        ),
        pytest.param(
            "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 23.69 GiB total capacity; 11.20 GiB already allocated; 11.60 GiB free; 12.00 GiB allowed; 11.40 GiB reserved in total by PyTorch)",
            PLAIN | {"oom-capped"},
            id="torch 2.0, a share of the card",
        ),
        pytest.param(
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacty of 15.78 GiB of which 1.20 GiB is free. Process 12345 has 14.50 GiB memory in use. Of the allocated memory 13.01 GiB"
            " is allocated by PyTorch, and 290.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.",
            PLAIN,
            id="torch 2.1, plainly full",
        ),
        pytest.param(
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a total capacty of 23.69 GiB of which 100.00 MiB is free. Process 1 has 12.50 GiB memory in use. Process 2 has 11.00 GiB memory in use."
            " Of the allocated memory 10.01 GiB is allocated by PyTorch, and 290.00 MiB is reserved by PyTorch but unallocated.",
            SHARED,
            id="torch 2.1, another process",
        ),
        pytest.param(
            modern(
                "2.00 GiB",
                "79.15 GiB",
                "1.20 GiB",
                THIS.format("77.90 GiB"),
                "75.00 GiB",
                "1.10 GiB",
            ),
            PLAIN,
            id="torch 2.4, plainly full",
        ),
        pytest.param(
            modern(
                "1.00 GiB",
                "79.15 GiB",
                "600.00 MiB",
                THIS.format("78.50 GiB"),
                "60.00 GiB",
                "17.10 GiB",
            ),
            FRAGMENTED,
            id="torch 2.4, fragmented",
        ),
        pytest.param(
            modern(
                "1.00 GiB",
                "79.15 GiB",
                "600.00 MiB",
                "Process 4242 has 30.00 GiB memory in use. " + THIS.format("48.50 GiB"),
                "47.00 GiB",
                "100.00 MiB",
            ),
            SHARED,
            id="torch 2.4, another process",
        ),
        pytest.param(
            modern(
                "1.00 GiB",
                "79.15 GiB",
                "600.00 MiB",
                "Process 4242 has 30.00 GiB memory in use. " + THIS.format("48.50 GiB"),
                "30.00 GiB",
                "17.00 GiB",
            ),
            {"oom-other-process", "oom-fragmented"},
            id="torch 2.4, both",
        ),
        pytest.param(
            modern(
                "96.00 MiB",
                "23.69 GiB",
                "60.00 MiB",
                "".join(
                    f"Process {pid} has 488.00 MiB memory in use. " for pid in range(9001, 9008)
                )
                + THIS.format("20.28 GiB"),
                "19.20 GiB",
                "200.00 MiB",
            ),
            SHARED | {"oom-stray-contexts"},
            id="torch 2.4, seven ranks with a context on the wrong card",
        ),
        pytest.param(
            modern(
                "1.50 GiB",
                "23.69 GiB",
                "0 bytes",
                THIS.format("17179869184.00 GiB"),
                "21.14 GiB",
                "1.39 GiB",
            ),
            PLAIN,
            id="a counter that the driver does not keep",
        ),
        pytest.param(
            modern(
                "96.00 GiB",
                "79.10 GiB",
                "60.20 GiB",
                THIS.format("18.90 GiB"),
                "18.10 GiB",
                "200.00 MiB",
            ),
            PLAIN | {"oom-larger-than-card"},
            id="one request above the whole card",
        ),
        pytest.param(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 30.20 GiB is free. 47.46 GiB allowed; Of the allocated memory 44.00 GiB is allocated by PyTorch,"
            " with 1.20 GiB allocated in private pools (e.g., CUDA Graphs), and 900.00 MiB is reserved by PyTorch but unallocated.",
            PLAIN | {"oom-capped"},
            id="torch 2.6, CUDA graphs and a share",
        ),
        pytest.param(
            modern("6.00 GiB", "63.98 GiB", "2.11 GiB", "", "58.90 GiB", "1.72 GiB").replace(
                "CUDA out", "HIP out"
            ),
            PLAIN,
            id="HIP",
        ),
        pytest.param(
            "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 6.00 GiB. GPU 0 has a total capacity of 15.91 GiB. Of the allocated memory 13.90 GiB is allocated by PyTorch, and 1.02 GiB is reserved by PyTorch but unallocated.",
            {"oom-little-spare"},
            id="XPU says nothing of free memory",
        ),
        pytest.param(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 18.40G of 15.48G hbm. Exceeded hbm capacity by 2.92G.",
            {"oom-larger-than-card"},
            id="a program that XLA compiled for more than there is",
        ),
        pytest.param(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 21474836480 bytes.",
            set(),
            id="JAX names the request alone",
        ),
        pytest.param("RuntimeError: CUDA out of memory.", set(), id="no figures"),
        pytest.param("RuntimeError: CUDA error: out of memory", set(), id="the driver's line"),
        pytest.param(
            "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58",
            set(),
            id="torch 0.4",
        ),
        pytest.param(
            "Error out of memory at line 380 in file /src/csrc/pythonInterface.c",
            set(),
            id="bitsandbytes",
        ),
        pytest.param(
            modern("more than 1EB memory", "79.15 GiB", "1.20 GiB", "", "75.00 GiB", "1.10 GiB"),
            {"oom-all-own"},
            id="an overflowed size",
        ),
        pytest.param(
            modern("1.2.3 GiB", "7...9 GiB", "1.20 GiB", "", "75.00 GiB", "1.10 GiB"),
            {"oom-little-spare"},
            id="no figures where figures should be",
        ),
    ],
)
def test_the_arithmetic_of_a_line(text: str, expected: set[str]) -> None:
    """Fragmented: reserved but unallocated memory above the request.

    Shared: much of the card is held by nobody of this process.
    """
    assert {shape.id for shape in shapes([(oom(text), 0)])} - {"oom-before-steps"} == expected


def test_a_shape_shows_its_account() -> None:
    """The figures of the line, in GiB, whatever unit it prints them in."""
    line = modern(
        "512.00 MiB",
        "79.15 GiB",
        "600.00 MiB",
        "Process 4242 has 30.00 GiB memory in use. " + THIS.format("48.50 GiB"),
        "47.00 GiB",
        "100.00 MiB",
    )
    texts = {shape.id: shape.message.text("en") for shape in shapes([(oom(line), 3)])}
    assert (
        texts["oom-other-process"]
        == "79.15 total - 0.59 free - 48.50 of this process = 30.06 GiB held elsewhere (process 4242: 30.00)"
    )
    assert (
        texts["oom-little-spare"]
        == "47.10 reserved - 47.00 allocated = 0.10 GiB reserved but unallocated, 0.50 GiB asked"
    )


def test_another_rank_decides() -> None:
    """One rank whose figures show fragmentation outweighs the others.

    They only say that theirs do not.
    """
    plain, broken = (
        legacy("2.00 GiB", "15.78 GiB", "13.01 GiB", "1.20 GiB", "13.30 GiB"),
        legacy("512.00 MiB", "15.78 GiB", "9.01 GiB", "300.00 MiB", "14.30 GiB"),
    )
    assert {shape.id for shape in shapes([(oom(plain), 0), (oom(broken), 0)])} == FRAGMENTED | {
        "oom-before-steps"
    }


def test_the_card_may_be_named_elsewhere() -> None:
    """A request is compared with the GPU that the log or a dump names.

    So it is where the line itself does not say.
    """
    finding = oom(
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 21474836480 bytes."
    )
    assert [
        shape.message.text("en")
        for shape in shapes([(finding, 0)], 15.9)
        if shape.id == "oom-larger-than-card"
    ] == ["20.00 GiB asked at once, the card has 15.90 GiB"]
    assert not [
        shape for shape in shapes([(finding, 0)], 39.4) if shape.id == "oom-larger-than-card"
    ]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param(0, "oom-before-steps", id="before any record"),
        pytest.param(12, "oom-after-steps", id="after records"),
    ],
)
def test_when_it_happened(records: int, expected: str) -> None:
    """Before the first step or after some: the model does not fit, or something grew."""
    found = shapes([(oom("RuntimeError: CUDA out of memory."), records)])
    assert [(shape.id, shape.line) for shape in found] == [(expected, 7)]


def test_other_signatures_say_nothing() -> None:
    """Only lines of the family are judged."""
    assert (
        shapes([(Finding("memory.host-oom.killed", "cause", 0, NOWHERE, 1, 1, 0, "Killed"), 3)])
        == []
    )


def test_each_shape_once_at_its_first_line() -> None:
    """Eight ranks that run out of memory are one shape."""
    one = oom(legacy("512.00 MiB", "15.78 GiB", "9.01 GiB", "300.00 MiB", "14.30 GiB"))
    found = shapes([(one, 5)] * 8)
    assert sorted(shape.id for shape in found) == [
        "oom-after-steps",
        "oom-all-own",
        "oom-fragmented",
    ]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2.00 GiB", 2.0),
        ("512.00 MiB", 0.5),
        ("1048576 KiB", 1.0),
        ("1 TiB", 1024.0),
        ("1073741824 bytes", 1.0),
        ("1.5GB", 1.5),
        ("1.25 gib", 1.25),
        ("", None),
        (None, None),
        ("more than 1EB memory", None),
        ("GiB", None),
        (". GiB", None),
        ("1.2.3 GiB", 2.3),
    ],
)
def test_sizes(text: str | None, size: float | None) -> None:
    """As torch prints them, in GiB."""
    assert parse_gib(text) == size
