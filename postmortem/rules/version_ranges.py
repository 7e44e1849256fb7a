"""Ranges of versions in rules, checked as the ecosystem reads them.

In: a rule as it stands in YAML. Out: faults. Not here: comparing the versions of a run
(`inference.matching`), which takes what was written by `patterns check` to be sound.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

_VERSIONS_OF_MACHINE: Final = ("python", "cuda", "driver")


def find_version_faults(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what stands in place of a version or a range and is none, and how to mend it."""
    for value in _iter_ranges(rule):
        for one in value if isinstance(value, list) else [value]:
            if not _is_range(str(one).strip()):
                yield (
                    f"no version and no range of versions: {one!r}",
                    "write '2.5' (it and all below it), '>= 2.5, < 2.6', any, or '~regex'",
                )


def _iter_ranges(value: Any) -> Iterator[Any]:
    """Yield what is compared with versions: of advisories, and of predicates however deep."""
    if isinstance(value, list):
        for one in value:
            yield from _iter_ranges(one)
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        if key == "range":
            yield inner
        elif key in {"with", "package"} and isinstance(inner, Mapping):
            yield from inner.values()
        elif key == "env" and isinstance(inner, Mapping):
            yield from (inner[name] for name in _VERSIONS_OF_MACHINE if name in inner)
        elif key != "examples":
            yield from _iter_ranges(inner)


def _is_range(text: str) -> bool:
    if text.startswith("~"):
        return not text.startswith("~=")  # a regex to the program, a range to whoever wrote it
    if text == "any":
        return True
    try:
        SpecifierSet(text if text[:1] in "=!<>" else f"=={text}.*")
    except InvalidSpecifier:
        return False
    return True
