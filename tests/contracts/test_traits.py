"""Facts about causes are data: code names no cause, and every trait of the table is asked for."""

import ast
import json
import re
from pathlib import Path

import pytest
import yaml

from postmortem.rules.vocabulary import Trait, get_id, has_trait, list_ids

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "postmortem").rglob("*.py"))
TABLE = json.loads((ROOT / "patterns" / "traits.json").read_text(encoding="utf-8"))
CAUSES = set(
    yaml.safe_load((ROOT / "patterns" / "taxonomy.yaml").read_text(encoding="utf-8"))["causes"]
)
AREAS = {f"{cause.partition('.')[0]}." for cause in CAUSES}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_names_no_cause(module: Path) -> None:
    """No id of a cause, nor the beginning of an area's ids, stands in the code."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    named = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in CAUSES | AREAS
    ]
    assert named == []


def test_code_and_table_have_the_same_traits() -> None:
    """A trait that code asks for is in the table, and no other one is."""
    assert {trait.value for trait in Trait} == set(TABLE)


@pytest.mark.parametrize("trait", Trait, ids=lambda trait: trait.value)
def test_every_entry_fits_an_id(trait: Trait) -> None:
    """An entry begins the id of a cause or of a signature, and says what the trait means."""
    files = (ROOT / "patterns" / "signatures").rglob("*.yaml")
    signatures = {
        match
        for file in files
        for match in re.findall(r"^-? ?id: (\S+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert TABLE[trait.value]["meaning"]
    for entry in list_ids(trait):
        assert any(name.startswith(entry) for name in CAUSES | signatures), entry


def test_a_trait_of_one_cause_gives_its_id() -> None:
    """Where a trait lists several, there is no such id."""
    assert has_trait(get_id(Trait.USER_EXCEPTION), Trait.RESIDUAL)
    assert not has_trait(None, Trait.SOUND)
    with pytest.raises(ValueError, match="too many values"):
        get_id(Trait.STOPPED_ON_REQUEST)
