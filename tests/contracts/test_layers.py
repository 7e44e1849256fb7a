"""Imports go down only, no module is part of a cycle, and each says what it is for."""

import ast
import graphlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "postmortem"
LAYERS = (
    ("core",),
    ("core.host", "replay.capsule"),
    ("reading", "replay.recorder", "replay.rerun"),
    ("rules", "report.redaction"),
    ("extraction.formats", "report"),
    ("extraction.facts",),
    ("extraction",),
    ("diagnosis.detectors",),
    ("diagnosis.case",),
    ("diagnosis.classifier",),
    ("diagnosis.inference",),
    ("diagnosis.fixes",),
    ("diagnosis.story",),
    ("pipeline",),
    (
        "fleet.store",
        "interfaces.compare",
        "interfaces.notify",
        "interfaces.share",
        "interfaces.trackers",
        "interfaces.watch",
        "learn",
    ),
    ("fleet", "interfaces.bots"),
    ("api",),
    ("__init__", "recorder"),
    ("interfaces.http", "interfaces.mcp"),
    ("interfaces.cli",),
    ("__main__",),
)
LAYER = {name: height for height, layer in enumerate(LAYERS) for name in layer}
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


def find_layer(dotted: str) -> str:
    """Find the part of the package that a dotted name belongs to: the longest that is listed."""
    parts = dotted.split(".")[1:]
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in LAYER), "__init__")


def dotted_name(module: Path) -> str:
    """The dotted name of a file."""
    parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(module: Path) -> None:
    """A module imports from its own part of the package or from lower ones, never sideways or up."""
    if module.name == "__init__.py" and module.parent.name in {"diagnosis", "interfaces", "replay"}:
        assert imported(module) == set()
        return
    own = find_layer(dotted_name(module))
    climbs = {
        name
        for name in map(find_layer, imported(module))
        if name != own and LAYER[name] >= LAYER[own]
    }
    assert not climbs, f"{own} must not import {sorted(climbs)}"


def test_no_module_is_part_of_a_cycle() -> None:
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


def test_every_package_has_a_layer() -> None:
    """A new package is given its place here, and no place is left for one that is gone."""
    parents = {"diagnosis", "interfaces", "replay"}
    found = {find_layer(dotted_name(path)) for path in MODULES if path.parent.name not in parents}
    assert found == set(LAYER)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_it_is_for(module: Path) -> None:
    """Each module opens with a docstring."""
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
