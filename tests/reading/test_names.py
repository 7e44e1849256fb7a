"""The process that a file's name tells."""

import pytest

from postmortem.model.lines import NOWHERE, Where
from postmortem.reading.names import process_of_file


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("logs/rank3.log", Where(rank=3), id="XTuner"),
        pytest.param("logs/20240802_100000_rank3.log", Where(rank=3), id="mmengine"),
        pytest.param("logs/rank_3/train.log", Where(rank=3), id="a folder a rank"),
        pytest.param("logs/global_rank12.txt", Where(rank=12), id="global rank"),
        pytest.param("job.rank-7.err", Where(rank=7), id="in the middle of the name"),
        pytest.param("train.log.rank3", Where(rank=3), id="at the end of the name"),
        pytest.param("rank3", Where(rank=3), id="the name alone"),
        pytest.param("run/none_abc/attempt_0/3/stderr.log", Where(local_rank=3), id="torchrun --redirects"),
        pytest.param("run/0/stdout.log", Where(local_rank=0), id="torchrun, standard output"),
        pytest.param("logs/local_rank1.log", Where(local_rank=1), id="local rank"),
        pytest.param("logs/worker_2.log", Where(local_rank=2), id="worker"),
        pytest.param("logs/node2_rank3.out", Where(rank=3, node="node2"), id="node and rank"),
        pytest.param("logs/host-1/train.log", Where(node="host-1"), id="a folder a host"),
        pytest.param("logs/lora_rank_16/train.log", NOWHERE, id="the rank of a LoRA is no process"),
        pytest.param("lora-rank8.log", NOWHERE, id="the rank of a LoRA in the name"),
        pytest.param("logs/frankrank.log", NOWHERE, id="a word that ends so"),
        pytest.param("slurm-123456.out", NOWHERE, id="a job's number"),
        pytest.param("train_2024.log", NOWHERE, id="a year"),
        pytest.param("3/train.log", NOWHERE, id="a numbered folder without redirects"),
    ],
)
def test_the_path_names_the_process(path: str, expected: Where) -> None:
    """Rank, local rank and node are read off names that say so, and off nothing else."""
    assert process_of_file(path) == expected
