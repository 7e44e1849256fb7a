"""A model is trained from labelled logs: same logs, same bytes, and it knows a new kind."""

from pathlib import Path

import pytest

import postmortem

pytest.importorskip("sklearn")
pytest.importorskip("safetensors")
training = pytest.importorskip("postmortem.learn.training")

KINDS = {
    "io.storage": "the walrus service dropped our shard",
    "config.rl": "reward of the otter policy left its bounds",
    "data.decode": "heron stream is no picture",
}


def labelled(folder: Path, each: int) -> Path:
    """A folder of logs of new kinds, with their labels."""
    folder.mkdir()
    for cause, words in KINDS.items():
        for number in range(each):
            name = f"{cause.split('.')[1]}{'abcdefghij'[number]}"
            (folder / f"{name}.log").write_text(f"job {number} begins\n{words} after {number} h\n")
            (folder / f"{name}.yaml").write_text(f"cause: {cause}\n")
    return folder


def test_one_origin_a_cause_is_enough(tmp_path: Path) -> None:
    """Nothing can be left out then, so nothing is calibrated."""
    assert training.train_model([labelled(tmp_path / "own", 1)]).causes == 3


def test_twenty_logs_of_new_kinds(tmp_path: Path) -> None:
    """Same bytes twice; a log of the kind that no rule knows gets its name."""
    folder = labelled(tmp_path / "own", 7)
    made = training.train_model([folder])
    assert (made.cases, made.causes) == (21, 3)
    assert training.train_model([folder]).content == made.content
    model = tmp_path / "own.safetensors"
    model.write_bytes(made.content)
    log = tmp_path / "run.log"
    log.write_text("job 99 begins\nthe walrus service dropped our shard after 77 h\n")
    assert postmortem.analyze(str(log), model=None).verdict.cause is None
    assert postmortem.analyze(str(log), model=str(model)).causes[0].id == "io.storage"
