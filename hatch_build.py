"""Build hook: compile the catalogue of texts, and `patterns/` into one JSON inside the wheel.

In: the checkout. Out: `postmortem.mo` in the wheel, of an editable install in the checkout; in the
wheel `postmortem/_data/knowledge.json` too, so that a start needs no YAML, the snippets of each
stack and the version beside it. Not here: `patterns/` in an editable install, which reads them.
"""

import importlib
import json
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CATALOGUE = Path("postmortem", "locale", "zh", "LC_MESSAGES", "postmortem.mo")


class CompilePatterns(BuildHookInterface[Any]):
    """Adds the compiled catalogue and knowledge base to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compiled forms and have them included."""
        root = Path(self.root)
        if version == "editable":
            _compile_catalogue(root, root / _CATALOGUE)
            return
        compiler = _compiler(root)
        folder = Path(tempfile.mkdtemp(prefix="postmortem-build-"))
        target = folder / "knowledge.json"
        value = compiler.strip_examples(compiler.compile_folders([root / "patterns"]))
        included = build_data["force_include"]
        _compile_catalogue(root, folder / _CATALOGUE.name)
        included[str(folder / _CATALOGUE.name)] = str(_CATALOGUE)
        for stack in value["stacks"]:  # a run reads those of the stacks that it shows
            apart = folder / f"{stack['id']}.json"
            apart.write_text(stack.pop("snippets"), encoding="utf-8")
            stack["apart"] = True
            included[str(apart)] = f"postmortem/_data/stacks/{apart.name}"
        target.write_text(json.dumps(value), encoding="ascii")  # read in half the time of UTF-8
        included[str(target)] = "postmortem/_data/knowledge.json"
        told = folder / "version.txt"  # to ask the installation for it takes 15 ms of a start
        told.write_text(self.metadata.version, encoding="utf-8")
        included[str(told)] = "postmortem/_data/version.txt"


def _compile_catalogue(root: Path, target: Path) -> None:
    """Write the catalogue in the form that the standard library reads."""
    with (root / _CATALOGUE.with_suffix(".po")).open("rb") as source:
        catalogue = read_po(source, locale="zh")
    with target.open("wb") as stream:
        write_mo(stream, catalogue)


def _compiler(root: Path) -> Any:
    """Import the compiler alone: the package needs libraries that a build environment lacks."""
    package = types.ModuleType("postmortem")
    package.__path__ = [str(root / "postmortem")]
    sys.modules["postmortem"] = package
    return importlib.import_module("postmortem.rules.compile")
