"""What a release says of itself is so: versions, changelog, dependencies, image, model card."""

import hashlib
import re
import struct
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import wheel_table
from packaging.markers import default_environment
from packaging.requirements import Requirement

from postmortem.diagnosis.classifier import text_features
from postmortem.diagnosis.classifier.models import load_text_model
from postmortem.diagnosis.inference import certainty, second_opinion

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
MACHINES = {machine for machine, _ in wheel_table.PLATFORMS.values()}


def said(pattern: str, text: str = PYPROJECT) -> str:
    """What a text says where a pattern holds."""
    found = re.search(pattern, text, re.MULTILINE)
    assert found, pattern
    return found[1]


def test_the_changelog_tells_of_the_version() -> None:
    """Below what is not released; each section once, newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[([^\]]+)\]", text, re.MULTILINE)
    assert sections[:2] == ["Unreleased", said(r'^version = "(.+)"')]
    assert len({*sections}) == len(sections)


def constraints() -> list[Requirement]:
    """The lines of constraints.txt."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]


def applies(one: Requirement, python: str, machine: str) -> bool:
    """Whether a line or a dependency counts there."""
    there = dict(default_environment()) | {
        "python_version": python,
        "python_full_version": f"{python}.1",
        "platform_machine": machine,
    }
    return one.marker is None or one.marker.evaluate(there)  # type: ignore[arg-type]


@pytest.mark.parametrize(("python", "machine"), [*product(wheel_table.PYTHONS, sorted(MACHINES))])
def test_the_constraints_can_be_met(python: str, machine: str) -> None:
    """Each dependency has one version there, and it is one that is asked for."""
    pinned: dict[str, list[str]] = {}
    for line in constraints():
        if applies(line, python, machine):
            (pin,) = line.specifier
            assert pin.operator == "=="
            pinned.setdefault(line.name.replace("_", "-").lower(), []).append(pin.version)
    assert [name for name, versions in pinned.items() if len(versions) != 1] == []
    asked = [one for one in wheel_table.requirements() if applies(one, python, machine)]
    assert asked
    for one in asked:
        (version,) = pinned.get(one.name.replace("_", "-").lower(), [""])
        assert one.specifier.contains(version, prereleases=True), one


@pytest.mark.parametrize("page", wheel_table.PAGES, ids=lambda page: page.name)
def test_the_table_of_wheels_is_of_the_dependencies(page: Path) -> None:
    """One row for each, and a wheel wherever it is needed."""
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", text.split("<!-- wheels")[1], re.MULTILINE)
    asked = {one.name: one for one in wheel_table.requirements()}
    assert [name for name, _ in rows] == [*asked]
    for name, cells in rows:
        needed = [
            wheel_table.is_needed(asked[name], machine)
            for machine, _ in wheel_table.PLATFORMS.values()
        ]
        whole = f"{wheel_table.PYTHONS[0]}–{wheel_table.PYTHONS[-1]}"
        assert cells.split(" | ") == [whole if is_so else "–" for is_so in needed], name


def test_the_table_tells_what_is_missing() -> None:
    """Not needed is not the same as not there."""
    found = {"a": {"Linux x86_64": ["3.10"], "macOS arm64": []}}
    assert [*wheel_table.lines(found)][2] == "| `a` | 3.10 | – | ✗ | – | – |"


def test_the_image_runs_as_nobody_and_gets_what_it_is_made_of() -> None:
    """Nothing else reaches the builder."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["65532:65532"]
    assert said(r"^ARG EXTRAS=(\w+)$", text) in PYPROJECT
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    included = {*re.findall(r'^"(\w+)" = "postmortem/_data', PYPROJECT, re.MULTILINE)}
    made_of = {"postmortem", "hatch_build.py", "pyproject.toml", "constraints.txt"}
    assert let_in == included | made_of | {said(r'^readme = "(.+)"'), "LICENSE"}
    assert "*" in ignored


@pytest.fixture(scope="module")
def card() -> str:
    """The model card."""
    return (ROOT / "MODEL_CARD.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["text.safetensors", "evidence.json", "curves.json"])
def test_the_card_is_of_the_shipped_models(name: str, card: str) -> None:
    """A model that is trained anew needs its figures measured anew."""
    digest = hashlib.sha256((ROOT / "models" / name).read_bytes()).hexdigest()
    assert f"`models/{name}` `{digest[:16]}`" in card


def test_the_card_tells_the_form_of_the_models(card: str) -> None:
    """Sizes, number of causes, buckets and bounds are those of file and code."""
    path = ROOT / "models" / "text.safetensors"
    model = load_text_model(path)
    with path.open("rb") as file:
        (header,) = struct.unpack("<Q", file.read(8))
    assert header < path.stat().st_size
    facts: dict[str, Any] = {
        f"labelled logs of {len(model.causes)} causes": "causes",
        f"2^{text_features.BITS} buckets": "buckets",
        f"{text_features._GRAM}-grams": "parts of words",
        f"{path.stat().st_size / 1e6:.1f} MB": "size",
        f"JSON of {(ROOT / 'models' / 'evidence.json').stat().st_size} bytes": "size",
        f"at most {second_opinion._MOST} in log-odds": "weight",
        f"with {second_opinion._SPEAKS} or more": "where it speaks",
        f"at most {certainty.UNCONFIRMED} where": "bound",
    }
    assert [fact for fact in facts if fact not in card] == []


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_leads_to_the_figures(name: str) -> None:
    """Accuracy by cause, and of the models."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "](MODEL_CARD.md)" in text
    assert re.search(r"\]\(docs/causes(?:\.zh)?\.md\)", text)
    assert "constraints.txt" in text
