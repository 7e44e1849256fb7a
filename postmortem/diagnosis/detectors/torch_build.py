"""Check what torch and other compiled packages were built for.

In: versions and testimonies of the environment. Out: the anomalies `torch-built-for-cpu`,
`torch-finds-no-gpu`, `wheel-of-other-torch`. Not here: the lines that tell it (`patterns/formats`).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import quote, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.fact_store import Fact, Testimony

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
