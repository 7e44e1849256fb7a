"""Find requirements that installed versions do not meet, and the nearest versions that fit.

In: the versions of a dump; `patterns/versions.json`, what released versions ask by their own
metadata. Out: `UnmetRequirement`s, the versions to install. Not here: whether the run
failed by it (`detectors.installed_packages`), renewing the data (`tools/renew_versions.py`).

A version that is not in the data, a build from source among them, is not judged.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from postmortem.core import resources

_HEAVY: Final[Mapping[str, int]] = {"vllm": 1, "numpy": 2, "ray": 2, "transformers": 3, "torch": 4}
"""What much else depends on: of two packages the lighter is changed."""
_MOST_CHANGES: Final = 8
_LINUX: Final = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}


class UnmetRequirement(NamedTuple):
    """A requirement that an installed version does not meet."""

    asking: str
    asking_version: str
    asked: str
    asked_version: str
    wanted: str
    """As the package that asks has it: `==2.4.0`."""
    is_too_new: bool
    """Whether what is installed is newer than what is asked for, rather than older."""


Versions = Mapping[str, Version]


def find_unmet(packages: Mapping[str, str], python: str | None = None) -> list[UnmetRequirement]:
    """Give the requirements among installed versions that are not met."""
    installed = dict(_iter_known_versions(packages))
    return [
        UnmetRequirement(
            name,
            str(installed[name]),
            need.name,
            packages[need.name],
            str(need.specifier),
            is_too_new=_is_too_new(need, installed[need.name]),
        )
        for name, need in _iter_unmet(installed, python)
    ]


def find_compatible_versions(
    packages: Mapping[str, str], python: str | None = None
) -> dict[str, str]:
    """Give the nearest versions with which what is not met is met, by package.

    Of two packages the lighter is changed, or the other if no version of it fits.
    """
    return dict(_search_compatible_versions(tuple(packages.items()), python))


@functools.lru_cache(maxsize=8)
def _search_compatible_versions(
    packages: tuple[tuple[str, str], ...], python: str | None
) -> Mapping[str, str]:
    installed, changes = dict(_iter_known_versions(dict(packages))), dict[str, Version]()
    for _ in range(_MOST_CHANGES):
        sides = _find_change_directions(installed, python)
        order = sorted(sides, key=lambda name: (_HEAVY.get(name, 0), -len(sides[name]), name))
        found = next(
            (
                (name, version)
                for name in order
                if (version := _find_nearest_version(name, sides[name], installed, python))
                is not None
            ),
            None,
        )
        if found is None:
            break
        installed[found[0]] = changes[found[0]] = found[1]
    return {name: str(version) for name, version in changes.items()}


def _find_change_directions(installed: Versions, python: str | None) -> dict[str, list[int]]:
    """Tell for each package of what is not met whether a newer or an older version is needed.

    Old releases name no upper bound for what did not exist yet, so a package for which another is
    too new is never made older.
    """
    sides: dict[str, list[int]] = {}
    for name, need in _iter_unmet(installed, python):
        side = 1 if _is_too_new(need, installed[need.name]) else -1
        sides.setdefault(name, []).append(side)
        sides.setdefault(need.name, []).append(-side)
    return sides


def _find_nearest_version(
    package: str, sides: list[int], installed: Versions, python: str | None
) -> Version | None:
    """Give the nearest version that leaves nothing unmet: of its minor release the last."""
    if len(set(sides)) > 1:
        return None
    present = installed[package]
    near = sorted(
        version
        for text, row in _get_requirement_rows(package).items()
        if not row.get("withdrawn") and ((version := Version(text)) > present) == (sides[0] > 0)
        if version != present
    )
    first = next(
        (
            version
            for version in (near if sides[0] > 0 else reversed(near))
            if _is_compatible(package, version, installed, python)
        ),
        None,
    )
    return first and max(
        version
        for version in near
        if version.release[:2] == first.release[:2]
        and _is_compatible(package, version, installed, python)
    )


def _is_compatible(package: str, version: Version, installed: Versions, python: str | None) -> bool:
    """Say whether a version would leave nothing unmet on either side of it."""
    asks = SpecifierSet(_get_requirement_rows(package)[str(version)]["python"])
    if python is not None and not asks.contains(python, prereleases=True):
        return False
    tried = {**installed, package: version}
    return not any(package in {name, need.name} for name, need in _iter_unmet(tried, python))


def _iter_unmet(installed: Versions, python: str | None) -> Iterator[tuple[str, Requirement]]:
    """Yield what is asked and not met: by whom, and what."""
    for name, version in installed.items():
        for need in _needs(name, str(version)):
            present = installed.get(need.name)
            if present is None or need.specifier.contains(present, prereleases=True):
                continue
            if need.marker is None or (python is not None and _is_applicable(need, python)):
                yield name, need


def _is_applicable(need: Requirement, python: str) -> bool:
    """Say whether a requirement is one for this Python."""
    short = ".".join(python.split(".")[:2])
    return need.marker is not None and need.marker.evaluate(
        {**_LINUX, "python_version": short, "python_full_version": python, "extra": ""}
    )


def _is_too_new(need: Requirement, present: Version) -> bool:
    """Say whether what is installed is newer than all that is asked for."""
    allowed = [
        version
        for text in _get_requirement_rows(need.name)
        if need.specifier.contains(version := Version(text), prereleases=True)
    ]
    if allowed:
        return max(allowed) < present
    return any(clause.operator in {"<", "<="} for clause in need.specifier)


def _iter_known_versions(packages: Mapping[str, str]) -> Iterator[tuple[str, Version]]:
    """Give the versions that can be judged, without what tells builds apart (`+cu121`)."""
    for name, text in packages.items():
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        if not version.is_prerelease:
            yield name, Version(version.public)


@functools.cache
def _needs(package: str, version: str) -> tuple[Requirement, ...]:
    """Give what a version asks; nothing where it is not known."""
    row = _get_requirement_rows(package).get(version)
    return tuple(map(Requirement, row["needs"])) if row is not None else ()


@functools.cache
def _get_requirement_rows(package: str) -> Mapping[str, Mapping[str, Any]]:
    """Give the rows of a package by version."""
    return {
        version: row for row in _load_packages().get(package, ()) for version in row["versions"]
    }


@functools.cache
def _load_packages() -> Mapping[str, list[dict[str, Any]]]:
    """Read the data."""
    file = resources.find_folder("patterns") / "versions.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    packages: Mapping[str, list[dict[str, Any]]] = content["packages"]
    return packages
