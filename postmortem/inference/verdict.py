"""From scores to an answer.

Precedence, probabilities, the status word, or the abstention with what would decide.

In: the case, the knowledge base, further evidence. Out: `Ranking`.
Not here: weighing (`inference.rules`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.case.case import Case
from postmortem.inference.rules import PRIOR, WEIGHTS, Scored, score
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.diagnosis import Evidence, Need, Verdict
from postmortem.model.findings import Traceback
from postmortem.model.said import NOTHING, Said, both, cut, labelled, quote, say

USER_EXCEPTION: Final = "code.user-exception"
NO_CAUSE: Final = "unknown.no-cause-shown"
PEER: Final = "distributed.peer-failure"
ABSTAIN_BELOW: Final = 0.45
_NEAR: Final = 1.6
"""Log-odds within which the narrower of two causes stands before the broader one."""
_TEMPERATURE: Final = 0.7
"""Fitted on labelled cases that no rule was written from (65 of them, expected calibration error 0.115 → 0.085); below 0.6 it would gain more there, at the price of confident errors."""
_WITHIN_REACH: Final = 2.5
"""Log-odds within which a second cause is named beside a hypothesis."""
_RIVALS: Final = 0.6
"""Causes overlap: a rival takes away less than all of its odds."""
_MOST_CERTAIN: Final = 0.9999
_WORTH_NAMING: Final = 0.01
_MOST_CAUSES: Final = 8
_RAISED_IN_LIBRARY: Final = 1.2
"""Weight of an exception that no rule explains and that a library raised: enough to point there, too little to name a cause."""


_NOTHING: Final = say("no rule found a cause in this input", "没有规则能从输入中找到原因")


class Ranked(NamedTuple):
    """A cause with its probability."""

    id: str
    probability: float
    score: float
    evidence: tuple[Evidence[Said], ...]


class Ranking(NamedTuple):
    """What the evidence of a case comes to."""

    causes: Sequence[Ranked]
    """The candidates, best first; never empty."""
    verdict: Verdict[Said]


def rank(
    case: Case, knowledge: KnowledgeBase, extra: Iterable[tuple[str, Evidence[Said]]] = ()
) -> Ranking:
    """Weigh the causes and state the answer.

    Args:
        case: the evidence.
        knowledge: what speaks for which cause, and how much.
        extra: further evidence, of a classifier or a replay, with the id of the cause that it is
            for (or, of negative weight, against).
    """
    ranked = _ranked(score(case, knowledge, extra), case, knowledge)
    return Ranking(ranked, answer(ranked, case, knowledge))


def _ranked(scored: Iterable[Scored], case: Case, knowledge: KnowledgeBase) -> list[Ranked]:
    """Order the causes and turn log-odds into probabilities."""
    scores = {one.id: one for one in scored}
    _add_fallbacks(scores, case)
    _hold_back(scores, case)
    for winner, loser in knowledge.precedence:
        _prefer(scores, winner, loser)
    ordered = sorted(scores.values(), key=lambda one: (-one.score, one.id))[:_MOST_CAUSES]
    ranked = [
        Ranked(one.id, _probability(one, ordered), one.score, one.evidence) for one in ordered
    ]
    return [
        one for index, one in enumerate(ranked) if index == 0 or one.probability >= _WORTH_NAMING
    ]


def _probability(one: Scored, ordered: Sequence[Scored]) -> float:
    """The share of a cause among its rivals and the chance that it is none of them, sharpened by the fitted temperature."""
    rivals = sum(math.exp(min(other.score, 30.0)) for other in ordered if other.id != one.id)
    log_odds = min(one.score, 30.0) - math.log(1.0 + _RIVALS * rivals)
    return min(_MOST_CERTAIN, round(1.0 / (1.0 + math.exp(-log_odds / _TEMPERATURE)), 4))


def _add_fallbacks(scores: dict[str, Scored], case: Case) -> None:
    """An exception that no signature explains is the user's, or a library's.

    A log without any evidence is unknown.
    """
    failed = case.first.traceback if case.first is not None else None
    if failed is not None and not _is_explained(failed, case):
        if failed.exception:
            _add(scores, USER_EXCEPTION, _unexplained(failed))
        elif not failed.frames:
            _add(scores, NO_CAUSE, _unexplained_line(failed))
    if not scores or max(one.score for one in scores.values()) < -1.0:
        nothing = Evidence("shape", "nothing-found", "absence", _NOTHING, WEIGHTS["moderate"])
        _add(scores, NO_CAUSE, nothing)


def _is_explained(failed: Traceback, case: Case) -> bool:
    """Say whether a signature of a failure stands at a traceback."""
    return any(
        event.finding.source == failed.source
        and failed.line - 3 <= event.finding.line <= failed.end_line + 40
        and event.finding.role in {"cause", "consequence"}
        and event.factor > 0.5
        for event in case.events
    )


def _unexplained(failed: Traceback) -> Evidence[Said]:
    """Point to an exception that no rule knows, as firmly as its frames say whose it is."""
    own = failed.own_frame()
    is_own = own is not None and not failed.raised_in_library()
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


def _unexplained_line(failed: Traceback) -> Evidence[Said]:
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


def _add(scores: dict[str, Scored], cause: str, item: Evidence[Said]) -> None:
    known = scores.get(cause)
    score = (known.score if known else PRIOR) + (
        item.weight
        if not known or not any(one.weight >= item.weight for one in known.evidence)
        else 0.0
    )
    scores[cause] = Scored(cause, score, (*(known.evidence if known else ()), item))


def _hold_back(scores: dict[str, Scored], case: Case) -> None:
    """A failure is not healthy; a log with a cause in it is not without one."""
    real = [
        one.score
        for one in scores.values()
        if not one.id.startswith(("unknown.", "healthy.")) and one.id != PEER
    ]
    for cause in list(scores):
        one = scores[cause]
        if cause.startswith("healthy.") and case.outcome in {"failed", "stalled"}:
            scores[cause] = Scored(cause, one.score - 6.0, one.evidence)
        elif cause.startswith("unknown.") and real and max(real) > -0.5:
            scores[cause] = Scored(cause, min(one.score, max(real) - 1.0), one.evidence)


def _prefer(scores: dict[str, Scored], winner: str, loser: str) -> None:
    """Put the narrower cause first if it is supported nearly as well."""
    one, other = scores.get(winner), scores.get(loser)
    if one is None or other is None or other.score < one.score or other.score - one.score > _NEAR:
        return
    if max(item.weight for item in one.evidence) < WEIGHTS["moderate"] * 0.7:
        return
    scores[winner] = Scored(winner, other.score + 0.3, one.evidence)
    scores[loser] = Scored(loser, one.score, other.evidence)


def answer(ranked: Sequence[Ranked], case: Case, knowledge: KnowledgeBase) -> Verdict[Said]:
    """State the answer, or abstain and say what would decide."""
    best = ranked[0]
    rule = knowledge.cause(best.id)
    abstains = best.probability < ABSTAIN_BELOW or best.id.startswith("unknown.")
    status = "unknown" if abstains else _status(best, ranked)
    summary = _summary(best, ranked, status, case, knowledge)
    would_change = tuple(
        labelled(knowledge.title(item.neighbour), both(item.by))
        for item in rule.separations
        if any(one.id == item.neighbour for one in ranked) or status != "established"
    )[:4]
    return Verdict(
        cause=None if abstains else best.id,
        probability=best.probability,
        status=status,
        summary=summary,
        whose="unknown" if abstains else rule.whose,
        retry="unknown" if abstains else rule.retry,
        not_checked=_not_checked(case),
        would_change=would_change,
        need=_need(ranked, knowledge) if abstains or status == "hypothesis" else (),
    )


def separated(best: str, other: str, knowledge: KnowledgeBase) -> Said:
    """Give the one observation that would tell two causes apart, as either of them names it.

    Nothing if none does.
    """
    pairs = ((best, other), (other, best))
    return next(
        (
            both(item.by)
            for one, two in pairs
            for item in knowledge.cause(one).separations
            if item.neighbour == two
        ),
        NOTHING,
    )


def _status(best: Ranked, ranked: Sequence[Ranked]) -> str:
    strongest = max(item.weight for item in best.evidence)
    against = any(item.weight <= -WEIGHTS["moderate"] for item in best.evidence)
    rival = ranked[1].score if len(ranked) > 1 else -math.inf
    if strongest >= WEIGHTS["decisive"] * 0.8 and best.probability >= 0.8 and not against:
        return "established"
    if strongest >= WEIGHTS["strong"] * 0.8 and best.score - rival >= 0.8 and not against:
        return "supported"
    return "hypothesis"


_ESTABLISHED: Final = ("{title}: the log itself shows it.", "{title}：日志本身已经证明。")
_SUPPORTED: Final = (
    "{title}: the evidence is for it, nothing speaks against it.",
    "{title}：证据支持，没有反证。",
)
_MIXED: Final = (
    "{title}: more speaks for it than against it.",
    "{title}：支持它的证据多于反证。",
)
_HYPOTHESIS: Final = (
    "Most likely: {title}. It fits, but so might something else{rival}.",
    "最可能：{title}。与日志吻合，但其他原因也说得通{rival}。",
)
_RIVAL: Final = ("; second: {title}", "；其次：{title}")
_UNKNOWN: Final = say("The log does not show the cause.", "日志没有显示原因。")
_CLOSEST: Final = (
    "{unknown} Closest: {title} ({share:.0%}).",
    "{unknown}最接近的是：{title}（{share:.0%}）。",
)
_CONSEQUENCES: Final = say(
    "The log holds only consequences of a failure whose cause is not in it.",
    "日志里只有后果，真正的原因不在其中。",
)


def _summary(
    best: Ranked, ranked: Sequence[Ranked], status: str, case: Case, knowledge: KnowledgeBase
) -> Said:
    title = knowledge.title(best.id)
    if status == "unknown":
        return _abstention(best, title, case)
    if status == "established":
        return say(*_ESTABLISHED, title=title)
    if status == "supported":
        is_mixed = any(item.weight < 0 for item in best.evidence)
        return say(*(_MIXED if is_mixed else _SUPPORTED), title=title)
    has_rival = len(ranked) > 1 and ranked[1].score > best.score - _WITHIN_REACH
    rival = say(*_RIVAL, title=knowledge.title(ranked[1].id)) if has_rival else NOTHING
    return say(*_HYPOTHESIS, title=title, rival=rival)


def _abstention(best: Ranked, title: Said, case: Case) -> Said:
    has_consequences = any(event.finding.role == "consequence" for event in case.events)
    if best.id == NO_CAUSE and has_consequences:
        return _CONSEQUENCES
    if best.id.startswith("unknown."):
        return _UNKNOWN
    return say(*_CLOSEST, unknown=_UNKNOWN, title=title, share=best.probability)


_FALLBACK_NEED: Final = (
    Need(
        say(
            "the complete log of the first process that failed, from the start of the run to its"
            " last line",
            "最先失败的那个进程的完整日志，从启动到最后一行",
        ),
        say(
            "the lines here are only consequences or do not name a cause",
            "这里只有后果，或没有写出原因",
        ),
        "grep -n -m1 -B2 -A40 'Traceback' *.log",
    ),
    Need(
        say("the environment", "环境信息"),
        say(
            "GPU, precision and versions decide between causes",
            "GPU、精度与版本决定是哪一种原因",
        ),
        "postmortem env -o env.txt",
    ),
)


def _need(ranked: Sequence[Ranked], knowledge: KnowledgeBase) -> tuple[Need[Said], ...]:
    needs = (
        Need(both(item.what), both(item.why), item.command)
        for one in ranked[:3]
        for item in knowledge.cause(one.id).deciders
    )
    unique = list({need.what.en: need for need in needs}.values())[:4]
    return tuple(unique) or _FALLBACK_NEED


_NO_GPU: Final = say("the GPU model (not printed)", "GPU 型号（未打印）")
_NO_PRECISION: Final = say("the training precision (not printed)", "训练精度（未打印）")
_NO_VERSIONS: Final = say("package versions (not printed)", "软件包版本（未打印）")


def _not_checked(case: Case) -> tuple[Said, ...]:
    known = (
        (_NO_GPU, case.environment.gpus),
        (_NO_PRECISION, case.environment.precision),
        (_NO_VERSIONS, case.environment.packages),
    )
    return tuple(said for said, is_known in known if not is_known)
