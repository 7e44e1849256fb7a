"""Write a capsule atomically.

In: a manifest and its tensors. Out: the folder. Not here: what to record (the recorder).

All files go into a temporary folder next to the target that is then renamed, so that a killed
process leaves nothing that looks like a capsule.
"""

import dataclasses
import importlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from postmortem.replay.capsule.json_values import convert_to_json
from postmortem.replay.capsule.manifest import FILES, Manifest, StoredFile
from postmortem.replay.capsule.opening import MANIFEST, compute_file_sha256

Tensors = Mapping[str, Any]


def write_capsule(target: Path | str, manifest: Manifest, tensors: Mapping[str, Tensors]) -> Path:
    """Write a capsule; gives its folder, with a number if the name is taken.

    Args:
        target: the folder; its name should end in `.capsule`.
        manifest: all that is known; `files` is filled in here.
        tensors: of each file (`WEIGHTS_FILE` …) its tensors by key, contiguous, on the CPU and none
            sharing memory with another. An empty file is not written.

    Raises:
        OSError: it cannot be written; nothing is left behind.
        ValueError: a file or a value that no capsule holds.
    """
    folder = Path(target).resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".part", dir=folder.parent))
    try:
        kept = {name: _write_tensors(part / name, held) for name, held in tensors.items() if held}
        whole = dataclasses.replace(manifest, files=kept)
        text = json.dumps(convert_to_json(whole), allow_nan=False, ensure_ascii=False, indent=1)
        _put(part / MANIFEST, text.encode("utf-8", "surrogatepass"))
        return _take_name(part, folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _write_tensors(file: Path, held: Tensors) -> StoredFile:
    if file.name not in FILES:
        raise ValueError(f"a capsule has no file {file.name!r}")
    importlib.import_module("safetensors.torch").save_file(dict(held), file)
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    return StoredFile(file.stat().st_size, compute_file_sha256(file))


def _put(file: Path, data: bytes) -> None:
    with file.open("wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _take_name(part: Path, folder: Path) -> Path:
    """Give the finished folder its name, or the next that is free."""
    part.chmod(0o700)
    for number in range(1, 1000):
        name = folder if number == 1 else folder.with_name(f"{folder.stem}-{number}{folder.suffix}")
        if name.exists():
            continue
        try:
            part.rename(name)
        except OSError:
            if not name.exists():
                raise
            continue
        return name
    raise FileExistsError(f"a thousand capsules lie beside {folder}")
