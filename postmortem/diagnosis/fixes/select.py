"""Choose the fixes of a cause and of known defects: verify, change, prevent.

In: a cause with its evidence, the case, the knowledge base, what else the caller knows. Out:
`Fix`es with snippets in the user's framework and numbers, of a defect the version that has not got
it as the line for pip; whether a run contradicts a fix: what it would change is so already, or
cannot help here. Not here: the fixes themselves (`patterns/fixes`), the numbers (`fixes.figures`),
in whose terms a fix is worded (`fixes.stack_selection`), which advisories hold
(`inference.known_defects`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from postmortem.core.answer import Cause, Fix
from postmortem.core.log_text import compile_lazily, parse_number
from postmortem.core.message import Message, parse_bilingual, quote, say
from postmortem.core.names import LEVELS
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.figures import collect_user_values, extract_names, set_in
from postmortem.diagnosis.fixes.stack_selection import Speakers, select_stacks
from postmortem.diagnosis.inference.known_defects import describe_remedy, find_symptom, may_apply
from postmortem.diagnosis.inference.predicates import evaluate_condition, evaluate_conditions
from postmortem.diagnosis.inference.scoring import WEIGHTS
from postmortem.extraction.facts.fact_store import parse_value
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import (
    ActionRule,
    Advisory,
    FixRule,
    Snippet,
    fill,
    fill_sentence,
    translate_comments,
)
from postmortem.rules.engine import compile_pattern
from postmortem.rules.vocabulary import StackRules

_CODE_COMMENT: Final = compile_lazily(r"(?<!\S)(?:#|//).*")
_PAIR: Final = compile_lazily(
    r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]{1,80})[\"']?(?:\s{0,3}[:=]\s{0,3}| (?=[\w.+-]+(?:\s|$)))"
    r"(?P<value>[\"']?[\w.+-]{1,60}[\"']?)(?=$|[\s,;)}\]])",
    re.MULTILINE,
)
"""`name=value`, `name: value`, `"name": value`, `--name value`."""


def is_in_force(code: str, settings: Mapping[str, str]) -> bool:
    """Say whether what a snippet sets is set.

    What it sets first is what it is about; what else it sets must at least not be otherwise.
    `settings` have the common names (`max_grad_norm`) and values as printed, or by default.
    """
    pairs = [
        (match["name"].rpartition(".")[2].replace("-", "_"), match["value"].strip("'\""))
        for match in _PAIR.finditer(_CODE_COMMENT.sub("", code))
    ]
    shown = [
        parse_value(settings[name]) == parse_value(value)
        for name, value in pairs
        if name in settings
    ]
    return bool(pairs) and pairs[0][0] in settings and all(shown)


def is_refuted(
    fix: Fix[Message],
    cause: str,
    case: Case,
    settings: Mapping[str, str],
    actions: Iterable[ActionRule],
) -> bool:
    """Say whether a fix of a cause is contradicted. A check never is: it only looks."""
    if fix.kind == "check":
        return False
    if is_in_force(fix.snippet.en, settings):
        return True
    text = f"{fix.title.en}\n{fix.snippet.en}"
    return any(
        compile_pattern(action.pattern).search(text) is not None
        and any(evaluate_condition(one, case) is not None for one in action.refuted_by)
        for action in actions
        if not action.area or cause.partition(".")[0] == action.area
    )


_SHELL_COMMENT: Final = compile_lazily(r"(?m)\s{0,80}#.*$")
_WORD: Final = compile_lazily(r"[\w.-]{2,}")
_FEW_WORDS: Final = 3
_PROOF: Final = LEVELS[0]
"""The level of a defect whose message nothing else prints."""


def add_advisory_fixes(
    cause: Cause[Message], advisories: Iterable[Advisory], case: Case
) -> tuple[Fix[Message], ...]:
    """Put what known defects ask for into the fixes of a cause.

    First of all where the defect is strong evidence for it, or where the log prints the message of
    a single one and not the versions; else behind the first fix.
    """
    weights = {item.id: item.weight for item in cause.evidence if item.kind == "advisory"}
    first: list[Fix[Message]] = []
    then: list[Fix[Message]] = []
    likely: list[Advisory] = []
    for entry in advisories:
        if entry.id in weights:
            is_strong = weights[entry.id] >= WEIGHTS["strong"]
            (first if is_strong else then).append(_build_advisory_fix(entry, case))
        elif _is_shown_by_message(entry, cause.id, case):
            likely.append(entry)
    if len(likely) == 1:  # of several, one asks for what another forbids
        first.append(_build_advisory_fix(likely[0], case))
    return (
        *_drop_duplicate_fixes(first)[:2],
        *cause.fixes[:1],
        *_drop_duplicate_fixes(then)[:2],
        *cause.fixes[1:],
    )


def drop_repeated_fixes(fixes: Iterable[Fix[Message]]) -> tuple[Fix[Message], ...]:
    """Leave out what a former fix says: the same code, or for a check most of its words.

    A change may have the code of the check that tries it.
    """
    kept: list[Fix[Message]] = []
    for fix in fixes:
        code = _SHELL_COMMENT.sub("", fix.snippet.en).strip()
        if not any(
            (
                code
                and code == _SHELL_COMMENT.sub("", one.snippet.en).strip()
                and fix.kind in ("prevent", one.kind)
            )
            or (fix.kind == "check" and _is_alike(fix, one))
            for one in kept
        ):
            kept.append(fix)
    return tuple(kept)


def _is_alike(check: Fix[Message], former: Fix[Message]) -> bool:
    """Say whether two titles share half of their words, or a check's commands are a former's."""
    mine, other = (set(_WORD.findall(one.title.en.lower())) for one in (check, former))
    code, known = (set(_WORD.findall(one.snippet.en)) for one in (check, former))
    is_title = 2 * len(mine & other) >= len(mine | other) > 0
    return is_title or (len(code) >= _FEW_WORDS and 10 * len(code & known) >= 7 * len(code))


def _is_shown_by_message(entry: Advisory, cause: str, case: Case) -> bool:
    """Say whether the log prints the message of a defect, and nothing of the versions it needs."""
    is_proof = bool(entry.message) and entry.causes.get(cause) == _PROOF
    is_asked = is_proof and may_apply(entry, case)
    return is_asked and find_symptom(entry, case) is not None


def _drop_duplicate_fixes(fixes: Iterable[Fix[Message]]) -> list[Fix[Message]]:
    """Give the fixes that say different things: several defects may go with one version."""
    return list({fix.snippet.en or fix.id: fix for fix in reversed(list(fixes))}.values())[::-1]


def _build_advisory_fix(entry: Advisory, case: Case) -> Fix[Message]:
    installed = case.environment.packages
    fixed = describe_remedy(entry)
    if entry.package in installed:
        what = f"{entry.package} {installed[entry.package]}"
        wording = (
            say("Install {fixed}") if entry.install else say("Avoid the defect of {what}: {fixed}")
        )
    else:
        what = ", ".join(f"{name} {wanted}" for name, wanted in entry.ranges.items())
        wording = say("With {what}: {fixed}")
    command = ""
    if entry.install:
        values = collect_user_values(case, set_in(case))
        command = f"python -m pip install {fill(entry.install, values)}"
    return Fix(
        id=f"advisory.{entry.id}",
        kind="change",
        title=wording.fill(what=what, fixed=fixed).settled(),
        why=parse_bilingual(entry.symptom),
        snippet=quote(command),
        language="bash",
        safety="safe",
        references=entry.references,
    )


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

    First one cheap check and the changes that help most; where the log or a replay has proved
    the cause, no check stands in their way. Then the other checks, the other changes, and what
    keeps it from coming back. `extra` holds what the caller knows besides the case: see
    `collect_user_values`.
    """
    voice = select_stacks(case, knowledge.stacks, cause)
    settings = dict(voice.defaults) | set_in(case)
    values = collect_user_values(case, settings, extra)
    entries = [
        entry
        for entry in knowledge.fixes
        if cause in entry.causes
        and _is_applicable(entry, voice)
        and (entry.needs is None or _NEEDS[entry.needs](case, extra or {}))
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

    filled, spell = partial(fill, values=values), partial(fill_sentence, values=values)
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
