"""A capsule opens, or is refused with what is wrong, and nothing of it is used."""

import hashlib
import json
import math
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from postmortem.core.errors import InputError
from postmortem.replay.capsule.opening import open_capsule

Told = dict[str, Any]
SIZES = {"F32": 4, "I64": 8, "U8": 1}


def safetensors(tensors: dict[str, tuple[str, list[int]]]) -> bytes:
    """A file of zeros of these types and shapes."""
    header: dict[str, Any] = {}
    position = 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for side in shape:
            size *= side
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [position, position + size],
        }
        position += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(position)


def manifest() -> dict[str, Any]:
    """Of one linear layer and a window of two steps."""
    batch = {
        "kind": "dict",
        "items": {"x": {"kind": "tensor", "key": "x"}, "y": {"kind": "value", "value": 3}},
        "class": None,
    }
    micro = {"batch": batch, "rng": "7.0", "samples": [4, None], "loss": "nan"}
    linear = {"class": "Linear", "arguments": {"in_features": 2, "out_features": 1}, "children": {}}
    return {
        "schema": "postmortem.capsule/1",
        "written_at": "2026-01-01T00:00:00Z",
        "reason": {"kind": "nonfinite-loss", "step": 8, "message": ""},
        "model": {"kind": "torch", "tree": linear},
        "weights": {"file": "weights.safetensors", "trainable": ["weight", "bias"]},
        "window": {
            "first": 7,
            "last": 8,
            "steps": [
                {"step": 7, "micro_batches": [micro], "lr": [0.1], "loss": 1},
                {"step": 8, "micro_batches": [micro | {"rng": ""}], "grad_norm": "inf"},
            ],
        },
        "files": {},
    }


FILES = {
    "weights.safetensors": safetensors({"weight": ("F32", [1, 2]), "bias": ("F32", [1])}),
    "batches.safetensors": safetensors({"x": ("F32", [3, 2])}),
    "rng.safetensors": safetensors({"7.0/torch": ("U8", [16])}),
}


def make(folder: Path, told: dict[str, Any], files: dict[str, bytes] = FILES) -> Path:
    """Write a capsule whose checksums are right."""
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
        kept = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        told["files"].setdefault(name, kept)
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def test_a_whole_capsule_opens(tmp_path: Path) -> None:
    """Its figures are values again, those that are no numbers too."""
    capsule = open_capsule(make(tmp_path / "a.capsule", manifest()))
    steps = capsule.manifest.window.steps
    assert (steps[0].loss, steps[1].grad_norm) == (1.0, math.inf)
    assert math.isnan(steps[0].micro_batches[0].loss or 0)
    assert steps[0].micro_batches[0].samples == (4, None)
    assert capsule.headers["weights.safetensors"]["weight"].shape == (1, 2)


def changed(change: Callable[[Told], object]) -> Callable[[Path], None]:
    """A manifest with something else in it."""

    def write(folder: Path) -> None:
        told = manifest()
        change(told)
        make(folder, told)

    return write


def with_file(name: str, data: bytes) -> Callable[[Path], None]:
    """Another file, with the right checksum."""
    return lambda folder: make(folder, manifest(), FILES | {name: data})


def then(act: Callable[[Path], object]) -> Callable[[Path], None]:
    """A whole capsule to which something happens."""

    def write(folder: Path) -> None:
        act(make(folder, manifest()))

    return write


def put(name: str, data: bytes) -> Callable[[Path], None]:
    """A file is overwritten after the capsule was made."""
    return then(lambda folder: (folder / name).write_bytes(data))


def linked(folder: Path) -> None:
    """The weights lie elsewhere."""
    place = folder / "weights.safetensors"
    place.rename(folder.parent / "elsewhere")
    place.symlink_to(folder.parent / "elsewhere")


def piped(folder: Path) -> None:
    """A pipe, on which reading would wait for ever."""
    (folder / "weights.safetensors").unlink()
    os.mkfifo(folder / "weights.safetensors")


class Boom:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Print when loaded."""
        return print, ("boom",)


WEIGHTS = FILES["weights.safetensors"]
LONG = b"\xff" * 8 + WEIGHTS[8:]
REFUSED = {
    "another version": (
        changed(lambda told: told.update(schema="postmortem.capsule/2")),
        "its schema is 'postmortem.capsule/2'",
    ),
    "no schema": (changed(lambda told: told.pop("schema")), "its schema is 'None'"),
    "no object": (put("manifest.json", b"[]"), "its schema is"),
    "half a manifest": (put("manifest.json", b'{"schema": "postm'), "no JSON, or not all of it"),
    "a manifest nested too deep": (put("manifest.json", b"[" * 100_000), "no JSON"),
    "no manifest": (then(lambda folder: (folder / "manifest.json").unlink()), "cannot be read"),
    "a file is missing": (
        then(lambda folder: (folder / "batches.safetensors").unlink()),
        "cannot be read: No such file",
    ),
    "cut short": (put("weights.safetensors", WEIGHTS[:-3]), "cut short"),
    "longer than written": (put("weights.safetensors", WEIGHTS + b"x"), "longer than written"),
    "one byte changed": (
        put("weights.safetensors", WEIGHTS[:-1] + b"\x01"),
        "its checksum is another",
    ),
    "a pickle in disguise": (
        with_file("weights.safetensors", pickle.dumps(Boom(), protocol=4)),
        "but a pickle",
    ),
    "a checkpoint of torch in disguise": (
        with_file("weights.safetensors", b"PK\x03\x04" + bytes(100)),
        "but a zip archive",
    ),
    "a header longer than the file": (with_file("weights.safetensors", LONG), "no safetensors"),
    "a tensor beyond the end": (
        with_file("weights.safetensors", WEIGHTS[:-4]),
        "4 bytes of tensors are missing",
    ),
    "bytes behind the last tensor": (
        with_file("weights.safetensors", WEIGHTS + b"abcd"),
        "4 bytes behind its last tensor",
    ),
    "a shape that is not its size": (
        with_file("weights.safetensors", WEIGHTS.replace(b"[1, 2]", b"[9, 9]")),
        "another size than its shape says",
    ),
    "tensors over one another": (
        with_file(
            "weights.safetensors",
            safetensors({"a": ("F32", [1]), "b": ("F32", [1])}).replace(b"[4, 8]", b"[0, 4]"),
        ),
        "overlap or leave gaps",
    ),
    "a path out of the folder": (
        changed(lambda told: told["files"].update({"../x": {"bytes": 1, "sha256": ""}})),
        "a file that no capsule has: '../x'",
    ),
    "an absolute path": (
        changed(lambda told: told["weights"].update(file="/etc/passwd")),
        "/etc/passwd lacks the weight",
    ),
    "a symbolic link": (then(linked), "symbolic link"),
    "a weight that no file holds": (
        changed(lambda told: told["weights"]["trainable"].append("more")),
        "lacks the weight 'more'",
    ),
    "a tensor that the manifest does not name": (
        changed(lambda told: told["weights"]["trainable"].pop()),
        "holds 'bias', which the manifest does not name",
    ),
    "a random state that nobody asks for": (
        changed(lambda told: told["window"]["steps"][0]["micro_batches"][0].update(rng="")),
        "holds the state '7.0'",
    ),
    "no steps": (changed(lambda told: told["window"].update(steps=[])), "its window holds 0 steps"),
    "other steps than the window's": (
        changed(lambda told: told["window"].update(first=3)),
        "not those of its window",
    ),
    "a field that the schema has not": (
        changed(lambda told: told["reason"].update(more=1)),
        "manifest.reason.more is no field",
    ),
    "a field that is missing": (
        changed(lambda told: told["reason"].pop("step")),
        "manifest.reason.step is missing",
    ),
    "a text for a number": (
        changed(lambda told: told["reason"].update(step="eight")),
        "manifest.reason.step is not of type int",
    ),
    "a batch that is no tree": (
        changed(lambda told: told["window"]["steps"][0]["micro_batches"][0].update(batch={})),
        "no tree of a batch",
    ),
    "an unknown way to build": (
        changed(lambda told: told["model"].update(kind="pickle")),
        "no way to build a model of the kind 'pickle'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_capsule_is_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what; nothing is executed."""
    write, message = REFUSED[case]
    write(tmp_path / "a.capsule")
    with pytest.raises(InputError) as refused:
        open_capsule(tmp_path / "a.capsule")
    assert message in str(refused.value)
    assert refused.value.mend
    assert "boom" not in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It is refused at once."""
    then(piped)(tmp_path / "a.capsule")
    with pytest.raises(InputError, match="no regular file"):
        open_capsule(tmp_path / "a.capsule")


def test_a_file_is_no_capsule(tmp_path: Path) -> None:
    """Nor is what is not there."""
    (tmp_path / "a").write_text("x")
    for name, message in (("a", "is a file"), ("b", "is not there")):
        with pytest.raises(InputError, match=message):
            open_capsule(tmp_path / name)


def test_reading_imports_neither_torch_nor_the_program() -> None:
    """A training that records does not load the rules, nor a refusal torch."""
    code = "import sys, postmortem.replay.capsule.opening, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"torch", "safetensors", "click", "pydantic", "hyperscan", "regex", "numpy"}
    assert {one for one in loaded if one.startswith("postmortem.")} <= {
        "postmortem.core",
        "postmortem.core.errors",
        "postmortem.replay",
        *(one for one in loaded if one.startswith("postmortem.replay.capsule")),
    }
