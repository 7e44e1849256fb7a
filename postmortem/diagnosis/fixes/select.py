"""Choose the fixes of a cause: verify, change, prevent.

In: a cause's id, the case, the knowledge base, what else the caller knows. Out: `Fix`es with
snippets in the user's framework and numbers. Not here: the fixes themselves (`patterns/fixes`),
the numbers (`fixes.figures`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from postmortem.core.answer import Fix
from postmortem.core.message import Message, parse_bilingual
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.distributions import extract_names
from postmortem.diagnosis.fixes.figures import collect_user_values, set_in
from postmortem.diagnosis.fixes.refuted import is_refuted
from postmortem.diagnosis.fixes.stack_selection import Speakers, select_stacks
from postmortem.diagnosis.inference.predicates import evaluate_conditions
from postmortem.extraction.facts.number_texts import parse_number
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.causes import FixRule
from postmortem.rules.snippets import Snippet, fill, fill_sentence, translate_comments
from postmortem.rules.stack_rules import StackRules

_KINDS: Final = ("check", "change", "prevent")
_FIRST: Final = 4
_NO_CODE: Final = Snippet("", "", {})
_INDISPENSABLE: Final = 5
"""A check of a lower order stands first even where the cause is proved: it decides how to mend."""


def select_fixes(
    cause: str,
    case: Case,
    knowledge: KnowledgeBase,
    *,
    is_proved: bool = False,
    extra: Mapping[str, str] | None = None,
) -> tuple[Fix[Message], ...]:
    """Give the fixes of a cause that apply to this run.

    First one cheap check and the changes that help most; where the log itself has proved the cause,
    no check stands in their way. Then the other checks, the other changes, and what keeps it from
    coming back. `extra` holds what the caller knows besides the case: see `collect_user_values`.
    """
    voice = select_stacks(case, knowledge.stacks, cause)
    settings = dict(voice.defaults) | set_in(case)
    values = collect_user_values(case, settings, extra)
    entries = [
        entry
        for entry in knowledge.fixes
        if cause in entry.causes
        and _is_applicable(entry, voice)
        and _is_possible(entry, case, extra or {})
        and evaluate_conditions(entry.asked, case) is not None
    ]
    built = {entry.id: _build_fix(entry, voice, values, knowledge.stacks) for entry in entries}
    left = [
        entry
        for entry in entries
        if not is_refuted(built[entry.id], cause, case, settings, knowledge.actions)
    ]
    return tuple(built[entry.id] for entry in _sort_fixes(left, is_proved=is_proved))


def _sort_fixes(entries: Sequence[FixRule], *, is_proved: bool) -> list[FixRule]:
    """Put what helps most first; within a kind the smaller order comes first."""
    by_order = sorted(entries, key=lambda entry: entry.order)
    checks, changes, preventions = (
        [entry for entry in by_order if entry.kind == kind] for kind in _KINDS
    )
    first_checks = sum(entry.order < _INDISPENSABLE for entry in checks) if is_proved else 1
    first_changes = _FIRST - first_checks
    return [
        *checks[:first_checks],
        *changes[:first_changes],
        *checks[first_checks:],
        *changes[first_changes:],
        *preventions,
    ]


def _is_possible(entry: FixRule, case: Case, extra: Mapping[str, str]) -> bool:
    """Say whether the run has what the fix needs; what is not known does not forbid it."""
    return entry.needs is None or _NEEDS[entry.needs](case, extra)


def _may_have_gpu(case: Case, _extra: Mapping[str, str]) -> bool:
    build = case.environment.packages.get("torch", "")
    on_cpu = _get_setting(case, "device").lower().startswith("cpu") or build.endswith("+cpu")
    return bool(case.environment.gpus) or not on_cpu


def _may_split_the_batch(case: Case, _extra: Mapping[str, str]) -> bool:
    batch = parse_number(
        _get_setting(case, "per_device_train_batch_size") or _get_setting(case, "batch_size")
    )
    return batch is None or batch > 1


def _is_package_known(_case: Case, extra: Mapping[str, str]) -> bool:
    return "distribution" in extract_names(extra)


def _may_have_good_checkpoint(_case: Case, extra: Mapping[str, str]) -> bool:
    return "good_checkpoint" in extra or extra.get("checkpoint_before_first_bad") != "no"


_NEEDS: Final[Mapping[str, Callable[[Case, Mapping[str, str]], bool]]] = {
    "gpu": _may_have_gpu,
    "known-package": _is_package_known,
    "several-samples-per-step": _may_split_the_batch,
    "good-checkpoint": _may_have_good_checkpoint,
}


def _get_setting(case: Case, name: str) -> str:
    setting = case.settings.get(name)
    return "" if setting is None or setting.value is None else str(setting.value)


def _is_applicable(entry: FixRule, voice: Speakers) -> bool:
    """Say whether a fix is meant for the stacks of the job, and speaks of no other platform."""
    is_mine = not entry.stacks or bool(entry.stacks & voice.stacks)
    return is_mine and voice.may_say(f"{entry.title['en']} {entry.why['en']}")


def _build_fix(
    entry: FixRule, voice: Speakers, values: Mapping[str, str], stacks: StackRules
) -> Fix[Message]:
    snippet = _select_snippet(entry, voice, stacks)

    def filled(text: str) -> str:
        return fill(text, values)

    def spell(text: str) -> str:
        return fill_sentence(text, values)

    return Fix(
        id=entry.id,
        kind=entry.kind,
        title=parse_bilingual(entry.title).settled(spell),
        why=parse_bilingual(entry.why).settled(spell),
        snippet=translate_comments(snippet).settled(filled),
        language=snippet.language,
        safety=entry.safety,
        references=entry.references,
    )


def _select_snippet(entry: FixRule, voice: Speakers, stacks: StackRules) -> Snippet:
    """Take the snippet of the first who speaks for the job and has one for its platform.

    Where none has, the plain sentence stands alone: no code of another stack.
    """
    found = (
        stacks.get(key).find_snippet(entry.id)
        or entry.snippets.get(key)
        or stacks.get(key).find_snippet(entry.snippets_of)
        for key in voice.keys
    )
    return next((one for one in found if one and voice.may_say(one.code)), _NO_CODE)
