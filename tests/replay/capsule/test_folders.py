"""What is written is what is read, and is there whole or not at all."""

from pathlib import Path
from typing import Any

import pytest

from postmortem.replay.capsule.json_values import convert_to_tree, list_unrecorded, restore_batch
from postmortem.replay.capsule.manifest import (
    Manifest,
    MicroBatch,
    ModelRecipe,
    Reason,
    StoredWeights,
    Window,
    WindowStep,
)
from postmortem.replay.capsule.opening import open_capsule
from postmortem.replay.capsule.writing import write_capsule

torch = pytest.importorskip("torch", reason="torch is not installed")


def made(batch: dict[str, Any]) -> Manifest:
    """A manifest of a window of one step."""
    return Manifest(
        written_at="2026-01-01T00:00:00Z",
        reason=Reason("asked", 3),
        model=ModelRecipe("torch", tree={"class": "Identity", "arguments": {}, "children": {}}),
        weights=StoredWeights(trainable=("w",), tied=(("w", "v"),)),
        window=Window(3, 3, (WindowStep(3, (MicroBatch(batch, loss=float("nan")),)),)),
    )


def test_a_batch_comes_back(tmp_path: Path) -> None:
    """Tensors, lists, tuples, texts; what cannot be kept is named and None."""
    held: dict[str, Any] = {}

    def put(tensor: Any) -> str:
        held[str(len(held))] = tensor
        return str(len(held) - 1)

    batch = {"ids": torch.arange(3), "deep": [(torch.ones(1), "x"), 2.5, "nan"], "what": object()}
    tree = convert_to_tree(batch, put)
    folder = write_capsule(
        tmp_path / "a.capsule",
        made(tree),
        {"weights.safetensors": {"w": torch.ones(2)}, "batches.safetensors": held},
    )
    capsule = open_capsule(folder)
    again = restore_batch(
        capsule.manifest.window.steps[0].micro_batches[0].batch,
        capsule.load_tensors("batches.safetensors").__getitem__,
    )
    assert torch.equal(again["ids"], torch.arange(3))
    assert again["deep"][0][1] == "x"
    assert again["deep"][1] == 2.5
    assert again["deep"][2] == "nan"
    assert again["what"] is None
    assert list_unrecorded(tree) == ["what: object"]


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    """The capsule that lies there stays as it is; nothing else is left behind."""
    tree = {"kind": "value", "value": 1}
    names = [
        write_capsule(
            tmp_path / "a.capsule", made(tree), {"weights.safetensors": {"w": torch.ones(2)}}
        ).name
        for _ in range(2)
    ]
    assert names == ["a.capsule", "a-2.capsule"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither a folder nor a part of one."""
    with pytest.raises(ValueError, match=r"no file 'x\.bin'"):
        write_capsule(
            tmp_path / "a.capsule", made({"kind": "value"}), {"x.bin": {"w": torch.ones(1)}}
        )
    assert list(tmp_path.iterdir()) == []
