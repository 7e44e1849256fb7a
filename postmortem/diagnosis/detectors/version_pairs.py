"""Check whether installed versions fit each other, and whether the failure comes of it.

In: versions of one dump, errors. Out: the anomalies `versions-unfit`, `versions-unfit-at-failure`.
Not here: what asks for what (`facts.version_needs`), wheels for another torch
(`detectors.torch_build`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from postmortem.core.findings import Traceback
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE, ProcessId
from postmortem.core.message import SEMICOLON, Message, join_list, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.rules.traits import Trait, has_trait

if TYPE_CHECKING:
    from postmortem.extraction.facts.version_needs import UnmetRequirement

MEASURED: Final = 2
"""Strength of what a dump says of the versions: what prose names is not installed for sure."""
_FEWEST: Final = 2
_MOST_NAMED: Final = 3
_BY_VERSIONS: Final = compile_lazily(
    r"(?:ImportError|ModuleNotFoundError|AttributeError|TypeError|VersionConflict|OSError|"
    r"RuntimeError|KeyError|ValueError|NotImplementedError)$"
)
_LAST_FRAMES: Final = 4


def detect_version_conflict(observed: Observed) -> Iterable[Anomaly]:
    """Find versions that do not fit, and the pair of them in which the run failed."""
    packages, python = get_listed_versions(observed.facts), observed.facts.get("env.python")
    if len(packages) < _FEWEST:
        return
    # Only a list of packages pays for reading versions.
    from postmortem.extraction.facts.version_needs import (  # noqa: PLC0415
        find_compatible_versions,
        find_unmet,
    )

    broken = find_unmet(packages, python)
    if not broken:
        return
    asking = observed.facts.facts[f"package.{broken[0].asking}"]
    message = join_list(
        [_format_conflict(requirement) for requirement in broken[:_MOST_NAMED]], SEMICOLON
    )
    fits = find_compatible_versions(packages, python)
    if fits:
        versions = join_list([f"{name} {version}" for name, version in fits.items()])
        message = say("{said} (→ {versions})", said=message, versions=versions)
    yield Anomaly("versions-unfit", message, asking.source, NOWHERE, asking.line)
    for requirement in broken:
        for source, where, line in _find_failures(requirement, observed):
            yield Anomaly(
                "versions-unfit-at-failure", _format_conflict(requirement), source, where, line
            )


def get_listed_versions(facts: FactStore) -> dict[str, str]:
    """Give the versions that one source lists; where several do, that of the first package."""
    found = {
        name.removeprefix("package."): fact
        for name, fact in facts.facts.items()
        if name.startswith("package.") and fact.strength >= MEASURED
    }
    sources = [fact.source for fact in found.values()]
    most = max(set(sources), key=sources.count, default=None)
    return {name: fact.value for name, fact in found.items() if fact.source == most}


def _format_conflict(requirement: "UnmetRequirement") -> Message:
    wording = (
        say("{asked} is too new for {asking}, which asks for {wanted}")
        if requirement.is_too_new
        else say("{asked} is too old for {asking}, which asks for {wanted}")
    )
    return wording.fill(
        asked=f"{requirement.asked} {requirement.asked_version}",
        asking=f"{requirement.asking} {requirement.asking_version}",
        wanted=f"{requirement.asked}{requirement.wanted}",
    )


def _find_failures(
    requirement: "UnmetRequirement", observed: Observed
) -> Iterator[tuple[int, ProcessId, int]]:
    """Find the errors in which both of a pair stand, or one of them and an import that failed."""
    modules = [name.replace("-", "[-_]") for name in (requirement.asking, requirement.asked)]
    named = [re.compile(rf"(?<![\w-]){module}(?![\w-])") for module in modules]
    for finding, _ in observed.findings:
        is_related = finding.role == "cause" and has_trait(finding.signature, Trait.ABOUT_VERSIONS)
        if is_related and all(name.search(finding.text) for name in named):
            yield finding.source, finding.where, finding.line
    for traceback in observed.tracebacks:
        if _may_result_from_conflict(traceback) and all(
            name.search(_end(traceback)) for name in named
        ):
            yield traceback.source, traceback.where, traceback.exception_line


def _may_result_from_conflict(traceback: Traceback) -> bool:
    """Say whether a library raised what a version can be the cause of."""
    return _BY_VERSIONS.search(traceback.exception) is not None and traceback.raised_in_library()


def _end(traceback: Traceback) -> str:
    """Give the message and the innermost files."""
    files = " ".join(frame.file for frame in traceback.frames[-_LAST_FRAMES:])
    return f"{traceback.message[:2000]} {files}"
