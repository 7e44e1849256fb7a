"""Turn pattern folders into one plain JSON value with its hash.

In: folders of the shape that `patterns/README.md` describes. Out: {"hash", "date", "signatures",
"causes", "fixes", "advisories", "formats", "taxonomy", "gpus"}, ready for `json.dump`. Not here:
checks (`knowledge.check`); the compiled form of a faulty folder is faulty too. A build hook writes
this value into the wheel, so that a start needs no YAML.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from postmortem.errors import PatternError
from postmortem.knowledge.yamlfile import read_yaml

KINDS = ("signatures", "causes", "fixes", "advisories", "formats")


def compile_folders(folders: Iterable[Path]) -> dict[str, Any]:
    """Merge the folders in order; a later folder adds rules and may replace one of the same id.

    Raises:
        PatternError: a file is not valid YAML.
    """
    rules: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    taxonomy: dict[str, Any] = {"date": "undated", "causes": {}, "precedence": []}
    gpus: list[Any] = []
    for root in folders:
        for kind in KINDS:
            for path, entry in entries(root / kind):
                rules[kind][_id(path, entry)] = {
                    **entry,
                    "file": f"{kind}/{path.relative_to(root / kind)}",
                }
        _extend(taxonomy, root / "taxonomy.yaml")
        if (root / "gpus.yaml").is_file():
            gpus.extend(read_yaml(root / "gpus.yaml") or [])
    value: dict[str, Any] = {
        kind: [rules[kind][key] for key in sorted(rules[kind])] for kind in KINDS
    }
    value |= {"taxonomy": taxonomy, "gpus": gpus}
    return {"hash": _hash(value), **value}


def entries(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every rule of a folder with its file, in a fixed order.

    A file holds one rule or a list.
    """
    for path in sorted(folder.rglob("*.yaml")):
        content = read_yaml(path)
        for entry in content if isinstance(content, list) else [content]:
            if isinstance(entry, dict):
                yield path, entry
            elif entry is not None:
                raise PatternError(
                    "a rule must be a mapping", path, "see patterns/README.md for the shape"
                )


def _id(path: Path, entry: dict[str, Any]) -> str:
    if not isinstance(entry.get("id"), str):
        raise PatternError("a rule has no id", path, "add `id: <area>.<name>`")
    return str(entry["id"])


def _extend(taxonomy: dict[str, Any], path: Path) -> None:
    if path.is_file():
        content = read_yaml(path) or {}
        taxonomy["causes"].update(content.get("causes") or {})
        taxonomy["precedence"].extend(content.get("precedence") or [])
        taxonomy["date"] = str(content.get("date", taxonomy["date"]))


def _hash(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
