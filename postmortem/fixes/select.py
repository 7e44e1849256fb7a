"""Choose and fill the fixes of a cause: verify, change, prevent.

In: a cause's id, the case, the knowledge base, what else the caller knows. Out: `Fix`es with
snippets in the user's framework and numbers. Not here: the fixes themselves (`patterns/fixes`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from postmortem.case.case import Case
from postmortem.facts.numbers import number
from postmortem.inference.predicates import holds
from postmortem.knowledge import snippets as texts
from postmortem.knowledge.base import KnowledgeBase
from postmortem.knowledge.causes import FixRule
from postmortem.model.diagnosis import Fix
from postmortem.model.said import Said, both
from postmortem.report.plain import safe

_KINDS: Final = ("check", "change", "prevent")
_FIRST: Final = 4
_INDISPENSABLE: Final = 5
"""A check of a lower order stands first even where the cause is proved: it decides how to mend."""
_PLACEHOLDER: Final = re.compile(r"\$\{(\w{1,80})(?:\|([^}]{0,400}))?\}")
_PREFERENCE: Final = (
    "xtuner",
    "llamafactory",
    "transformers-trainer",
    "trl",
    "lightning",
    "megatron",
    "mmengine",
    "mmcv",
    "fairseq",
    "detectron2",
    "axolotl",
    "deepspeed",
    "accelerate",
    "peft",
    "pytorch",
    "any",
)
_WORD: Final = re.compile(r"[\w./~][\w.,:=+@/~-]{0,199}")
"""What of a log may stand in a command: no quote, space or sign that a shell or Python would act on, and no leading dash."""
_NAME: Final = re.compile(r"\w[\w.+-]{0,79}(?: \w[\w.+-]{0,39}){0,7}")
_WITH_SPACES: Final = frozenset({"distribution", "gpu_name", "key"})
_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,60}")
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
"""What pip calls a module that is imported under another name; empty where pip has nothing of that name, or something else."""


def fixes(
    cause: str,
    case: Case,
    knowledge: KnowledgeBase,
    *,
    is_proved: bool = False,
    extra: Mapping[str, str] | None = None,
) -> tuple[Fix[Said], ...]:
    """Give the fixes of a cause that apply to this run.

    First one cheap check and the changes that help most; where the log itself has proved the cause,
    no check stands in their way. Then the other checks, the other changes, and what keeps it from
    coming back. `extra` holds what the caller knows besides the case: see `numbers`.
    """
    values = numbers(case, extra)
    entries = [
        entry
        for entry in knowledge.fixes
        if cause in entry.causes
        and _is_possible(entry, case, extra or {})
        and holds(entry.asked, case) is not None
    ]
    checks, changes, preventions = (
        sorted(
            (entry for entry in entries if entry.kind == kind),
            key=lambda entry: entry.order,
        )
        for kind in _KINDS
    )
    first_checks = sum(entry.order < _INDISPENSABLE for entry in checks) if is_proved else 1
    first_changes = _FIRST - first_checks
    ordered = [
        *checks[:first_checks],
        *changes[:first_changes],
        *checks[first_checks:],
        *changes[first_changes:],
        *preventions,
    ]
    return tuple(_fix(entry, case, values) for entry in ordered)


def _is_possible(entry: FixRule, case: Case, extra: Mapping[str, str]) -> bool:
    """Say whether the run has what the fix needs; what is not known does not forbid it."""
    return entry.needs is None or _NEEDS[entry.needs](case, extra)


def _may_have_gpu(case: Case, _extra: Mapping[str, str]) -> bool:
    on_cpu = _setting(case, "device").lower().startswith("cpu") or case.environment.packages.get(
        "torch", ""
    ).endswith("+cpu")
    return bool(case.environment.gpus) or not on_cpu


def _may_split_the_batch(case: Case, _extra: Mapping[str, str]) -> bool:
    batch = number(_setting(case, "per_device_train_batch_size") or _setting(case, "batch_size"))
    return batch is None or batch > 1


def _may_have_good_checkpoint(_case: Case, extra: Mapping[str, str]) -> bool:
    return extra.get("checkpoint_before_first_bad") != "no"


_NEEDS: Final[Mapping[str, Callable[[Case, Mapping[str, str]], bool]]] = {
    "gpu": _may_have_gpu,
    "several-samples-per-step": _may_split_the_batch,
    "good-checkpoint": _may_have_good_checkpoint,
}


def _setting(case: Case, name: str) -> str:
    setting = case.settings.get(name)
    return "" if setting is None or setting.value is None else str(setting.value)


def _fix(entry: FixRule, case: Case, values: Mapping[str, str]) -> Fix[Said]:
    snippets = entry.snippets
    name = next(
        (
            name
            for name in _PREFERENCE
            if name in snippets and (name == "any" or name in case.frameworks)
        ),
        next(iter(snippets), None),
    )
    snippet = snippets[name] if name else texts.Snippet("", "", {})

    def filled(text: str) -> str:
        return fill(text, values)

    return Fix(
        id=entry.id,
        kind=entry.kind,
        title=both(entry.title).settled(filled),
        why=both(entry.why).settled(filled),
        snippet=texts.code(snippet).settled(filled),
        language=snippet.language,
        safety=entry.safety,
        references=entry.references,
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace `${name|default}` by the user's number, or the default, or the name itself in angle brackets."""

    def replacement(match: re.Match[str]) -> str:
        return values.get(match[1]) or (match[2] if match[2] is not None else f"<{match[1]}>")

    return _PLACEHOLDER.sub(replacement, template)


def numbers(case: Case, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Collect the user's own numbers and names under the names that snippets use.

    `extra`, all optional: `last_checkpoint` and `good_checkpoint` (the last one saved, the last one
    from before the first bad value), `log` (the log's path), `learning_rate` (as printed; a setting
    of that name is stronger), `checkpoint_before_first_bad` (yes, no, unknown) and `capture_<name>`
    (what the strongest signature captured). A value that could do harm in a command is left out:
    the default stands.
    """
    given = {name: value for name, value in (extra or {}).items() if value}
    values = {
        name: str(setting.value)
        for name, setting in case.settings.items()
        if setting.value not in (None, "")
    }
    values |= {
        name: value
        for name, value in given.items()
        if name != "learning_rate" or number(values.get(name, "")) is None
    }
    values |= _rates_and_batches(values) | _software(case) | _named(given)
    steps = {
        name for name in ("last_checkpoint", "good_checkpoint") if values.get(name, "").isdigit()
    }
    return {
        name: value
        for name, value in values.items()
        if name not in steps
        and (_NAME if name in _WITH_SPACES else _WORD).fullmatch(value)
        and safe(value) == value
    }


def _rates_and_batches(values: Mapping[str, str]) -> dict[str, str]:
    """Work out the figures that a change would use."""
    rate, batch = (
        number(values.get("learning_rate", "")),
        number(values.get("per_device_train_batch_size", values.get("batch_size", ""))),
    )
    accumulation, norm = (
        number(values.get("gradient_accumulation_steps", "")),
        number(values.get("max_grad_norm", "")),
    )
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


def _software(case: Case) -> dict[str, str]:
    """Name what the run ran on."""
    environment, found = case.environment, {}
    if environment.world_size:
        found["world_size"] = str(environment.world_size)
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


def _named(given: Mapping[str, str]) -> dict[str, str]:
    """Read the key, the module and the distribution to install out of what the signature captured."""
    captured = {
        name.removeprefix("capture_"): value.strip()
        for name, value in given.items()
        if name.startswith("capture_") and value.strip()
    }
    found: dict[str, str] = {}
    if key := next((captured[name] for name in ("key", "field", "column") if name in captured), ""):
        found["key"] = key.strip("'\"")
    library = captured.get("library", "").rpartition("/")[2].partition(".")[0]
    if library and not library.startswith("lib"):
        found["extension"] = library
    if module := captured.get("package") or captured.get("module") or captured.get("origin", ""):
        found["module"] = module.partition(".")[0]
    asked = next(
        (
            captured[name]
            for name in ("package", "packages", "requirement", "other", "uv", "module", "origin")
            if name in captured
        ),
        found.get("extension", ""),
    )
    names = [_distribution(word) for word in re.split(r"[\s,]+(?![<>=!~])", asked) if word]
    if names and all(names):
        found["distribution"] = " ".join(names)
    return found


def _distribution(word: str) -> str:
    """Give the name under which pip knows a module or requirement, or nothing."""
    bare = re.split(r"[<>=!~\[]", word)[0].partition(".")[0]
    if not _DISTRIBUTION.fullmatch(bare):
        return ""
    normal = re.sub(r"[-_.]+", "-", bare).lower()
    return _DISTRIBUTIONS.get(normal, normal)
