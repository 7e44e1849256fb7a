"""Rank the scored causes: unexplained failures, precedence, probabilities.

In: `ScoredCause`s, the case, the precedence of causes. Out: `RankedCause`s, best first.
Not here: weighing (`inference.scoring`), the answer (`inference.verdict`).
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence
from postmortem.core.findings import Traceback
from postmortem.core.message import Message, cut, quote, say
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.scoring import (
    PRIOR,
    WEIGHTS,
    ScoredCause,
    failing_traceback,
    find_known_message,
    get_max_probability,
    has_narrower,
    is_misuse,
    own_exception,
    reduce_health_score,
    rests_on_message,
)
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.exception_rules import Advice
from postmortem.rules.vocabulary import Trait, get_id, has_trait

_NO_FAULT: Final = (Trait.UNEXPLAINED, Trait.SOUND, Trait.PEER_FAILURE)
_NEAR: Final = 1.6
"""Log-odds within which the narrower of two causes stands before the broader one."""
TEMPERATURE: Final = 0.7
"""Fitted on labelled cases that no rule was written from.

65 of them, expected calibration error 0.115 → 0.085; below 0.6 it would gain more there, at the
price of confident errors.
"""
_RIVALS: Final = 0.6
"""Causes overlap: a rival takes away less than all of its odds."""
_WORTH_NAMING: Final = 0.01
_MOST_CAUSES: Final = 8
_RAISED_IN_LIBRARY: Final = 1.2
"""Weight of an exception that no rule explains and that a library raised.

Enough to point there, too little to name a cause.
"""
_CALLED_BY_USER: Final = 2.0
"""Weight of an exception that a library raised over what the user's code gave it, unexplained."""
_LIKELY: Final = 0.0
"""Log-odds below which no cause is likely by itself."""
_BEHIND: Final = 0.5
"""Log-odds by which the reason for a stop stands behind it: it is no rival."""

_OTHER_MESSAGE: Final = say("the message of the exception names something else")
_NOTHING: Final = say("no rule found a cause in this input")


class RankedCause(NamedTuple):
    """A cause with its probability."""

    id: str
    probability: float
    score: float
    evidence: tuple[Evidence[Message], ...]


def rank_causes(
    scored: Iterable[ScoredCause], case: Case, knowledge: KnowledgeBase
) -> list[RankedCause]:
    """Order the causes, best first, and turn log-odds into probabilities; never empty."""
    scores = {cause.id: cause for cause in scored}
    _add_fallbacks(scores, case, knowledge)
    _follow_known_message(scores, case, knowledge)
    _hold_back(scores, case)
    _demote_library_errors(scores)
    _put_stop_before_its_reason(scores)
    for winner, loser in knowledge.precedence:
        _put_narrower_first(scores, winner, loser)
    ordered = sorted(scores.values(), key=lambda cause: (-cause.score, cause.id))[:_MOST_CAUSES]
    best, *others = [
        RankedCause(cause.id, _compute_probability(cause, ordered), cause.score, cause.evidence)
        for cause in ordered
    ]
    return [best, *(cause for cause in others if cause.probability >= _WORTH_NAMING)]


def _compute_probability(cause: ScoredCause, ordered: Sequence[ScoredCause]) -> float:
    """Give the share of a cause among its rivals and the chance that it is none of them.

    Sharpened by the fitted temperature.
    """
    rivals = sum(math.exp(min(other.score, 30.0)) for other in ordered if _are_rivals(cause, other))
    log_odds = min(cause.score, 30.0) - math.log(1.0 + _RIVALS * rivals)
    most = get_max_probability(cause.id, cause.evidence)
    return min(most, round(1.0 / (1.0 + math.exp(-log_odds / TEMPERATURE)), 4))


def _are_rivals(cause: ScoredCause, other: ScoredCause) -> bool:
    """Say whether two causes exclude each other: a run may be stopped for what its curves show."""
    is_reason = any(
        has_trait(one.id, Trait.CANCELS_THE_RUN) and is_shown_by_curve(two)
        for one, two in ((cause, other), (other, cause))
    )
    return cause.id != other.id and not is_reason


def is_shown_by_curve(cause: ScoredCause | RankedCause) -> bool:
    """Say whether a curve speaks for a cause, and strongly."""
    strong = WEIGHTS["strong"]
    return is_of_curves(cause.id) and any(
        item.kind == "shape" and item.weight >= strong for item in cause.evidence
    )


def is_of_curves(cause: str) -> bool:
    """Say whether the course of metrics can show a cause."""
    return has_trait(cause, Trait.SHOWN_BY_CURVES) or has_trait(cause, Trait.ABOUT_VALUES)


def _add_fallbacks(scores: dict[str, ScoredCause], case: Case, knowledge: KnowledgeBase) -> None:
    """An exception that no signature explains is the user's, or a library's.

    One that the user's own code raised is the user's, unless something narrower is known of it. A
    log without any evidence is unknown.
    """
    _point_to_exception(scores, case, knowledge)
    failing = failing_traceback(case)
    if failing is not None and failing.exception and failing.own_frame() is not None:
        _point_to_own_code(scores, failing)
    if not scores or max(cause.score for cause in scores.values()) < -1.0:
        nothing = Evidence("shape", "nothing-found", "absence", _NOTHING, WEIGHTS["moderate"])
        _add(scores, get_id(Trait.NO_CAUSE_SHOWN), nothing)


def _point_to_exception(
    scores: dict[str, ScoredCause], case: Case, knowledge: KnowledgeBase
) -> None:
    """Point to an exception of the user's own code, or to one that no signature explains."""
    failed = case.first.traceback if case.first is not None else None
    own = own_exception(case)
    if own is not None and not has_narrower(scores.values(), knowledge):
        item = _build_unexplained_exception(own, is_own=True)
        _add(scores, get_id(Trait.USER_EXCEPTION), item)
    elif failed is not None and not _is_explained(failed, case):
        if failed.exception:
            is_own = is_misuse(failed, case, knowledge)
            item = _build_unexplained_exception(failed, is_own=is_own)
            _add(scores, get_id(Trait.USER_EXCEPTION), item)
        elif not failed.frames:
            _add(scores, get_id(Trait.NO_CAUSE_SHOWN), _build_unexplained_line(failed))


def _point_to_own_code(scores: dict[str, ScoredCause], failing: Traceback) -> None:
    """Point to the user's code where it called what failed, and no other cause is likely."""
    if max((cause.score for cause in scores.values()), default=PRIOR) >= _LIKELY:
        return
    item = _build_unexplained_exception(failing, is_own=False)
    _add(scores, get_id(Trait.USER_EXCEPTION), dataclasses.replace(item, weight=_CALLED_BY_USER))


def _is_explained(failed: Traceback, case: Case) -> bool:
    """Say whether a signature of a failure stands at a traceback."""
    return any(
        event.finding.source == failed.source
        and failed.line - 3 <= event.finding.line <= failed.end_line + 40
        and event.finding.role in {"cause", "consequence"}
        and event.factor > 0.5
        for event in case.events
    )


def _follow_known_message(
    scores: dict[str, ScoredCause], case: Case, knowledge: KnowledgeBase
) -> None:
    """Follow a known message in what it names, before what its frames or a few words suggest.

    Of a message that several causes may print, each of them stays as it is. That the script is at
    fault is the last of all answers and does not displace another one.
    """
    failed = failing_traceback(case)
    found = find_known_message(failed, case, knowledge) if failed is not None else None
    if found is None or not scores:
        return
    failed, known = found
    best = max(scores.values(), key=lambda cause: cause.score)
    is_last = has_trait(known.main_cause, Trait.USER_EXCEPTION)
    if best.id == known.main_cause and not (is_last and has_narrower(scores.values(), knowledge)):
        _add(scores, best.id, _build_known_message(failed, known))
    if is_last or best.id in known.causes or rests_on_message(best, knowledge):
        return
    says = _build_known_message(failed, known)
    _add(scores, known.main_cause, says)
    against = dataclasses.replace(
        says, group="counterevidence", text=_OTHER_MESSAGE, weight=-WEIGHTS["moderate"]
    )
    suggested = [
        cause
        for cause in scores.values()
        if cause.id not in known.causes and not rests_on_message(cause, knowledge)
    ]
    _hold_against(scores, suggested, against)


def _hold_against(
    scores: dict[str, ScoredCause], causes: Iterable[ScoredCause], item: Evidence[Message]
) -> None:
    """Count an item against those of the causes for which something speaks."""
    for cause in causes:
        if any(known.weight > 0 for known in cause.evidence):
            evidence = (*cause.evidence, item)
            scores[cause.id] = ScoredCause(cause.id, cause.score + item.weight, evidence)


def _build_known_message(failed: Traceback, known: Advice) -> Evidence[Message]:
    """Point to a message that the rules of exceptions know."""
    message = cut((failed.message.splitlines() or [""])[0], 240)
    return Evidence(
        "traceback",
        known.id,
        "traceback",
        quote(f"{failed.exception}: {message}"),
        WEIGHTS["strong"],
        failed.source,
        failed.where,
        failed.line,
        failed.end_line,
    )


def _build_unexplained_exception(failed: Traceback, *, is_own: bool) -> Evidence[Message]:
    """Point to an exception that no rule knows, as firmly as its frames say whose it is."""
    own = failed.own_frame()
    weight = WEIGHTS["strong"] if is_own else _RAISED_IN_LIBRARY
    message = cut((failed.message.splitlines() or [""])[0], 240)
    place = f" — {own.file}:{own.line}" if own else ""
    return Evidence(
        "traceback",
        "unexplained-exception",
        "traceback",
        quote(f"{failed.exception}: {message}{place}"),
        weight if failed.frames else WEIGHTS["moderate"],
        failed.source,
        failed.where,
        failed.line,
        failed.end_line,
    )


def _build_unexplained_line(failed: Traceback) -> Evidence[Message]:
    """Point to a last line that says no more than that something failed."""
    return Evidence(
        "traceback",
        "unexplained-line",
        "absence",
        quote(cut(failed.message, 240)),
        WEIGHTS["moderate"],
        failed.source,
        failed.where,
        failed.line,
        failed.end_line,
    )


def _add(scores: dict[str, ScoredCause], cause: str, item: Evidence[Message]) -> None:
    """Add evidence for a cause; what is no weightier than what there is adds nothing."""
    known = scores.get(cause, ScoredCause(cause, PRIOR, ()))
    is_covered = any(other.weight >= item.weight for other in known.evidence)
    score = known.score + (0.0 if is_covered else item.weight)
    scores[cause] = ScoredCause(cause, score, (*known.evidence, item))


def _hold_back(scores: dict[str, ScoredCause], case: Case) -> None:
    """A failure is not healthy, nor wins health a tie; a log with a cause is not without one."""
    real = [
        scored.score
        for cause, scored in scores.items()
        if not any(has_trait(cause, trait) for trait in _NO_FAULT)
    ]
    for cause, scored in list(scores.items()):
        if has_trait(cause, Trait.SOUND):
            scores[cause] = reduce_health_score(scored, case, real)
        elif has_trait(cause, Trait.UNEXPLAINED) and real and max(real) > -0.5:
            score = min(scored.score, max(real) - 1.0)
            scores[cause] = ScoredCause(cause, score, scored.evidence)


def _demote_library_errors(scores: dict[str, ScoredCause]) -> None:
    """Put an exception that a library raised behind what its frames or its class point to.

    That somebody's code is at fault is the last of all answers, unless a frame of it raised.
    """
    last = scores.get(get_id(Trait.USER_EXCEPTION))
    if last is None or max(item.weight for item in last.evidence) > _RAISED_IN_LIBRARY:
        return
    better = [
        cause.score
        for cause in scores.values()
        if not has_trait(cause.id, Trait.USER_EXCEPTION)
        and any(item.kind == "traceback" and item.weight > 0 for item in cause.evidence)
    ]
    if better and last.score > max(better):
        scores[last.id] = ScoredCause(last.id, max(better) - 0.1, last.evidence)


def _put_stop_before_its_reason(scores: dict[str, ScoredCause]) -> None:
    """Put what stopped a run before what its curves speak for: that may be why."""
    stops = [one.score for one in scores.values() if has_trait(one.id, Trait.CANCELS_THE_RUN)]
    most = max(stops, default=PRIOR) - _BEHIND
    for cause in list(scores.values()) if most > _LIKELY else ():
        if cause.score > most and is_shown_by_curve(cause) and not _rests_on_text(cause):
            scores[cause.id] = ScoredCause(cause.id, most, cause.evidence)


def _rests_on_text(cause: ScoredCause) -> bool:
    """Say whether a rule found a line that speaks for a cause."""
    return any(
        item.kind in {"signature", "traceback"} and item.weight > 0 for item in cause.evidence
    )


def _put_narrower_first(scores: dict[str, ScoredCause], winner: str, loser: str) -> None:
    """Put the narrower cause first if it is supported nearly as well."""
    narrow, broad = scores.get(winner), scores.get(loser)
    if narrow is None or broad is None or not 0 <= broad.score - narrow.score <= _NEAR:
        return
    if max(item.weight for item in narrow.evidence) < WEIGHTS["moderate"] * 0.7:
        return
    if all(item.kind == "traceback" for item in narrow.evidence):
        return  # Frames alone tell where, not what.
    scores[winner] = ScoredCause(winner, broad.score + 0.3, narrow.evidence)
    scores[loser] = ScoredCause(loser, narrow.score, broad.evidence)
