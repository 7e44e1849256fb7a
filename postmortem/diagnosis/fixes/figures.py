"""The user's own figures and names, and texts filled with them.

In: the case, what the caller knows besides. Out: values under the names that fixes use, texts in
which they stand. Not here: which fixes there are (`fixes.select`).
"""

import math
import re
from collections.abc import Mapping
from typing import Final

from postmortem.core.job_facts import Environment
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import escape_control_characters
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.detectors.version_pairs import get_listed_versions
from postmortem.diagnosis.fixes.distributions import extract_names
from postmortem.extraction.facts.number_texts import parse_number

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
    if "versions-unfit-at-failure" not in case.shapes:
        return {}
    from postmortem.extraction.facts.version_needs import find_compatible_versions  # noqa: PLC0415 -- as where it was found

    packages = get_listed_versions(case.gathered.facts)
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
    momentary = case.gathered.facts.momentary()
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
