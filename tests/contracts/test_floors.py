"""The house: imports go down only, nothing runs in circles, files and functions stay small."""

import ast
import graphlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
FLOORS = (
    ("lazy_regex",),
    ("errors", "names", "model"),
    ("resources", "host", "capsule"),
    ("reading", "recorder", "replay"),
    ("knowledge", "redaction"),
    ("formats", "report"),
    ("facts",),
    ("gathering",),
    ("shapes",),
    ("case",),
    ("classify",),
    ("inference",),
    ("fixes",),
    ("story",),
    ("pipeline",),
    ("api",),
    ("__init__",),
    ("compare", "learn", "notices", "share", "store", "trackers", "watch"),
    ("bots", "triage"),
    ("assistant", "service"),
    ("cli",),
    ("__main__",),
)
FLOOR = {name: height for height, floor in enumerate(FLOORS) for name in floor}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(module: Path) -> set[str]:
    """Every module of ours that a module imports, by dotted name.

    Imports inside functions and under TYPE_CHECKING count too.
    """
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    dotted = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    dotted += [
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
    return {name for name in dotted if name.split(".")[0] == "postmortem"}


def room(dotted: str) -> str:
    """The room of a dotted name; a name exported by the package itself belongs to the package."""
    part = [*dotted.split("."), ""][1]
    return part if part in FLOOR else "__init__"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_lower_floors(module: Path) -> None:
    """A module imports from its own room or from a floor below, never sideways or up."""
    own = module.relative_to(PACKAGE).with_suffix("").parts[0]
    climbs = {
        name for name in map(room, imported(module)) if name != own and FLOOR[name] >= FLOOR[own]
    }
    assert not climbs, f"{own} must not import {sorted(climbs)}"


def test_no_module_is_part_of_a_circle() -> None:
    """Counting late and TYPE_CHECKING imports, the modules can be put in an order."""
    names = {
        ".".join(("postmortem", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in MODULES
    }
    graph = {}
    for name, path in names.items():
        targets = {
            target if target in names else target.rpartition(".")[0] for target in imported(path)
        }
        graph[name] = {
            target for target in targets if target in names and target not in {name, "postmortem"}
        }
    graphlib.TopologicalSorter(graph).prepare()


def test_every_room_has_a_floor() -> None:
    """A new room is given its floor here, and a floor names no room that is gone."""
    rooms = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert rooms == set(FLOOR)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_it_is_for(module: Path) -> None:
    """Each module opens with a docstring."""
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
