"""Features forget what differs from run to run; a model of other features is refused."""

import json
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.core.errors import InputError
from postmortem.diagnosis.classifier.models import load_text_model
from postmortem.diagnosis.classifier.text_features import (
    BITS,
    TextPassage,
    compute_buckets,
    extract_words,
)
from tests.diagnosis.classifier.made_models import made, written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("step 40 took 3.5 s", "step 7 took 1e-3 s"),
        ("cannot open /home/ada/run1/model.bin", "cannot open /data/x/model.bin"),
        ("at 0x7f3a", "at 0x00ff"),
        ("peer 10.0.0.7:29500 left", "peer 192.168.1.20:1234 left"),
        ("run 3f2a9c1b7d is gone", "run 99aabb0011 is gone"),
        ("\x1b[31mError\x1b[0m: bad", "Error: bad"),
    ],
)
def test_what_differs_from_run_to_run_is_the_same(one: str, other: str) -> None:
    """Figures, paths, addresses, ids, colours."""
    assert extract_words(one) == extract_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("signal 9", "signal 11"), ("exitcode: -9", "exitcode: 1"), ("loss nan", "loss 3.0")],
)
def test_what_tells_is_kept(one: str, other: str) -> None:
    """Codes of an end, and what is no number."""
    assert extract_words(one) != extract_words(other)


@given(st.lists(st.text(max_size=80), max_size=20))
def test_any_text_has_buckets_within_bounds(texts: list[str]) -> None:
    """Whatever stands in a log."""
    found = compute_buckets(TextPassage("telling", text) for text in texts)
    assert all(0 <= bucket < 1 << BITS for bucket in found)


def test_a_model_gives_shares_that_add_up(tmp_path: Path) -> None:
    """The cause whose words are there has the largest."""
    model = load_text_model(written(tmp_path, {"walrus": "io.storage", "otter": "config.rl"}))
    shares = model.shares(compute_buckets([TextPassage("last", "the walrus is asleep")]))
    assert sum(shares.values()) == pytest.approx(1.0)
    assert max(shares, key=lambda cause: shares[cause]) == "io.storage"


@pytest.mark.parametrize("changed", [{"features": 99}, {"format": 1}, {"bits": 20}])
def test_other_features_are_refused(tmp_path: Path, changed: dict[str, int]) -> None:
    """With a sentence that says which, and what to do."""
    with pytest.raises(InputError, match=r"was trained for .*train it again"):
        load_text_model(written(tmp_path, {"a": "io.storage"}, **changed))


@pytest.mark.parametrize("keep", [0, 4, 100, 5000, -1])
def test_a_damaged_model_is_refused(tmp_path: Path, keep: int) -> None:
    """Empty, cut off anywhere."""
    path = tmp_path / "cut.safetensors"
    path.write_bytes(made({"a": "io.storage"})[:keep])
    with pytest.raises(InputError, match="cannot be used"):
        load_text_model(path)


class _Armed:
    """What would run if a model were unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Say what is called."""
        return exec, ("raise SystemExit('unpickled')",)


def _headed(header: str) -> bytes:
    """A file with a header."""
    return len(header).to_bytes(8, "little") + header.encode() + bytes(99)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(pickle.dumps(_Armed()), id="a pickle"),
        pytest.param((300).to_bytes(8, "little") + pickle.dumps(_Armed()) * 9, id="in disguise"),
        pytest.param(b"PK\x03\x04" + bytes(4000), id="an archive, as torch.save writes"),
        pytest.param((2).to_bytes(8, "little") + b"{}", id="safetensors without our part"),
        pytest.param((4).to_bytes(8, "little") + b"null" + bytes(99), id="no object"),
        pytest.param((2).to_bytes(8, "little") + b"[]" + bytes(99), id="a list"),
        pytest.param(_headed("[" * 200_000), id="a header nested 200,000 levels"),
        pytest.param(_headed('{"a":' * 200_000), id="mappings nested 200,000 levels"),
        pytest.param(_headed('{"__metadata__": []}'), id="a list for the metadata"),
        pytest.param(_headed('{"__metadata__": {"postmortem": 3}}'), id="a number for our part"),
        pytest.param(
            _headed(json.dumps({"__metadata__": {"postmortem": "[" * 200_000}})),
            id="our part nested 200,000 levels",
        ),
    ],
)
def test_what_is_no_model_is_never_run(tmp_path: Path, content: bytes) -> None:
    """It is read as safetensors, or refused in a sentence."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="it is no model of this program"):
        load_text_model(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"bias": [1.0, 2.0, 3.0]},
        {"bias": ["x"]},
        {"bias": None},
        {"scale": [float("nan")]},
        {"calibration": {"sharpness": float("inf"), "alone": [0, 1]}},
        {"calibration": {"sharpness": 1, "alone": [0]}},
        {"calibration": []},
        {"causes": 3},
        {"causes": []},
    ],
)
def test_figures_that_do_not_fit_are_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    """Too many, none, or not finite: when the file is opened, not in the middle of an analysis."""
    with pytest.raises(InputError, match="it is no model of this program"):
        load_text_model(written(tmp_path, {"a": "io.storage"}, **changed))


def test_noise_is_refused(tmp_path: Path) -> None:
    """A file of another kind."""
    path = tmp_path / "noise.safetensors"
    path.write_bytes(random.Random(3).randbytes(4000))
    with pytest.raises(InputError, match="cannot be used"):
        load_text_model(path)
