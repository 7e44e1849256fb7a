"""Fixes out of known defects: the version that has not got one, as the line for pip.

In: a cause with its evidence, the advisories, the case. Out: `Fix`es. Not here: which advisories
hold (`inference.known_defects`), the fixes of the causes themselves (`fixes.select`).
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core.answer import Cause, Fix
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, parse_bilingual, quote, say
from postmortem.core.names import LEVELS
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.figures import collect_user_values, set_in
from postmortem.diagnosis.inference.known_defects import (
    describe_remedy,
    find_symptom,
    may_apply,
)
from postmortem.diagnosis.inference.rules import WEIGHTS
from postmortem.rules.causes import Advisory
from postmortem.rules.snippets import fill

_COMMENT: Final = compile_lazily(r"(?m)\s{0,80}#.*$")
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
        code = _COMMENT.sub("", fix.snippet.en).strip()
        if not any(
            (
                code
                and code == _COMMENT.sub("", one.snippet.en).strip()
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
