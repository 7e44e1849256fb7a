"""From scores to an answer.

Precedence, probabilities, the status word, or the abstention with what would decide.

In: scored causes, the case, the first failure. Out: ranked `Ranked` causes and the `Verdict`.
Not here: weighing (`inference.rules`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.inference.case import Case
from postmortem.inference.order import Failure
from postmortem.inference.rules import PRIOR, WEIGHTS, Scored
from postmortem.knowledge.base import KnowledgeBase
from postmortem.model.diagnosis import Evidence, Need, Verdict
from postmortem.model.said import cut, labelled, say

USER_EXCEPTION: Final = "code.user-exception"
NO_CAUSE: Final = "unknown.no-cause-shown"
PEER: Final = "distributed.peer-failure"
ABSTAIN_BELOW: Final = 0.45
_NEAR: Final = 1.6
"""Log-odds within which the narrower of two causes stands before the broader one."""
_TEMPERATURE: Final = 0.7
"""Fitted on labelled cases that no rule was written from (65 of them, expected calibration error 0.115 → 0.085); below 0.6 it would gain more there, at the price of confident errors."""
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
    evidence: tuple[Evidence, ...]


def rank(
    scored: Sequence[Scored],
    case: Case,
    first: Failure | None,
    knowledge: KnowledgeBase,
    language: str,
) -> list[Ranked]:
    """Order the causes and turn log-odds into probabilities; never empty."""
    scores = {one.id: one for one in scored}
    _add_fallbacks(scores, case, first, language)
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


def _add_fallbacks(
    scores: dict[str, Scored], case: Case, first: Failure | None, language: str
) -> None:
    """An exception that no signature explains is the user's, or a library's.

    A log without any evidence is unknown.
    """
    if first is not None and first.traceback is not None:
        one = first.traceback
        explained = any(
            event.finding.source == one.source
            and one.line - 3 <= event.finding.line <= one.end_line + 40
            and event.finding.role in {"cause", "consequence"}
            and event.factor > 0.5
            for event in case.events
        )
        if not explained and one.exception:
            own = one.own_frame()
            weight = (
                WEIGHTS["moderate"]
                if not one.frames
                else (
                    WEIGHTS["strong"]
                    if own is not None and not one.raised_in_library()
                    else _RAISED_IN_LIBRARY
                )
            )
            text = f"{one.exception}: {cut((one.message.splitlines() or [''])[0], 240)}" + (
                f" — {own.file}:{own.line}" if own else ""
            )
            _add(
                scores,
                USER_EXCEPTION,
                Evidence(
                    "traceback",
                    "unexplained-exception",
                    "traceback",
                    text,
                    weight,
                    one.source,
                    one.where,
                    one.line,
                    one.end_line,
                ),
            )
        elif not explained and not one.frames:
            _add(
                scores,
                NO_CAUSE,
                Evidence(
                    "traceback",
                    "unexplained-line",
                    "absence",
                    cut(one.message, 240),
                    WEIGHTS["moderate"],
                    one.source,
                    one.where,
                    one.line,
                    one.end_line,
                ),
            )
    if not scores or max(one.score for one in scores.values()) < -1.0:
        _add(
            scores,
            NO_CAUSE,
            Evidence(
                "shape", "nothing-found", "absence", _NOTHING.text(language), WEIGHTS["moderate"]
            ),
        )


def _add(scores: dict[str, Scored], cause: str, item: Evidence) -> None:
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


def verdict(
    ranked: Sequence[Ranked], case: Case, knowledge: KnowledgeBase, language: str
) -> Verdict:
    """State the answer, or abstain and say what would decide."""
    best = ranked[0]
    rule = knowledge.cause(best.id)
    abstains = best.probability < ABSTAIN_BELOW or best.id.startswith("unknown.")
    status = "unknown" if abstains else _status(best, ranked)
    summary = _summary(best, ranked, status, case, knowledge, language)
    would_change = tuple(
        labelled(knowledge.title(item.neighbour, language), item.by[language]).text(language)
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
        not_checked=_not_checked(case, language),
        would_change=would_change,
        need=_need(ranked, knowledge, language) if abstains or status == "hypothesis" else (),
    )


def separated(best: str, other: str, knowledge: KnowledgeBase, language: str) -> str:
    """Give the one observation that would tell two causes apart, as either of them names it.

    Nothing if none does.
    """
    pairs = ((best, other), (other, best))
    return next(
        (
            item.by[language]
            for one, two in pairs
            for item in knowledge.cause(one).separations
            if item.neighbour == two
        ),
        "",
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


_SUMMARIES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "established": "{title}: the log itself shows it.",
        "supported": "{title}: the evidence is for it, nothing speaks against it.",
        "mixed": "{title}: more speaks for it than against it.",
        "hypothesis": "Most likely: {title}. It fits, but so might something else{rival}.",
        "rival": "; second: {title}",
        "unknown": "The log does not show the cause.",
        "candidates": " Closest: {title} ({share:.0%}).",
        "consequences": "The log holds only consequences of a failure whose cause is not in it.",
    },
    "zh": {
        "established": "{title}：日志本身已经证明。",
        "supported": "{title}：证据支持，没有反证。",
        "mixed": "{title}：支持它的证据多于反证。",
        "hypothesis": "最可能：{title}。与日志吻合，但其他原因也说得通{rival}。",
        "rival": "；其次：{title}",
        "unknown": "日志没有显示原因。",
        "candidates": "最接近的是：{title}（{share:.0%}）。",
        "consequences": "日志里只有后果，真正的原因不在其中。",
    },
}


def _summary(
    best: Ranked,
    ranked: Sequence[Ranked],
    status: str,
    case: Case,
    knowledge: KnowledgeBase,
    language: str,
) -> str:
    words = _SUMMARIES[language]
    title = knowledge.title(best.id, language)
    if status == "unknown":
        if best.id == NO_CAUSE and any(
            event.finding.role == "consequence" for event in case.events
        ):
            return words["consequences"]
        return words["unknown"] + (
            ""
            if best.id.startswith("unknown.")
            else words["candidates"].format(title=title, share=best.probability)
        )
    if status == "supported" and any(item.weight < 0 for item in best.evidence):
        return words["mixed"].format(title=title)
    has_rival = len(ranked) > 1 and ranked[1].score > best.score - 2.5
    return words[status].format(
        title=title,
        rival=(
            words["rival"].format(title=knowledge.title(ranked[1].id, language))
            if has_rival
            else ""
        ),
    )


_FALLBACK_NEED: Final[Mapping[str, Sequence[Mapping[str, str]]]] = {
    "en": (
        {
            "what": (
                "the complete log of the first process that failed, from the start of the run to"
                " its last line"
            ),
            "why": "the lines here are only consequences or do not name a cause",
            "command": "grep -n -m1 -B2 -A40 'Traceback' *.log",
        },
        {
            "what": "the environment",
            "why": "GPU, precision and versions decide between causes",
            "command": "postmortem env -o env.txt",
        },
    ),
    "zh": (
        {
            "what": "最先失败的那个进程的完整日志，从启动到最后一行",
            "why": "这里只有后果，或没有写出原因",
            "command": "grep -n -m1 -B2 -A40 'Traceback' *.log",
        },
        {
            "what": "环境信息",
            "why": "GPU、精度与版本决定是哪一种原因",
            "command": "postmortem env -o env.txt",
        },
    ),
}


def _need(ranked: Sequence[Ranked], knowledge: KnowledgeBase, language: str) -> tuple[Need, ...]:
    needs = [
        Need(item.what[language], item.why[language], item.command)
        for one in ranked[:3]
        for item in knowledge.cause(one.id).deciders
    ]
    unique = list({need.what: need for need in needs}.values())[:4]
    return tuple(unique) or tuple(
        Need(item["what"], item["why"], item["command"]) for item in _FALLBACK_NEED[language]
    )


_UNCHECKED: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "gpu": "the GPU model (not printed)",
        "precision": "the training precision (not printed)",
        "versions": "package versions (not printed)",
    },
    "zh": {
        "gpu": "GPU 型号（未打印）",
        "precision": "训练精度（未打印）",
        "versions": "软件包版本（未打印）",
    },
}


def _not_checked(case: Case, language: str) -> tuple[str, ...]:
    words = _UNCHECKED[language]
    environment = case.environment
    missing = [
        name
        for name, known in (
            ("gpu", environment.gpus),
            ("precision", environment.precision),
            ("versions", environment.packages),
        )
        if not known
    ]
    return tuple(words[name] for name in missing)
