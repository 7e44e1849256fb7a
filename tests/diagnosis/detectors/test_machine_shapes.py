"""What dumps say of the machine: GPUs held or empty, torch's build, limits, lists of packages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.core import resources
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.detectors import machine_limits
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction import job
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.pipeline import get_matcher
from postmortem.rules.base import load
from postmortem.rules.compile import iter_rules

REFUSED = "RuntimeError: CUDA out of memory. Tried to allocate 96.00 MiB\n"
NEEDS = (
    "ImportError: Using the `Trainer` with `PyTorch` requires `accelerate>=0.26.0`: Please run"
    " `pip install transformers[torch]`\n"
)
MACHINE = frozenset(
    row["id"]
    for path, row in iter_rules(resources.find_folder("patterns") / "anomalies")
    if path.stem == "machine"
)
CARD = (
    "|   {number}  NVIDIA L40S          Off | 00000000:0{number}:00.0 Off |                    0 |\n"
    "| N/A   40C    P0    60W / 300W | {used}MiB / 46068MiB |      0%      Default |\n"
)
HOLDER = "|    0   N/A  N/A      4821      C   {name}             30000MiB |\n"
LIST = (
    "Package            Version\n------------------ ---------\n{}certifi            2024.2.2\n"
    "datasets           2.19.1\nfilelock           3.13.1\nfsspec             2024.3.1\n"
    "numpy              1.26.4\npackaging          24.0\nregex              2024.5.10\n"
    "torch              2.3.0\ntransformers       4.41.0\n"
)


def shapes(log: str, dump: str = "") -> set[str]:
    """The shapes of the machine that a log and a dump give."""
    gathered = job.read([log.encode()], get_matcher(()), env_files=[dump.encode()] if dump else [])
    return set(build_case(gathered, load()).anomalies) & MACHINE


@pytest.mark.parametrize(
    ("dump", "expected"),
    [
        pytest.param(CARD.format(number=0, used=40000), "gpu-held", id="nvidia-smi, held"),
        pytest.param(CARD.format(number=0, used=3), "gpu-empty", id="nvidia-smi, empty"),
        pytest.param(
            "index, memory.used [MiB], memory.total [MiB]\n0, 30000 MiB, 46068 MiB\n",
            "gpu-held",
            id="csv",
        ),
        pytest.param(
            "memory.total [MiB], memory.free [MiB]\n46068 MiB, 46000 MiB\n",
            "gpu-empty",
            id="csv, of what is free",
        ),
        pytest.param(
            "pid, process_name, used_gpu_memory [MiB]\n88, /opt/jupyter, 17240 MiB\n",
            "gpu-held",
            id="csv of processes",
        ),
        pytest.param(
            "[0] NVIDIA L40S | 41'C,   0 % | 30112 / 46068 MB | li:python/20188(30109M)\n",
            "gpu-held",
            id="gpustat",
        ),
        pytest.param(
            "    FB Memory Usage\n        Total                             : 46068 MiB\n"
            "        Used                              : 40110 MiB\n",
            "gpu-held",
            id="nvidia-smi -q",
        ),
        pytest.param("PyTorch version: 2.4.1+cpu\n", "torch-built-for-cpu", id="+cpu"),
        pytest.param("CUDA used to build PyTorch: None\n", "torch-built-for-cpu", id="collect_env"),
        pytest.param(
            "pytorch                   2.3.0              py3.10_cpu_0    pytorch\n",
            "torch-built-for-cpu",
            id="conda list",
        ),
        pytest.param(
            "torch cuda version ............... None\n", "torch-built-for-cpu", id="ds_report"
        ),
        pytest.param("Is CUDA available: False\n", "torch-finds-no-gpu", id="not available"),
        pytest.param(
            "torch==2.4.1+cu121\nflash_attn==2.5.8+cu122torch2.2cxx11abiFALSE\n",
            "wheel-of-other-torch",
            id="wheel of another torch",
        ),
        pytest.param(
            "torch==2.3.1+cu121\ntorch_scatter==2.1.2+pt24cu121\n",
            "wheel-of-other-torch",
            id="wheel of a newer torch",
        ),
        pytest.param("open files      (-n) 1024\n", "few-open-files", id="few files"),
        pytest.param("$ ulimit -n\n1048576\n", "many-open-files", id="many files"),
        pytest.param("shm   64M   64M     0 100% /dev/shm\n", "shm-small", id="df -h"),
        pytest.param("shm  65536 65500  36 99% /dev/shm\n", "shm-small", id="df"),
        pytest.param("tmpfs  504G  12M  504G   1% /dev/shm\n", "shm-roomy", id="large"),
        pytest.param('            "ShmSize": 67108864,\n', "shm-small", id="docker inspect"),
        pytest.param("/dev/sdb1  200G  200G  1M 100% /scratch\n", "disk-at-its-end", id="full"),
        pytest.param("/dev/sdb1  200G   90G  110G  45% /scratch\n", "disk-with-room", id="room"),
        pytest.param("oom 3\noom_kill 2\n", "oom-kill-counted", id="memory.events"),
        pytest.param('"OOMKilled": false,\n', "no-oom-kill-counted", id="docker inspect, no"),
    ],
)
def test_a_dump_testifies(dump: str, expected: str) -> None:
    """One shape of its kind, whatever tool prints it."""
    assert expected in shapes(REFUSED, dump)


@pytest.mark.parametrize(
    ("log", "dump", "silent"),
    [
        pytest.param(
            REFUSED + CARD.format(number=0, used=40000), "", "gpu-held", id="behind the failure"
        ),
        pytest.param(
            CARD.format(number=0, used=40000) + HOLDER.format(name="python") + REFUSED,
            "",
            "gpu-held",
            id="pasted: it may be the run itself",
        ),
        pytest.param(
            REFUSED,
            "torch==2.4.1+cu121\nflash_attn==2.5.8+cu122torch2.4cxx11abiFALSE\n",
            "wheel-of-other-torch",
            id="the wheel fits",
        ),
        pytest.param(
            REFUSED,
            "PyTorch version: 2.4.1+cu121\nCUDA used to build PyTorch: 12.1\n",
            "torch-built-for-cpu",
            id="a CUDA build",
        ),
        pytest.param(
            NEEDS, "$ pip list | grep torch\n" + LIST.format(""), "named-package-unlisted", id="cut"
        ),
    ],
)
def test_what_testifies_to_nothing(log: str, dump: str, silent: str) -> None:
    """Listings of the run itself, fitting versions, lists that are cut."""
    assert silent not in shapes(log, dump)


def test_a_listing_at_the_start_counts_where_it_names_a_stranger() -> None:
    """A process that is no Python is not the run."""
    log = CARD.format(number=0, used=40000) + HOLDER.format(name="./gmx_mpi") + REFUSED
    assert "gpu-held" in shapes(log)


def test_a_whole_list_tells_what_is_not_installed() -> None:
    """The package that the error asks for stands in the list, or does not."""
    assert "named-package-unlisted" in shapes(NEEDS, LIST.format(""))
    assert "named-package-listed" in shapes(NEEDS, LIST.format("accelerate         0.21.0\n"))


@given(st.lists(st.integers(1, 500), min_size=2, max_size=50))
def test_host_memory_is_spent_by_its_last_figure(figures: list[int]) -> None:
    """Of what is free, the end against the beginning; what lies between does not matter."""
    store = FactStore()
    for line, figure in enumerate(figures, 1):
        store.add("machine_host_free", f"{figure} GiB", 1, 0, line)
    spent = figures[-1] <= 0.05 * figures[0]
    assert bool(list(machine_limits.detect_host_memory_exhaustion(Observed(facts=store)))) == spent


@given(st.text(max_size=60))
def test_any_text_of_a_limit_is_survived(text: str) -> None:
    """What a tool prints in place of a figure breaks nothing."""
    store = FactStore()
    for name in ("shm", "shm_size", "shm_bytes", "disk", "host_free", "host_used", "oom_kills"):
        store.add(f"machine_{name}", text, 2, 0, 1)
    observed = Observed(facts=store)
    list(machine_limits.detect_machine_limits(observed))
    list(machine_limits.detect_host_memory_exhaustion(observed))


SCRIPT = '  File "/job/train.py", line 9, in <module>\n' + REFUSED
PROCESSES = "4821 python train.py --batch 4\n"


def test_what_the_run_itself_holds_is_not_held_by_others() -> None:
    """Its process is known by the script that it runs; what is left may be another's."""
    listing = CARD.format(number=0, used=40000) + HOLDER.format(name="python")
    assert "gpu-held" in shapes(SCRIPT, listing)
    alone = CARD.format(number=0, used=30100) + HOLDER.format(name="python") + PROCESSES
    assert "gpu-held" not in shapes(SCRIPT, alone)
    other = HOLDER.format(name="/opt/x/python").replace("4821", "1733").replace("30000", "12000")
    crowded = CARD.format(number=0, used=42000) + HOLDER.format(name="python") + other + PROCESSES
    assert "gpu-held" in shapes(SCRIPT, crowded)


def test_of_several_that_run_the_script_some_may_be_left() -> None:
    """An earlier run of the same script holds memory as others do."""
    other = HOLDER.format(name="python").replace("4821", "1733").replace("30000", "12000")
    listing = CARD.format(number=0, used=42000) + HOLDER.format(name="python") + other
    both = PROCESSES + PROCESSES.replace("4821", "1733")
    assert "gpu-held" in shapes(SCRIPT, listing + both)
