"""Whose exception it is that another process prints."""

import json
from pathlib import Path
from typing import Any

import postmortem


def first_of(tmp_path: Path, **files: str) -> Any:
    """Analyse files and give the first failure, with the name of its file and the first cause."""
    for name, text in files.items():
        (tmp_path / f"{name}.log").write_text(text + "\n", encoding="utf-8")
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    file = Path(report["sources"][first["source"]]["path"]).stem
    return {**first, "file": file, "cause": report["causes"][0]["id"]}


def gathered(rank: int) -> str:
    """Give what a rank prints of a save that failed on rank 5."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 31, in main',
        "    save(model)",
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException"
        " ranks:dict_keys([5])",
        "Traceback (most recent call last): (RANK 5)",
        '  File "/v/site-packages/torch/serialization.py", line 850, in save',
        "    _save(obj, file)",
        "OSError: [Errno 28] No space left on device: '/scratch/__5_0.distcp'",
    ]
    return "\n".join(f"[rank{rank}]: {line}" for line in lines)


def test_an_exception_that_all_gather_is_that_of_the_rank_it_names(tmp_path: Path) -> None:
    """The first in the order of files is only one of those who print it."""
    first = first_of(tmp_path, alpha=gathered(0), beta=gathered(5), gamma=gathered(8))
    assert (first["file"], first["where"]["rank"]) == ("beta", 5)
    assert first["cause"] == "io.disk-full"


def test_the_rank_is_known_where_its_own_log_is_not_there(tmp_path: Path) -> None:
    """Whoever gathered its exception tells of it."""
    first = first_of(tmp_path, alpha=gathered(0), gamma=gathered(8))
    assert first["where"]["rank"] == 5
    assert "No space left" in first["why"]


def test_what_a_task_of_ray_raised_is_its_workers(tmp_path: Path) -> None:
    """Not the driver's, to which it was handed on twice; its peers die of it."""
    text = "\n".join(
        [
            "(TrainWorker pid=501, ip=10.0.3.4) step 100 loss 0.42",
            "Traceback (most recent call last):",
            '  File "/v/site-packages/ray/_private/worker.py", line 919, in get_objects',
            "    raise value.as_instanceof_cause()",
            "ray.exceptions.RayTaskError(KeyError): ray::Inner.train() (pid=501, ip=10.0.3.4)",
            '  File "/v/site-packages/ray/train/utils.py", line 57, in check_for_failure',
            "    ray.get(object_ref)",
            "ray.exceptions.RayTaskError(KeyError): ray::Worker.get_next() (pid=318, ip=10.0.3.9,"
            " actor_id=e6c4, repr=<Worker object at 0x7f3c>)",
            '  File "/home/ray/train.py", line 88, in loop',
            '    table.column("user_id")',
            "KeyError: 'Field \"user_id\" does not exist in schema'",
            "(raylet, ip=10.0.3.4) A worker died or was killed while executing a task by an"
            " unexpected system error. There are some potential root causes. (1) The process is"
            " killed by SIGKILL by OOM killer due to high memory usage.",
        ]
    )
    first = first_of(tmp_path, driver=text)
    assert (first["where"]["node"], first["where"]["pid"]) == ("10.0.3.9", 318)
    assert first["cause"] == "data.schema"
