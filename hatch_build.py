"""Build hook: compile `patterns/` into one JSON inside the wheel, so that a start needs no YAML.

In: the checkout. Out: `postmortem/_data/knowledge.json` in the wheel, the snippets of each
stack and the version beside it. Not here: an editable install, which reads `patterns/` itself.
"""

import importlib
import json
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompilePatterns(BuildHookInterface[Any]):
    """Adds the compiled knowledge base to a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compiled form and have it included."""
        if version == "editable":
            return
        root = Path(self.root)
        compiler = _compiler(root)
        folder = Path(tempfile.mkdtemp(prefix="postmortem-build-"))
        target = folder / "knowledge.json"
        value = compiler.strip_examples(compiler.compile_folders([root / "patterns"]))
        included = build_data["force_include"]
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


def _compiler(root: Path) -> Any:
    """Import the compiler alone: the package needs libraries that a build environment lacks."""
    package = types.ModuleType("postmortem")
    package.__path__ = [str(root / "postmortem")]
    sys.modules["postmortem"] = package
    return importlib.import_module("postmortem.rules.compile")
