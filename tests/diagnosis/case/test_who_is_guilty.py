"""Which process of a job is named where another tells of its failure."""

import json
from pathlib import Path

import postmortem


def test_the_process_that_explains_itself_is_the_one(tmp_path: Path) -> None:
    """Where no clock tells, a known cause goes before exceptions that nothing explains."""
    for number in range(4):
        message = (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
            if number == 2
            else "RuntimeError: stream synchronisation failed, code 507"
        )
        (tmp_path / f"worker_{number}.log").write_text(
            'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'
            f"    main()\n{message}\n",
            encoding="utf-8",
        )
    report = json.loads(postmortem.analyze(str(tmp_path)).render("json", redact=False))
    first = report["first_failure"]
    assert report["sources"][first["source"]]["path"].endswith("worker_2.log")
