"""Imports go down only, no module is part of a cycle, and each says what it is for."""

import ast
import functools
import graphlib
import re
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
    ("fleet",),
    ("interfaces.bots",),
    ("api",),
    ("__init__", "recorder"),
    ("interfaces.http", "interfaces.mcp"),
    ("interfaces.cli",),
    ("__main__",),
)
LAYER = {name: height for height, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(PACKAGE.rglob("*.py"))


def dotted_name(module: Path) -> str:
    """The dotted name of a file, without `__init__`."""
    parts = module.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


NAMES = {dotted_name(path): path for path in MODULES}
_DOTTED = re.compile(r"postmortem(?:\.\w+)+")


def imported(module: Path) -> set[str]:
    """Every module of ours that a module imports, by dotted name.

    Imports inside functions and under TYPE_CHECKING count too, and so does a module that is named
    by a string, as `import_module` and tables of modules name it.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    dotted = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    dotted |= {
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    dotted = {name for name in dotted if name.split(".")[0] == "postmortem"}
    return dotted | named_by_strings(nodes, dotted_name(module))


def named_by_strings(nodes: list[ast.AST], own: str) -> set[str]:
    """The modules of ours whose names strings hold; each that an f-string may name.

    Names of loggers import nothing.
    """
    logged = {
        id(argument)
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("getLogger")
        for argument in node.args
    }
    texts = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in logged
        and _DOTTED.fullmatch(node.value)
    }
    patterns = [
        "".join(map(functools.partial(as_pattern, own=own), node.values))
        for node in nodes
        if isinstance(node, ast.JoinedStr)
    ]
    built = [re.compile(one) for one in patterns if one.startswith("postmortem")]
    return {text for text in texts if text in NAMES or text.rpartition(".")[0] in NAMES} | {
        name for name in NAMES for pattern in built if pattern.fullmatch(name)
    }


def as_pattern(part: ast.expr, own: str) -> str:
    """A part of an f-string as a pattern: `__name__` is known, another value is one name."""
    if isinstance(part, ast.Constant):
        return re.escape(str(part.value))
    is_own = isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__"
    return re.escape(own) if is_own else r"\w+"


def find_layer(dotted: str) -> str:
    """Find the part of the package that a dotted name belongs to: the longest that is listed."""
    parts = dotted.split(".")[1:]
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in LAYER), "__init__")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param(
            'import_module("postmortem.report.wire")', {"postmortem.report.wire"}, id="a call"
        ),
        pytest.param(
            'FORMS = {"page": ("postmortem.report.page.html", "render_html")}',
            {"postmortem.report.page.html"},
            id="a table",
        ),
        pytest.param(
            'NAME = "postmortem.api.analyze"', {"postmortem.api.analyze"}, id="an attribute"
        ),
        pytest.param(
            'import_module(f"postmortem.interfaces.cli.{name}_command").command',
            {name for name in NAMES if re.search(r"\.cli\.[a-z]+_command$", name)},
            id="an f-string",
        ),
        pytest.param(
            'import_module(f"{__name__}.{PLACES[name]}")',
            {name for name in NAMES if name.rpartition(".")[0] == "postmortem.replay.recorder"},
            id="below the module itself",
        ),
        pytest.param('logging.getLogger("postmortem.recorder")', set(), id="a logger"),
        pytest.param('SCHEMA = "postmortem.report/1"', set(), id="a schema"),
    ],
)
def test_a_module_named_by_a_string_is_imported(source: str, found: set[str]) -> None:
    """What is imported late by its name counts as any other import."""
    nodes = list(ast.walk(ast.parse(source)))
    assert named_by_strings(nodes, "postmortem.replay.recorder") == found


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
    """Counting late and TYPE_CHECKING imports, and those by a string, the modules have an order."""
    graph = {}
    for name, path in NAMES.items():
        targets = {
            target if target in NAMES else target.rpartition(".")[0] for target in imported(path)
        }
        graph[name] = {
            target for target in targets if target in NAMES and target not in {name, "postmortem"}
        }
    graphlib.TopologicalSorter(graph).prepare()


def test_every_package_has_a_layer() -> None:
    """A new package is given its place here, and no place is left for one that is gone."""
    parents = {"diagnosis", "interfaces", "replay"}
    found = {
        find_layer(dotted_name(path))
        for path in MODULES
        if path.name != "__init__.py" or path.parent.name not in parents
    }
    assert found == set(LAYER)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_says_what_it_is_for(module: Path) -> None:
    """Each module opens with a docstring."""
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
