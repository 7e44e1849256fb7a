"""Choose and fill the fixes of a cause: verify, change, prevent.

In: a cause's id, the case, the knowledge base. Out: `Fix`es with snippets in the user's framework and numbers.
Not here: the fixes themselves (`patterns/fixes`).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from postmortem.facts.environment import number
from postmortem.inference.case import Case
from postmortem.inference.predicates import holds
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.diagnosis import Fix

_KINDS: Final = ("check", "change", "prevent")
_FIRST: Final = 4
_PLACEHOLDER: Final = re.compile(r"\$\{(\w+)(?:\|([^}]*))?\}")
_PREFERENCE: Final = ("xtuner", "llamafactory", "transformers-trainer", "trl", "lightning", "megatron", "mmengine", "mmcv", "fairseq", "detectron2", "axolotl", "deepspeed", "accelerate", "peft", "pytorch", "any")


def fixes(cause: str, case: Case, knowledge: KnowledgeBase, language: str, *, is_proved: bool = False) -> tuple[Fix, ...]:
    """Give the fixes of a cause that apply to this run.

    First one cheap check and the changes that help most; where the log itself has proved the cause, no check stands in their way. Then
    the other checks, the other changes, and what keeps it from coming back.
    """
    values = numbers(case)
    entries = [entry for entry in knowledge.fixes if cause in entry["causes"] and (not entry.get("when") or holds(entry["when"], case) is not None)]
    checks, changes, preventions = (sorted((entry for entry in entries if entry["kind"] == kind), key=lambda entry: entry.get("order", 50)) for kind in _KINDS)
    first_checks, first_changes = (0, _FIRST) if is_proved else (1, _FIRST - 1)
    ordered = [*checks[:first_checks], *changes[:first_changes], *checks[first_checks:], *changes[first_changes:], *preventions]
    return tuple(_fix(entry, case, values, language) for entry in ordered)


def _fix(entry: Mapping[str, Any], case: Case, values: Mapping[str, str], language: str) -> Fix:
    snippets = entry.get("snippets") or {}
    name = next((name for name in _PREFERENCE if name in snippets and (name == "any" or name in case.frameworks)), next(iter(snippets), None))
    snippet = snippets[name] if name else {"code": "", "language": ""}
    return Fix(
        id=entry["id"], kind=entry["kind"], title=fill(entry["title"][language], values), why=fill(entry["why"][language], values), snippet=fill(snippet["code"], values),
        language=snippet["language"], safety=entry["safety"], references=tuple(entry.get("references", ())),
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace `${name|default}` by the user's number, or the default, or the name itself in angle brackets."""
    def replacement(match: re.Match[str]) -> str:
        return values.get(match[1]) or (match[2] if match[2] is not None else f"<{match[1]}>")

    return _PLACEHOLDER.sub(replacement, template)


def numbers(case: Case) -> dict[str, str]:
    """Collect the user's own numbers under the names that snippets use."""
    values = {name: str(setting.value) for name, setting in case.settings.items() if setting.value not in (None, "")}
    environment = case.environment
    rate, batch = number(values.get("learning_rate", "")), number(values.get("per_device_train_batch_size", values.get("batch_size", "")))
    accumulation = number(values.get("gradient_accumulation_steps", ""))
    if rate:
        values |= {"learning_rate": f"{rate:g}", "learning_rate_half": f"{rate / 2:g}", "learning_rate_tenth": f"{rate / 10:g}"}
    if batch:
        values |= {"batch_size": f"{batch:g}", "batch_size_half": f"{max(1, int(batch) // 2)}"}
        values["accumulation_double"] = f"{int(accumulation or 1) * (2 if batch > 1 else 1)}"
    if accumulation:
        values |= {"accumulation": f"{accumulation:g}"}
    if environment.world_size:
        values["world_size"] = str(environment.world_size)
    if environment.gpus:
        values["gpu_name"] = environment.gpus[0].name
        if environment.gpus[0].memory_gib:
            values["gpu_memory_gib"] = f"{environment.gpus[0].memory_gib:g}"
    if "torch" in environment.packages:
        values["torch_version"] = environment.packages["torch"]
    if environment.cuda:
        values["cuda_version"] = environment.cuda
    return values
