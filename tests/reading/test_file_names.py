"""The process that a file's name tells."""

import pytest

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.reading.file_names import parse_attempts, parse_processes, process_of_file


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("logs/rank3.log", ProcessId(rank=3), id="XTuner"),
        pytest.param("logs/20240802_100000_rank3.log", ProcessId(rank=3), id="mmengine"),
        pytest.param("logs/rank_3/train.log", ProcessId(rank=3), id="a folder a rank"),
        pytest.param("logs/global_rank12.txt", ProcessId(rank=12), id="global rank"),
        pytest.param("job.rank-7.err", ProcessId(rank=7), id="in the middle of the name"),
        pytest.param("train.log.rank3", ProcessId(rank=3), id="at the end of the name"),
        pytest.param("rank3", ProcessId(rank=3), id="the name alone"),
        pytest.param(
            "run/none_abc/attempt_0/3/stderr.log",
            ProcessId(local_rank=3),
            id="torchrun --redirects",
        ),
        pytest.param("run/0/stdout.log", ProcessId(local_rank=0), id="torchrun, standard output"),
        pytest.param("logs/local_rank1.log", ProcessId(local_rank=1), id="local rank"),
        pytest.param(
            "logs/job-worker-2.log",
            ProcessId(node="worker-2"),
            id="a worker of pods or pdsh is a machine",
        ),
        pytest.param("logs/node2_rank3.out", ProcessId(rank=3, node="node2"), id="node and rank"),
        pytest.param("logs/host-1/train.log", ProcessId(node="host-1"), id="a folder a host"),
        pytest.param("logs/lora_rank_16/train.log", NOWHERE, id="the rank of a LoRA is no process"),
        pytest.param("lora-rank8.log", NOWHERE, id="the rank of a LoRA in the name"),
        pytest.param("logs/frankrank.log", NOWHERE, id="a word that ends so"),
        pytest.param("slurm-123456.out", NOWHERE, id="a job's number"),
        pytest.param("train_2024.log", NOWHERE, id="a year"),
        pytest.param("3/train.log", NOWHERE, id="a numbered folder without redirects"),
    ],
)
def test_the_path_names_the_process(path: str, expected: ProcessId) -> None:
    """Rank, local rank and node are read off names that say so, and off nothing else."""
    assert process_of_file(path) == expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(
            ["j/log-r0.err", "j/log-r1.err"],
            [ProcessId(rank=0), ProcessId(rank=1)],
            id="r and a number",
        ),
        pytest.param(
            ["j/stdout-0.txt", "j/stdout-1.txt"],
            [ProcessId(rank=0), ProcessId(rank=1)],
            id="a stream and a number",
        ),
        pytest.param(
            ["j/n1.txt", "j/n2.txt"],
            [ProcessId(node="n1"), ProcessId(node="n2")],
            id="n and a number is a node",
        ),
        pytest.param(
            ["j/node-a.log", "j/node-b.log"],
            [ProcessId(node="node-a"), ProcessId(node="node-b")],
            id="nodes by letters",
        ),
        pytest.param(
            ["j/train.4711.log", "j/train.4712.log"],
            [ProcessId(pid=4711), ProcessId(pid=4712)],
            id="process ids",
        ),
        pytest.param(
            ["j/rank0.log", "j/agent.log"],
            [ProcessId(rank=0), NOWHERE],
            id="a launcher beside a rank",
        ),
        pytest.param(
            ["j/log-r0.err"], [NOWHERE], id="a bare number without a sibling says nothing"
        ),
        pytest.param(
            ["a/n1.txt", "b/n2.txt"], [NOWHERE, NOWHERE], id="files of two folders are no siblings"
        ),
        pytest.param(
            ["j/slurm-48213.out", "j/slurm-48214.out"], [NOWHERE, NOWHERE], id="numbers of jobs"
        ),
        pytest.param(
            ["j/20240801_100000.log", "j/20240801_113000.log"],
            [NOWHERE, NOWHERE],
            id="times of day",
        ),
        pytest.param(["j/run1.log", "j/run2.log"], [NOWHERE, NOWHERE], id="two runs"),
        pytest.param(
            ["job-rank-0/agent.log", "job-rank-0/rank1.log"],
            [NOWHERE, ProcessId(rank=1)],
            id="the folder of the whole job is no process",
        ),
        pytest.param(
            ["job-rank-0/0/stderr.log", "job-rank-0/1/stderr.log"],
            [ProcessId(local_rank=0), ProcessId(local_rank=1)],
            id="folders in the folder of the whole job",
        ),
        pytest.param(
            ["j/rank0/error.json", "j/attempt_0/1/error.json"],
            [ProcessId(rank=0), ProcessId(local_rank=1)],
            id="error files",
        ),
    ],
)
def test_siblings_tell_what_a_bare_number_means(
    paths: list[str], expected: list[ProcessId]
) -> None:
    """A number that alone tells files of one folder apart is read by the word before it."""
    assert list(parse_processes(paths).values()) == expected


def test_attempts_are_read_off_folders() -> None:
    """The folder nearest to the file counts; files outside of them have no attempt."""
    assert parse_attempts(
        ["run/attempt_0/1/stderr.log", "run/attempt_1/0/stderr.log", "run/agent.log"]
    ) == {"run/attempt_0/1/stderr.log": 0, "run/attempt_1/0/stderr.log": 1}


@pytest.mark.parametrize(
    ("name", "node"),
    [
        pytest.param("gpu-b11.dmesg.txt", "gpu-b11", id="the host first"),
        pytest.param("dmesg-hpc07.log", "hpc07", id="the host last"),
        pytest.param("nvidia-smi-rack4-n2.txt", "rack4-n2", id="a dump of the card"),
        pytest.param("dmesg.txt", None, id="no host"),
        pytest.param("dmesg-all.txt", None, id="a word"),
        pytest.param("train-b11.log", None, id="no log of a machine"),
    ],
)
def test_a_machine_is_told_by_the_name_of_its_log(name: str, node: str | None) -> None:
    """What is left beside the kind of log is the machine's name."""
    assert parse_processes([f"job/{name}", "job/run.out"])[f"job/{name}"].node == node
