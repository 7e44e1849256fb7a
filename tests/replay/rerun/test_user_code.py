"""A capsule that needs the user's code: a refusal by default, and nothing is executed."""

import dataclasses
import hashlib
import importlib.util
import json
import py_compile
import re
import subprocess
import sys
from pathlib import Path

import pytest

from postmortem.core.errors import InputError, UsageError
from postmortem.replay.capsule.manifest import ModelRecipe
from postmortem.replay.rerun.requested_replay import replay_capsule

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

from tests.recorded_windows import Training, record  # noqa: E402
from tests.replay.rerun.test_verdicts import CLASSES, entropy, labelled  # noqa: E402

CODE = """
import pathlib, torch

class Outer:
    @staticmethod
    def build_model():
        pathlib.Path(__file__).with_name("executed").touch()
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
        replay_capsule(capsule)
    assert str(file) in str(refused.value)
    assert not (tmp_path / "executed").exists()


def test_with_trust_it_runs(tmp_path: Path) -> None:
    """The same file, executed once."""
    capsule, _ = made(tmp_path)
    assert replay_capsule(capsule, device="cpu", trust=True).reproduced == "nothing-failed"
    assert (tmp_path / "executed").exists()


SCRIPT = """
import os, sys
from pathlib import Path

import torch

WIDTH, DEVICE = 8, torch.device("cuda" if torch.cuda.is_available() else "cpu")
HERE = Path(__file__).parent
try:
    import evil_package_that_is_not_installed as fast
except ImportError:
    fast = None
if sys.version_info >= (3, 8):
    CLASSES = int(os.environ.get("POSTMORTEM_TEST_CLASSES", "4"))

class Outer:
    @staticmethod
    def build_model():
        (HERE / "executed").touch()
        torch.manual_seed(0)
        return torch.nn.Linear(WIDTH, CLASSES)

model = Outer.build_model()
for step in range(10):
    torch.save(model.state_dict(), HERE / "checkpoint.pt")
with open(HERE / "checkpoint.pt", "w") as file:
    file.write("overwritten")
print("trained")
"""


def test_a_script_without_a_main_guard_does_not_train_again(tmp_path: Path) -> None:
    """What defines something is executed; checkpoints stay as they are."""
    capsule, _ = made(tmp_path, SCRIPT)
    (tmp_path / "checkpoint.pt").write_text("precious", encoding="utf-8")
    assert replay_capsule(capsule, device="cpu", trust=True).reproduced == "nothing-failed"
    assert (tmp_path / "checkpoint.pt").read_text(encoding="utf-8") == "precious"
    assert (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        pytest.param("width = read_width()", "line 4: width = read_width", id="a call"),
        pytest.param("for width in range(9): pass", "line 4: for width in", id="a loop"),
        pytest.param(
            "with open(__file__) as file: width = 8", "line 4: with open", id="within a block"
        ),
        pytest.param("width = [one for one in (8,)][0]", "line 4: width =", id="a comprehension"),
    ],
)
def test_what_is_left_out_and_needed_is_named(statement: str, message: str, tmp_path: Path) -> None:
    """With its line, and how to mend it."""
    code = f"""
import torch
def read_width(): return 8
{statement}
class Outer:
    @staticmethod
    def build_model():
        return torch.nn.Linear(width, 4)
"""
    capsule, _ = made(tmp_path, code)
    with pytest.raises(InputError, match=re.escape(message)):
        replay_capsule(capsule, device="cpu", trust=True)


def test_a_stale_cache_of_bytecode_is_not_executed(tmp_path: Path) -> None:
    """The checksum is of the source: that is what runs, not a `.pyc` that lies beside it."""
    evil = tmp_path / "evil.py"
    evil.write_text("raise SystemExit(3)\n", encoding="utf-8")
    capsule, file = made(tmp_path)
    cached = Path(importlib.util.cache_from_source(str(file)))
    py_compile.compile(
        str(evil), str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    assert replay_capsule(capsule, device="cpu", trust=True).reproduced == "nothing-failed"


PRINTING = """
import atexit, ctypes, os, subprocess, sys
import torch

class Outer:
    @staticmethod
    def build_model():
        print("by print")
        sys.__stdout__.write("by the first stream")
        os.write(1, b"by descriptor")
        subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
        ctypes.CDLL(None).printf(b"by C")
        atexit.register(print, "at the end")
        torch.manual_seed(0)
        return torch.nn.Linear(8, 4)
"""


def test_what_the_code_prints_is_no_part_of_the_report(tmp_path: Path) -> None:
    """However it prints: standard output holds JSON alone, standard error the rest."""
    capsule, _ = made(tmp_path, PRINTING)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "postmortem", "replay", str(capsule)),
            *("--trust-code", "--device", "cpu", "--format", "json"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["reproduced"] == "nothing-failed"
    for way in ("by print", "by the first", "by descriptor", "by a child", "by C", "at the end"):
        assert way in ran.stderr


def test_another_file_is_refused_even_with_trust(tmp_path: Path) -> None:
    """Its checksum was recorded."""
    capsule, file = made(tmp_path)
    file.write_text(CODE + "# changed\n", encoding="utf-8")
    with pytest.raises(InputError, match="its checksum is another"):
        replay_capsule(capsule, trust=True)
    assert not (tmp_path / "executed").exists()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """It says where it was."""
    capsule, file = made(tmp_path)
    file.unlink()
    with pytest.raises(InputError, match="is not there"):
        replay_capsule(capsule, trust=True)


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
        replay_capsule(capsule, device="cpu")
