"""A capsule that needs the user's code: a refusal by default, and nothing is executed."""

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest

from postmortem.capsule.manifest import ModelRecipe
from postmortem.errors import InputError, UsageError
from postmortem.replay.on_demand import replayed

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

from tests.recorded_windows import Training, record  # noqa: E402
from tests.replay.test_verdicts import CLASSES, entropy, labelled  # noqa: E402

CODE = """
import pathlib, torch
pathlib.Path(__file__).with_name("executed").touch()

class Outer:
    @staticmethod
    def build_model():
        torch.manual_seed(0)
        return torch.nn.Linear(8, 4)
"""


def made(folder: Path, code: str = CODE) -> tuple[Path, Path]:
    """A capsule and the file that it names."""
    file = folder / "training.py"
    file.write_text(code, encoding="utf-8")
    recipe = ModelRecipe(
        "user",
        file=str(file),
        name="Outer.build_model",
        sha256=hashlib.sha256(code.encode()).hexdigest(),
    )
    torch.manual_seed(0)
    training = Training(recipe, torch.nn.Linear(8, 4), labelled(2), CLASSES, entropy)
    return record(folder / "a.capsule", training), file


def test_it_is_refused_by_default(tmp_path: Path) -> None:
    """It says which file, and what to say to have it run."""
    capsule, file = made(tmp_path)
    with pytest.raises(UsageError, match="--trust-code") as refused:
        replayed(capsule)
    assert str(file) in str(refused.value)
    assert not (tmp_path / "executed").exists()


def test_with_trust_it_runs(tmp_path: Path) -> None:
    """The same file, executed once."""
    capsule, _ = made(tmp_path)
    assert replayed(capsule, device="cpu", trust=True).reproduced == "nothing-failed"
    assert (tmp_path / "executed").exists()


def test_another_file_is_refused_even_with_trust(tmp_path: Path) -> None:
    """Its checksum was recorded."""
    capsule, file = made(tmp_path)
    file.write_text(CODE + "# changed\n", encoding="utf-8")
    with pytest.raises(InputError, match="its checksum is another"):
        replayed(capsule, trust=True)
    assert not (tmp_path / "executed").exists()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """It says where it was."""
    capsule, file = made(tmp_path)
    file.unlink()
    with pytest.raises(InputError, match="is not there"):
        replayed(capsule, trust=True)


def changed(capsule: Path, **fields: object) -> None:
    """Write other fields into a capsule's description of the model."""
    place = capsule / "manifest.json"
    told = json.loads(place.read_text(encoding="utf-8"))
    told["model"] = dataclasses.asdict(ModelRecipe("torch")) | fields
    told["model"]["class"] = told["model"].pop("class_", "") or fields.get("class", "")
    place.write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"kind": "torch", "tree": {"class": "os.system", "arguments": {"command": "x"}}},
            "torch.nn has no module",
            id="a dotted name",
        ),
        pytest.param(
            {"kind": "torch", "tree": {"class": "functional", "arguments": {}}},
            "torch.nn has no module",
            id="a module of Python",
        ),
        pytest.param(
            {
                "kind": "torch",
                "tree": {
                    "class": "Linear",
                    "arguments": {"in_features": 8, "out_features": 4},
                    "children": {"x": {"class": "Identity"}},
                },
            },
            "holds no modules of a tree",
            id="children of what is no container",
        ),
        pytest.param(
            {
                "kind": "torch",
                "tree": {"class": "Linear", "arguments": {"in_features": 9, "out_features": 4}},
            },
            "has no weight",
            id="another shape",
        ),
    ],
)
def test_a_model_that_is_none_is_refused(
    fields: dict[str, object], message: str, tmp_path: Path
) -> None:
    """Only modules of torch.nn, built as the weights say."""
    capsule, _ = made(tmp_path)
    changed(capsule, **fields)
    with pytest.raises(InputError, match=message):
        replayed(capsule, device="cpu")
