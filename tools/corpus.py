"""What inputs of a fuzz are made of: samples, dumps, rules and their examples.

In: the checkout. Out: paths, bytes, texts. Not here: changing them (`changes`).
"""

import gzip
from functools import cache
from pathlib import Path
from typing import Final

from postmortem.rules.base import load

ROOT: Final = Path(__file__).resolve().parents[1]


@cache
def samples() -> tuple[tuple[Path, ...], ...]:
    """The samples of the checkout: the files of each case, a dump last."""
    cases = []
    for label in sorted((ROOT / "sample_logs").rglob("*.yaml")):
        if "lab" in label.relative_to(ROOT / "sample_logs").parts:
            continue
        folder, dump = label.with_suffix(""), label.with_suffix(".env")
        files = (
            sorted(path for path in folder.rglob("*") if path.is_file())
            if folder.is_dir()
            else [label.with_suffix(".log")]
        )
        cases.append(
            (*(path for path in files if path.is_file()), *([dump] if dump.is_file() else []))
        )
    return tuple(case for case in cases if case)


@cache
def dumps() -> tuple[bytes, ...]:
    """Environment dumps as many programs print them."""
    return tuple(
        path.read_bytes()
        for path in sorted((ROOT / "tests" / "extraction" / "formats" / "dumps").glob("*.txt"))
    )


@cache
def examples() -> tuple[str, ...]:
    """What the rules' examples say, those that fire and those that do not."""
    found = []
    for rule in (*load().signatures, *load().formats):
        texts = rule.raw.get("examples", {})
        found += [entry["text"] for entry in (*texts.get("fires", ()), *texts.get("silent", ()))]
    return tuple(found)


@cache
def rules() -> tuple[tuple[str, ...], ...]:
    """The pattern of each rule, with its anchors."""
    return tuple(
        (rule.match, *(anchor.decode() for anchor in rule.anchors))
        for rule in (*load().signatures, *load().formats)
    )


def text_of(path: Path) -> str:
    """Read a sample as text."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
