"""Installed versions that do not fit, and the nearest that do; and the data that tell it."""

import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from postmortem.extraction.facts.version_needs import find_compatible_versions, find_unmet

FILE = Path(__file__).resolve().parents[3] / "patterns" / "versions.json"
DATA = json.loads(FILE.read_text(encoding="utf-8"))
LARGEST = 300_000


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        ({"torch": "2.5.0+cu124", "torchvision": "0.19.0"}, [("torchvision", "torch", True)]),
        ({"torch": "2.4.0", "torchvision": "0.20.0"}, [("torchvision", "torch", False)]),
        ({"torch": "2.5.0+cu124", "torchvision": "0.20.0"}, []),
        (
            {"transformers": "4.46.1", "tokenizers": "0.19.1"},
            [("transformers", "tokenizers", False)],
        ),
        (
            {"transformers": "4.46.0", "tokenizers": "0.19.1"},
            [("transformers", "tokenizers", False)],
        ),
        ({"transformers": "4.46.1", "tokenizers": "0.20.3"}, []),
        (
            {"transformers": "4.46.1", "huggingface-hub": "1.2.0"},
            [("transformers", "huggingface-hub", True)],
        ),
        ({"torch-npu": "2.1.0.post8", "torch": "2.4.0"}, [("torch-npu", "torch", True)]),
        ({"torch": "2.5.0a0+b465a5843b.nv24.09", "torchvision": "0.19.0"}, []),
        ({"torch": "99.0", "torchvision": "0.19.0"}, [("torchvision", "torch", True)]),
        ({"torch": "2.5.0", "torchvision": "0.99.0"}, []),
        ({"torch": "not a version", "torchvision": "0.19.0"}, []),
        ({"torch": "2.5.0"}, []),
        ({}, []),
    ],
)
def test_what_is_asked_and_not_met(
    packages: dict[str, str], expected: list[tuple[str, str, bool]]
) -> None:
    """Who asks, what for, and whether that is too new; a build from source is not judged."""
    found = [(one.asking, one.asked, one.is_too_new) for one in find_unmet(packages, "3.10.14")]
    assert found == expected


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        pytest.param(
            {"torch": "2.5.0+cu124", "torchvision": "0.19.0"},
            {"torchvision": "0.20.0"},
            id="the smaller one is changed",
        ),
        pytest.param(
            {"torch": "2.5.1", "torchvision": "0.19.1", "torchaudio": "2.4.1", "triton": "3.0.0"},
            {"torchaudio": "2.5.1", "torchvision": "0.20.1", "triton": "3.1.0"},
            id="all that hang on one",
        ),
        pytest.param(
            {"transformers": "4.46.1", "tokenizers": "0.19.1"},
            {"tokenizers": "0.20.3"},
            id="the last patch release of the nearest",
        ),
        pytest.param(
            {"trl": "0.20.0", "transformers": "4.46.1", "accelerate": "0.34.0"},
            {"trl": "0.17.0"},
            id="one change that meets several",
        ),
        pytest.param(
            {"pandas": "2.1.4", "numpy": "2.1.0"},
            {"pandas": "2.2.3"},
            id="never an older one that merely names no bound",
        ),
        pytest.param({"torch": "2.5.0", "torchvision": "0.20.0"}, {}, id="nothing to change"),
    ],
)
def test_the_nearest_versions_that_fit(packages: dict[str, str], expected: dict[str, str]) -> None:
    """And with them nothing is unmet."""
    found = find_compatible_versions(packages, "3.10.14")
    assert found == expected
    assert find_unmet({**packages, **found}, "3.10.14") == []


def test_a_version_that_this_python_cannot_have_is_not_offered() -> None:
    """Python 3.8 gets no tokenizers that asks for 3.9."""
    packages = {"transformers": "4.57.1", "tokenizers": "0.19.1"}
    assert find_compatible_versions(packages, "3.12.1") != find_compatible_versions(
        packages, "3.7.1"
    )


def test_the_data_are_small_dated_and_readable() -> None:
    """Each row is of versions and requirements that can be read, among the packages of the file."""
    assert FILE.stat().st_size <= LARGEST
    assert len(DATA["date"].split("-")) == 3
    packages = DATA["packages"]
    for rows in packages.values():
        versions = [Version(text) for row in rows for text in row["versions"]]
        assert versions == sorted(set(versions))
        needs = [Requirement(text) for row in rows for text in row["needs"]]
        assert {need.name for need in needs} <= set(packages)
