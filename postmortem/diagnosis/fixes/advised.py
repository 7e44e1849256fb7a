"""Fixes out of known defects: the version that has not got one, as the line for pip.

In: the evidence of a cause, the advisories, the user's own figures. Out: `Fix`es. Not here: which
advisories hold (`inference.known_defects`), the fixes of the causes themselves (`fixes.select`).
"""

from collections.abc import Iterable, Mapping, Sequence

from postmortem.core.answer import Evidence, Fix
from postmortem.core.message import Message, parse_bilingual, quote, say
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.figures import collect_user_values, set_in
from postmortem.diagnosis.inference.known_defects import describe_remedy
from postmortem.diagnosis.inference.rules import WEIGHTS
from postmortem.rules.causes import Advisory
from postmortem.rules.snippets import fill


def add_advisory_fixes(
    fixes: Sequence[Fix[Message]],
    evidence: Iterable[Evidence[Message]],
    advisories: Iterable[Advisory],
    case: Case,
) -> tuple[Fix[Message], ...]:
    """Put what known defects ask for into the fixes of a cause.

    First of all where the defect is strong evidence for it; else behind the first fix.
    """
    weights = {item.id: item.weight for item in evidence if item.kind == "advisory"}
    values = collect_user_values(case, set_in(case)) if weights else {}
    first: list[Fix[Message]] = []
    then: list[Fix[Message]] = []
    for entry in advisories:
        if entry.id in weights:
            is_strong = weights[entry.id] >= WEIGHTS["strong"]
            (first if is_strong else then).append(_build_advisory_fix(entry, case, values))
    return (
        *_drop_duplicate_fixes(first)[:2],
        *fixes[:1],
        *_drop_duplicate_fixes(then)[:2],
        *fixes[1:],
    )


def _drop_duplicate_fixes(fixes: Iterable[Fix[Message]]) -> list[Fix[Message]]:
    """Give the fixes that say different things: several defects may go with one version."""
    return list({fix.snippet.en or fix.id: fix for fix in reversed(list(fixes))}.values())[::-1]


def _build_advisory_fix(entry: Advisory, case: Case, values: Mapping[str, str]) -> Fix[Message]:
    what = f"{entry.package} {case.environment.packages[entry.package]}"
    wording = (
        ("Install {fixed}", "安装 {fixed}")
        if entry.install
        else ("Avoid the defect of {what}: {fixed}", "规避 {what} 的缺陷：{fixed}")
    )
    command = f"python -m pip install {fill(entry.install, values)}" if entry.install else ""
    return Fix(
        id=f"advisory.{entry.id}",
        kind="change",
        title=say(*wording, what=what, fixed=describe_remedy(entry)).settled(),
        why=parse_bilingual(entry.symptom),
        snippet=quote(command),
        language="bash",
        safety="safe",
        references=entry.references,
    )
