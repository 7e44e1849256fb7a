"""The user's own figures and names, and texts filled with them.

In: the case, how far the run came, the evidence of a cause, what its strongest signature has
captured, what the caller knows besides. Out: values under the names that fixes use (settings,
files, checkpoints, rates, what a line has captured; what is missing by the name under which it is
asked for: a key, a module, pip's distribution), texts in which they stand. Not here: which fixes
there are, and what each takes (`fixes.select`).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.answer import Evidence, Progress
from postmortem.core.findings import Environment
from postmortem.core.log_text import compile_lazily, escape_control_characters, parse_number
from postmortem.core.message import Message
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.detectors.installed_packages import get_listed_versions
from postmortem.extraction.facts.series import Point

_CAPTURE: Final = "capture_"
_KEYS: Final = ("key", "field", "column")
_ASKED: Final = ("package", "packages", "requirement", "other", "uv", "module", "origin")
_BETWEEN: Final = compile_lazily(r"[\s,]+(?![<>=!~])")
"""Between two requirements, not between a name and its version."""
_DISTRIBUTION: Final = compile_lazily(r"[A-Za-z0-9][\w.-]{0,60}")
_DISTRIBUTIONS: Final[Mapping[str, str]] = {
    "apex": "",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "causal-conv1d-cuda": "causal-conv1d",
    "crypto": "pycryptodome",
    "cuda": "",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "flash-attn-2-cuda": "flash-attn",
    "flash-attn-cuda": "flash-attn",
    "git": "GitPython",
    "google": "protobuf",
    "grpc": "grpcio",
    "magic": "python-magic",
    "openssl": "pyOpenSSL",
    "osgeo": "gdal",
    "pil": "Pillow",
    "pkg-resources": "setuptools",
    "python": "",
    "pytorch": "torch",
    "ruamel": "ruamel.yaml",
    "selective-scan-cuda": "mamba-ssm",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
    **dict.fromkeys(
        (
            "common",
            "config",
            "configs",
            "core",
            "data",
            "dataset",
            "helpers",
            "lib",
            "main",
            "model",
            "models",
            "modules",
            "scripts",
            "src",
            "tools",
            "train",
            "util",
            "utils",
        ),
        "",
    ),
}
"""What pip calls a module that is imported under another name.

Empty where pip has nothing of that name, or something else.
"""


def extract_names(given: Mapping[str, str]) -> dict[str, str]:
    """Read key, module, extension and distribution out of what the signature captured.

    `given` holds the captures as `capture_<name>`; what it does not tell is left out.
    """
    captured = {
        name.removeprefix(_CAPTURE): value.strip()
        for name, value in given.items()
        if name.startswith(_CAPTURE) and value.strip()
    }
    found: dict[str, str] = {}
    if key := _get_first(captured, _KEYS):
        found["key"] = key.strip("'\"")
    if extension := _get_extension_module(captured.get("library", "")):
        found["extension"] = extension
    if module := captured.get("package") or captured.get("module") or captured.get("origin"):
        found["module"] = module.partition(".")[0]
    if distribution := _format_distributions(_get_first(captured, _ASKED) or extension):
        found["distribution"] = distribution
    return found


def _get_first(captured: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Give what the first of some names stands for, or nothing."""
    return next((captured[name] for name in names if name in captured), "")


def _get_extension_module(library: str) -> str:
    """Give the module that a shared library is, or nothing if it is a library of the system."""
    module = library.rpartition("/")[2].partition(".")[0]
    return "" if module.startswith("lib") else module


def _format_distributions(asked: str) -> str:
    """Give the names for pip of all that is asked for; nothing if one of them has none."""
    names = [_find_distribution(word) for word in _BETWEEN.split(asked) if word]
    return " ".join(names) if all(names) else ""


def _find_distribution(word: str) -> str:
    """Give the name under which pip knows a module or requirement, or nothing."""
    bare = re.split(r"[<>=!~\[]", word)[0].partition(".")[0]
    if not _DISTRIBUTION.fullmatch(bare):
        return ""
    normal = re.sub(r"[-_.]+", "-", bare).lower()
    return _DISTRIBUTIONS.get(normal, normal)


_WORD: Final = compile_lazily(r"[\w./~][\w.,:=+@/~-]{0,199}")
"""What of a log may stand in a command.

No quote, space or sign that a shell or Python would act on, and no leading dash.
"""
_NAME: Final = compile_lazily(r"\w[\w.+-]{0,79}(?: \w[\w.+-]{0,39}){0,7}")
_WITH_SPACES: Final = frozenset({"distribution", "gpu_name", "key"})
_PATHS: Final = frozenset({"last_checkpoint", "good_checkpoint"})
_OF_TORCH: Final = frozenset({"torch", "torchvision", "torchaudio", "xformers"})
"""Whose wheels come in builds for each CUDA, from the same index."""
_RATE: Final = "learning_rate"
_ON_ONE_NODE: Final = 8
"""A world of more processes may be that of several nodes: a launcher starts those of one."""
_QUOTED: Final = compile_lazily(r"b?(?P<mark>['\"])(?P<inner>.+)(?P=mark)")


def collect_user_values(
    case: Case, settings: Mapping[str, str], extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Collect the user's own figures and names under the names that snippets use.

    `settings`: those that are in force, printed or by default. `extra`, all optional:
    `last_checkpoint` and `good_checkpoint` (the last one saved, the last one from before the first
    bad value), `log` (the log's path), `learning_rate` (as printed; a setting of that name is
    stronger), `checkpoint_before_first_bad` (yes, no, unknown) and `capture_<name>` (what the
    strongest signature captured). A value that could do harm in a command is left out: the default
    stands.
    """
    given = {name: _strip_quotes(value) for name, value in (extra or {}).items() if value}
    values = {**settings, **given}
    if parse_number(settings.get(_RATE, "")) is not None:
        values[_RATE] = settings[_RATE]
    if values.get("model") in {values.get("last_checkpoint"), values.get("good_checkpoint")}:
        values.pop("model", None)  # what the run has saved is not what it began with
    values |= _compute_halves(settings) | _compute_rates_and_batches(values)
    values |= _collect_software_names(case.environment) | extract_names(given)
    return {name: value for name, value in values.items() if _may_stand(name, value)} | _fit(case)


def _strip_quotes(value: str) -> str:
    """Take off the quotes in which a program prints a path."""
    found = _QUOTED.fullmatch(value)
    return found["inner"] if found else value


def _fit(case: Case) -> dict[str, str]:
    """Give the versions that fit each other, as pip takes them: they come from our own data."""
    if "versions-unfit-at-failure" not in case.anomalies:
        return {}
    from postmortem.extraction.facts.version_needs import find_compatible_versions  # noqa: PLC0415 -- as where it was found

    packages = get_listed_versions(case.extract.facts)
    changes = find_compatible_versions(packages, case.environment.python)
    if not changes:
        return {}
    found = " ".join(f"{name}=={version}" for name, version in changes.items())
    build = re.search(r"\+(cu\d{2,3})$", packages.get("torch", ""))
    if build and _OF_TORCH.intersection(changes):
        index = f" --extra-index-url https://download.pytorch.org/whl/{build[1]}"
        return {"fitting": found, "fitting_command": found + index}
    return {"fitting": found, "fitting_command": found}


def set_in(case: Case) -> dict[str, str]:
    """Give the settings that have a value, but those that are figures of a moment."""
    momentary = case.extract.facts.momentary()
    return {
        name: str(setting.value)
        for name, setting in case.settings.items()
        if setting.value not in (None, "") and name not in momentary
    }


def _compute_halves(settings: Mapping[str, str]) -> dict[str, str]:
    """Halve every setting that is a number: of whole numbers the whole half, at least 1."""
    figures = {name: parse_number(value) for name, value in settings.items()}
    return {
        f"{name}_half": f"{max(1, int(figure) // 2)}" if figure.is_integer() else f"{figure / 2:g}"
        for name, figure in figures.items()
        if figure is not None and math.isfinite(figure) and figure > 0
    }


def _may_stand(name: str, value: str) -> bool:
    """Say whether a value may stand in a command; the number of a step is no path."""
    is_step = name in _PATHS and value.isdigit()
    form = _NAME if name in _WITH_SPACES else _WORD
    return (
        not is_step
        and form.fullmatch(value) is not None
        and escape_control_characters(value) == value
    )


def _compute_rates_and_batches(values: Mapping[str, str]) -> dict[str, str]:
    """Work out the figures that a change would use."""
    rate = parse_number(values.get(_RATE, ""))
    batch = parse_number(values.get("per_device_train_batch_size", values.get("batch_size", "")))
    accumulation = parse_number(values.get("gradient_accumulation_steps", ""))
    norm = parse_number(values.get("max_grad_norm", ""))
    found = {"clip_norm": f"{norm / 2:g}" if norm and 0 < norm <= 1 else "1.0"}
    if rate:
        found |= {
            "learning_rate": f"{rate:g}",
            "learning_rate_half": f"{rate / 2:g}",
            "learning_rate_tenth": f"{rate / 10:g}",
            "learning_rate_tenfold": f"{rate * 10:g}",
        }
    if batch:
        found |= {"batch_size": f"{batch:g}", "batch_size_half": f"{max(1, int(batch) // 2)}"}
    if batch or accumulation:
        found["accumulation_double"] = f"{int(accumulation or 1) * (1 if batch == 1 else 2)}"
    if accumulation:
        found["accumulation"] = f"{accumulation:g}"
    return found


def _collect_software_names(environment: Environment) -> dict[str, str]:
    """Name what the run ran on."""
    found = {}
    if environment.world_size:
        found["world_size"] = str(environment.world_size)
        if environment.world_size <= _ON_ONE_NODE:
            found["node_processes"] = str(environment.world_size)
    if environment.gpus:
        found["gpu_name"] = environment.gpus[0].name
        if environment.gpus[0].memory_gib:
            found["gpu_memory_gib"] = f"{environment.gpus[0].memory_gib:g}"
    if "torch" in environment.packages:
        version, _, build = environment.packages["torch"].partition("+")
        found |= {"torch_version": environment.packages["torch"], "torch_release": version}
        if re.fullmatch(r"cu\d{2,3}", build):
            found["torch_cuda"] = build
    if environment.cuda:
        found["cuda_version"] = environment.cuda
    return found


def collect_known_numbers(case: Case, done: Progress) -> dict[str, str]:
    """Collect what fixes may name beside the settings.

    The log, checkpoints, the rate at the peak of its schedule.
    """
    found = {
        "log": _log(case),
        "last_checkpoint": done.last_checkpoint or "",
        "good_checkpoint": done.resume_from or "",
        "checkpoint_before_first_bad": done.checkpoint_before_first_bad,
        "learning_rate": _peak_rate(case),
    }
    return {name: value for name, value in found.items() if value}


def _log(case: Case) -> str:
    """Give the path of the first log that is a file, or nothing."""
    logs = (
        source.path
        for source in case.sources
        if source.kind in {"log", "notebook"} and source.is_file
    )
    return next(logs, "")


def _peak_rate(case: Case) -> str:
    """Give the rate to which the last attempt had risen, or nothing while it was still rising.

    Of several groups of parameters the highest: one that is still on its way up hides the rest.
    """
    by_end = [
        (max(point.value for point in points), points)
        for series in case.extract.series.values()
        if series.name == names.LEARNING_RATE
        and (points := [point for point in series.kept() if math.isfinite(point.value)])
    ]
    top = max((highest for highest, _ in by_end), default=0.0)
    may_stand_still = "rate-standstill" in case.anomalies
    is_peak = any(  # two loggers may print one rate, one of them but once
        highest == top and _is_peak(points, may_stand_still=may_stand_still)
        for highest, points in by_end
    )
    return f"{top:g}" if top > 0 and is_peak else ""


def _is_peak(rates: Sequence[Point], *, may_stand_still: bool) -> bool:
    """Say whether the highest of some rates is that of the schedule, and not of a moment.

    It has come down since, or it holds. A rate that a skipped step keeps where it is proves
    nothing, nor does the first one of a run that was resumed.
    """
    values = [point.value for point in rates]
    top = max(values)
    if values[-1] < top:
        return values.index(top) > 0 or not _is_resumed(rates)
    holds = sum(value == top for value in values)
    return len(values) > 1 and 2 * holds > len(values) and not may_stand_still


def _is_resumed(rates: Sequence[Point]) -> bool:
    """Say whether more steps stand before the first record than between it and the next."""
    first, second = rates[0].step, rates[1].step
    return math.isfinite(first) and math.isfinite(second) and first > 2 * (second - first)


def collect_captures(evidence: Sequence[Evidence[Message]], case: Case) -> dict[str, str]:
    """Give what signatures of a cause and anomalies of the run captured, as fixes name it.

    Of signatures the strongest speaks first, then the others, then what else was found in the same
    lines. What anomalies captured has names of its own.
    """
    signs = [item for item in evidence if item.kind == "signature" and item.weight > 0]
    findings = [event.finding for event in case.events]
    own = [
        found
        for item in signs
        for found in findings
        if (found.signature, found.line) == (item.id, item.line)
    ]
    places = {(found.source, found.line) for found in own}
    beside = [found for found in findings if (found.source, found.line) in places]
    captures = _collect_anomaly_captures(case)
    for found in (*own, *beside):
        for name, value in found.captures:
            captures.setdefault(f"capture_{name}", value)
    return captures


def _collect_anomaly_captures(case: Case) -> dict[str, str]:
    return {
        f"anomaly_{name}": value
        for anomaly in case.anomalies.values()
        for name, value in anomaly.captures.items()
    }
