"""Check installed packages: what they were built for, whether they fit each other, what is missing.

In: versions and testimonies of the environment, texts of dumps, errors and findings about imports
and requirements. Out: the anomalies `torch-built-for-cpu`, `torch-finds-no-gpu`,
`wheel-of-other-torch`; `versions-unfit`, `versions-unfit-at-failure`; `named-package-listed` or
`named-package-unlisted`. Not here: the lines that tell it (`patterns/formats`), what asks for what
(`facts.version_needs`), the versions themselves (`facts.fact_store`).

A list is whole where `pip list`, `pip freeze` or `conda list` printed it without a filter: it has
its header, or many rows; and the dump is short enough to be known to its end.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from postmortem.core.findings import NOWHERE, Finding, ProcessId, Traceback
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import SEMICOLON, Message, join_list, quote, say
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.extraction.facts.fact_store import Fact, FactStore, Testimony
from postmortem.rules.vocabulary import Trait, has_trait

if TYPE_CHECKING:
    from postmortem.extraction.facts.version_needs import UnmetRequirement

_TAG: Final = compile_lazily(
    r"(?<![\w-])([A-Za-z][\w-]{0,60}?)(?:==|\s{1,40}|-)(\d[\w.]{0,40})(?:\+|%2B)(?:cu(\d{2,4}))?(?:torch|pt)(\d[\d.]{0,20})"
)
_RELEASE: Final = compile_lazily(r"(?<!\d)(\d{1,6})\.(\d{1,6})")


def detect_torch_build_mismatch(observed: Observed) -> Iterable[Anomaly]:
    """Find a torch without CUDA, one that finds no GPU, and wheels of another torch."""
    torch = observed.facts.facts.get("package.torch")
    for_cpu = next(_detect_cpu_build(observed, torch), None)
    if for_cpu is not None:
        yield for_cpu
    for testimony in observed.facts.testimonies:
        if testimony.what == "gpu_unavailable":
            yield _build_anomaly("torch-finds-no-gpu", testimony.value, testimony)
        elif testimony.what == "wheel" and torch is not None:
            yield from _detect_wheel_mismatch(testimony, torch)
        elif testimony.what == "wheel_deepspeed" and torch is not None:
            release = _RELEASE.search(testimony.value)
            if release and not _is_compatible(release[0], torch.value):
                yield _build_mismatch_anomaly("deepspeed", release[0], torch, testimony)


def _detect_cpu_build(observed: Observed, torch: Fact | None) -> Iterator[Anomaly]:
    """A build that names CUDA takes back what another line says of another installation."""
    if torch is not None and torch.value.endswith("+cpu"):
        message = quote(f"torch {torch.value}")
        yield Anomaly("torch-built-for-cpu", message, torch.source, NOWHERE, torch.line)
    if torch is not None and "+cu" in torch.value:
        return
    for testimony in observed.facts.testimonies:
        if testimony.what == "torch_cpu":
            yield _build_anomaly("torch-built-for-cpu", testimony.value, testimony)


def _detect_wheel_mismatch(testimony: Testimony, torch: Fact) -> Iterator[Anomaly]:
    match = _TAG.search(testimony.value.rsplit("/", 1)[-1])
    if match is None:
        return
    wanted = match[4] if "." in match[4] else f"{match[4][:1]}.{match[4][1:]}"
    if not _is_compatible(wanted, torch.value):
        yield _build_mismatch_anomaly(match[1], wanted, torch, testimony)


def _is_compatible(wanted: str, installed: str) -> bool:
    """Say whether two versions are of one minor release; what cannot be read fits."""
    wanted_release, installed_release = _RELEASE.match(wanted), _RELEASE.match(installed)
    return (
        wanted_release is None
        or installed_release is None
        or wanted_release.groups() == installed_release.groups()
    )


def _build_mismatch_anomaly(
    package: str, wanted: str, torch: Fact, testimony: Testimony
) -> Anomaly:
    message = say(
        "{package} was built for torch {wanted}, torch {installed} is installed",
        package=package,
        wanted=wanted,
        installed=torch.value,
    )
    return Anomaly("wheel-of-other-torch", message, testimony.source, NOWHERE, testimony.line)


def _build_anomaly(name: str, value: str, testimony: Testimony) -> Anomaly:
    return Anomaly(name, quote(" ".join(value.split())), testimony.source, NOWHERE, testimony.line)


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


_HEADER: Final = compile_lazily(
    r"^(?:Package\s+Version(?:\s.*)?|# packages in environment at .*|# Name\s+Version\s+Build.*)$",
    re.MULTILINE,
)
_FREEZE: Final = compile_lazily(r"^([A-Za-z0-9][\w.-]*) ?(?:==|@ )\S", re.MULTILINE)
_ROW: Final = compile_lazily(r"^([A-Za-z0-9_][\w.-]*)\s+v?\d[\w.+!-]*(?:\s|$)", re.MULTILINE)
_FEWEST_ROWS: Final = 8
_FEWEST_FROZEN: Final = 20
_FILTER: Final = compile_lazily(r"\|\s*(?:grep|egrep|rg|head|tail|findstr)\b")
_PACKAGE_GROUPS: Final = ("module", "package", "requirement", "other", "wanted")
_IN_WORDS: Final = compile_lazily(
    r"(?:pip3? install (?:-U |--upgrade )?|requires? |needs? |have |the )[`'\"]?"
    r"([A-Za-z][\w.-]{1,40})",
)
_FIRST: Final = compile_lazily(r"[A-Za-z][\w-]*")


def detect_package_listing(observed: Observed) -> Iterable[Anomaly]:
    """Compare the first error that names a package with the lists."""
    known = [
        (source, rows)
        for source in sorted(observed.dumps)
        if (rows := set(_iter_listed_names(_read_whole_text(observed, source))))
    ]
    if not known:
        return
    for finding, _ in observed.findings:
        if finding.role != "cause" or not has_trait(finding.signature, Trait.ABOUT_PACKAGES):
            continue
        for name in _iter_requested_packages(finding):
            yield from _compare_package(name, known)


def _compare_package(name: str, known: list[tuple[int, set[str]]]) -> Iterator[Anomaly]:
    for source, rows in known:
        message = quote(name)
        if name in rows:
            yield Anomaly("named-package-listed", message, source, NOWHERE, 1)
        elif not any(other.startswith(name) for other in rows):
            yield Anomaly("named-package-unlisted", message, source, NOWHERE, 1)


def _read_whole_text(observed: Observed, source: int) -> str:
    """Give the text of a source, of which both ends are kept; empty if they leave a gap."""
    lines = observed.kept_lines(source)
    is_whole = all(
        current == previous + 1 for (previous, _), (current, _) in itertools.pairwise(lines)
    )
    return "\n".join(line for _, line in lines) if is_whole else ""


def _iter_listed_names(text: str) -> Iterator[str]:
    """Give the names of a whole list; none of a text that is not one."""
    if _FILTER.search(text):
        return
    frozen = [match[1] for match in _FREEZE.finditer(text)]
    header = _HEADER.search(text)
    rows = [match[1] for match in _ROW.finditer(text, header.end())] if header else []
    if len(rows) >= _FEWEST_ROWS:
        yield from (_normalize_name(row) for row in rows)
    if len(frozen) >= _FEWEST_FROZEN:
        yield from (_normalize_name(row) for row in frozen)


def _iter_requested_packages(finding: Finding) -> Iterator[str]:
    """Give the packages that a message asks for: captured, or to be installed with pip."""
    for group in _PACKAGE_GROUPS:
        if (value := finding.capture(group)) and (match := _FIRST.match(value)):
            yield _normalize_name(match[0])
    for match in _IN_WORDS.finditer(finding.text):
        name = _normalize_name(match[1])
        if name in _KNOWN:
            yield name


_KNOWN: Final = frozenset(
    [
        "accelerate",
        "bitsandbytes",
        "peft",
        "trl",
        "datasets",
        "deepspeed",
        "flash-attn",
        "xformers",
        "triton",
        "sentencepiece",
        "tiktoken",
        "protobuf",
        "safetensors",
        "tensorboard",
        "tensorboardx",
        "wandb",
        "optimum",
        "auto-gptq",
        "autoawq",
        "einops",
        "timm",
        "scikit-learn",
        "evaluate",
        "rouge-score",
        "liger-kernel",
        "unsloth",
        "vllm",
        "apex",
    ]
)


def _normalize_name(name: str) -> str:
    """As package indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()
