"""Turn the ranked causes into a verdict, or into an abstention with what to collect.

In: the case, the knowledge base, further evidence. Out: `Ranking`.
Not here: weighing (`inference.scoring`), the order of causes (`inference.ranking`).
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence, Need, Verdict, has_rival
from postmortem.core.message import NOTHING, Message, add_label, parse_bilingual, say
from postmortem.diagnosis.case.outcomes import NO_LOG, is_without_log
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.detectors.observed import Anomaly
from postmortem.diagnosis.detectors.waiting_ranks import ALIKE, UNSEEN, WAITING
from postmortem.diagnosis.inference.case_contents import is_available
from postmortem.diagnosis.inference.predicates import evaluate_conditions
from postmortem.diagnosis.inference.ranking import RankedCause, rank_causes
from postmortem.diagnosis.inference.scoring import WEIGHTS, score
from postmortem.extraction.facts.series import is_nameless
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.vocabulary import Trait, has_trait

ABSTAIN_BELOW: Final = 0.45
SURE: Final = 0.8


class Ranking(NamedTuple):
    """What the evidence of a case comes to."""

    causes: Sequence[RankedCause]
    """The candidates, best first; never empty."""
    verdict: Verdict[Message]


def rank(
    case: Case, knowledge: KnowledgeBase, extra: Iterable[tuple[str, Evidence[Message]]] = ()
) -> Ranking:
    """Weigh the causes and state the answer.

    Args:
        case: the evidence.
        knowledge: what speaks for which cause, and how much.
        extra: further evidence, of a classifier or a replay, with the id of the cause that it is
            for (or, of negative weight, against).
    """
    ranked = rank_causes(score(case, knowledge, extra), case, knowledge)
    return Ranking(ranked, build_verdict(ranked, case, knowledge))


def build_verdict(
    ranked: Sequence[RankedCause],
    case: Case,
    knowledge: KnowledgeBase,
    *,
    is_disputed: bool = False,
) -> Verdict[Message]:
    """State the answer, or abstain and say what would decide.

    Of what is disputed the answer is a hypothesis at most.
    """
    best = ranked[0]
    is_unlikely = best.probability < ABSTAIN_BELOW or has_trait(best.id, Trait.UNEXPLAINED)
    abstains = is_unlikely or (case.outcome == NO_LOG and is_without_log(case.extract))
    status = (
        "unknown" if abstains else "hypothesis" if is_disputed else _decide_status(best, ranked)
    )
    return _state_verdict(ranked, status, case, knowledge)


def restate_verdict(ranking: Ranking, status: str, case: Case, knowledge: KnowledgeBase) -> Ranking:
    """State the answer of a ranking anew, with another status; what it names stays."""
    return Ranking(ranking.causes, _state_verdict(ranking.causes, status, case, knowledge))


def _state_verdict(
    ranked: Sequence[RankedCause], status: str, case: Case, knowledge: KnowledgeBase
) -> Verdict[Message]:
    best, abstains = ranked[0], status == "unknown"
    rule = knowledge.cause(best.id)
    would_change = tuple(
        add_label(knowledge.title(item.neighbour), parse_bilingual(item.by))
        for item in rule.separations
        if any(cause.id == item.neighbour for cause in ranked) or status != "established"
    )[:4]
    return Verdict(
        cause=None if abstains else best.id,
        probability=best.probability,
        status=status,
        summary=_build_summary(best, ranked, status, case, knowledge),
        whose="unknown" if abstains else rule.whose,
        retry="unknown"
        if abstains
        else (
            rule.retry if evaluate_conditions(rule.retry_asked, case) is not None else "after-fix"
        ),
        not_checked=_list_unchecked(case),
        would_change=would_change,
        need=_list_needs(ranked, case, knowledge) if abstains or status == "hypothesis" else (),
    )


def describe_distinction(best: str, other: str, knowledge: KnowledgeBase) -> Message:
    """Give the observation that would distinguish two causes, as either of them names it.

    Nothing if none does.
    """
    pairs = ((best, other), (other, best))
    return next(
        (
            parse_bilingual(item.by)
            for cause, neighbour in pairs
            for item in knowledge.cause(cause).separations
            if item.neighbour == neighbour
        ),
        NOTHING,
    )


def _decide_status(best: RankedCause, ranked: Sequence[RankedCause]) -> str:
    shown = [item.weight for item in best.evidence if item.kind != "classifier"]
    strongest = max(shown, default=0.0)  # how a log is worded proves nothing
    against = any(item.weight <= -WEIGHTS["moderate"] for item in best.evidence)
    rival = ranked[1].score if len(ranked) > 1 else -math.inf
    if best.probability >= SURE and _is_replayed(best):
        return "established"
    if strongest >= WEIGHTS["decisive"] * 0.8 and best.probability >= SURE and not against:
        return "established"
    if strongest >= WEIGHTS["strong"] * 0.8 and best.score - rival >= 0.8 and not against:
        return "supported"
    return "hypothesis"


def _is_replayed(best: RankedCause) -> bool:
    """Say whether running the steps again has proved a cause: an experiment needs no log."""
    return any(
        item.kind == "replay" and item.weight >= WEIGHTS["decisive"] for item in best.evidence
    )


_REPLAYED: Final = say("{title}: running the recorded steps again proves it.")
_ESTABLISHED: Final = say("{title}: the log itself shows it.")
_SUPPORTED: Final = say("{title}: the evidence is for it, nothing speaks against it.")
_MIXED: Final = say("{title}: more speaks for it than against it.")
_HYPOTHESIS: Final = say(
    "Most likely: {title}. The log does not prove it, and no other cause comes near."
)
_RIVALLED: Final = say(
    "Most likely: {title}. It fits, but so might something else; second: {rival}."
)
_UNKNOWN: Final = say("The log does not show the cause.")
_CLOSEST: Final = say("{unknown} Closest: {title} ({share:.0%}).")
_CONSEQUENCES: Final = say("The log holds only consequences of a failure whose cause is not in it.")


def _build_summary(
    best: RankedCause,
    ranked: Sequence[RankedCause],
    status: str,
    case: Case,
    knowledge: KnowledgeBase,
) -> Message:
    title = knowledge.title(best.id)
    if status == "unknown":
        return _describe_abstention(best, title, case)
    if status == "established":
        return (_REPLAYED if _is_replayed(best) else _ESTABLISHED).fill(title=title)
    if status == "supported":
        is_mixed = any(item.weight < 0 for item in best.evidence)
        return (_MIXED if is_mixed else _SUPPORTED).fill(title=title)
    second = ranked[1] if len(ranked) > 1 else None
    if second is not None and has_rival(best.probability, best.score, second.score):
        return _RIVALLED.fill(title=title, rival=knowledge.title(second.id))
    return _HYPOTHESIS.fill(title=title)


def _describe_abstention(best: RankedCause, title: Message, case: Case) -> Message:
    has_consequences = any(event.finding.role == "consequence" for event in case.events)
    if has_trait(best.id, Trait.NO_CAUSE_SHOWN) and has_consequences:
        return _CONSEQUENCES
    if has_trait(best.id, Trait.UNEXPLAINED):
        return _UNKNOWN
    return _CLOSEST.fill(unknown=_UNKNOWN, title=title, share=best.probability)


_FALLBACK_NEED: Final = (
    (
        ("traceback",),
        Need(
            say(
                "the complete log of the first process that failed, from the start of the run to"
                " its last line"
            ),
            say("the lines here are only consequences or do not name a cause"),
            "grep -n -m1 -B2 -A40 'Traceback' *.log",
        ),
    ),
    (
        ("environment",),
        Need(
            say("the environment"),
            say("GPU, precision and versions decide between causes"),
            "postmortem env -o env.txt",
        ),
    ),
)
"""What may be asked for of any run, behind what it is not asked for if that is at hand."""


def _list_needs(
    ranked: Sequence[RankedCause], case: Case, knowledge: KnowledgeBase
) -> tuple[Need[Message], ...]:
    """Say what would decide, but for what was handed in."""
    if is_nameless(case.extract.series.values()):
        return (_NAME_NEED,)
    needs = [
        need
        for anomaly in case.anomalies.values()
        if anomaly.id in WAITING and anomaly.captures
        for need in _ask_beyond_dumps(anomaly)
    ]
    needs += (
        Need(parse_bilingual(item.what), parse_bilingual(item.why), item.command)
        for cause in ranked[:3]
        for item in knowledge.cause(cause.id).deciders
        if not is_available(item.given, case)
    )
    unique = list({need.what.en: need for need in needs}.values())[:4]
    return tuple(unique) or tuple(
        need for inputs, need in _FALLBACK_NEED if not is_available(inputs, case)
    )


def _ask_beyond_dumps(anomaly: Anomaly) -> tuple[Need[Message], ...]:
    """Ask for the stack of the ranks that the others wait for, or for what dumps do not show."""
    if anomaly.id == ALIKE:
        return _BEYOND_DUMPS
    ranks = anomaly.captures.get("ranks") or anomaly.where.rank
    if anomaly.id == UNSEEN:
        dumps = say("the dump, or the log, of rank {ranks}", ranks=ranks)
        return (Need(dumps, _UNSEEN_DECIDES, "ls nccl_trace_rank_* comm_lib_trace_rank_*"),)
    stack = say(
        "the stack of rank {ranks} while the run stands, or the end of its own log",
        ranks=ranks,
    )
    return (Need(stack, _STACK_DECIDES, "py-spy dump --pid PID"),)


_STACK_DECIDES: Final = say(
    "the dumps show where it stands among the collectives, not what it does there"
)
_UNSEEN_DECIDES: Final = say(
    "the ranks handed in wait for it: a process that died or was never asked leaves no dump"
)
_BEYOND_DUMPS: Final = (
    Need(
        say("the dumps of all ranks, and the logs with NCCL's warnings"),
        say(
            "no rank is late among the dumps at hand; a missing one may be, or NCCL names the link"
        ),
        "NCCL_DEBUG=WARN TORCH_NCCL_DUMP_ON_TIMEOUT=1 torchrun ...",
    ),
    Need(
        say("what NCCL's RAS says while the run stands"),
        say("it names processes that no longer answer, and ranks that are behind on the device"),
        "ncclras -v",
    ),
    Need(
        say("the kernel's messages of each machine"),
        say("a device or link that failed stands there"),
        "dmesg -T | grep -iE 'xid|nvlink|mlx5|link (is )?down'",
    ),
)
"""What decides where all ranks wait alike."""
_NAME_NEED: Final = Need(
    say("the names of the columns: a heading line, or a file name that says it (loss.txt)"),
    say(
        "nothing in the input says what its figures are; values that are not finite are all that"
        " they show"
    ),
    "cp FILE loss.txt",
)
_NO_NAMES: Final = say("how the curves go (their columns have no names)")
_NO_GPU: Final = say("the GPU model (not printed)")
_NO_PRECISION: Final = say("the training precision (not printed)")
_NO_VERSIONS: Final = say("package versions (not printed)")


def _list_unchecked(case: Case) -> tuple[Message, ...]:
    known = (
        (_NO_NAMES, not is_nameless(case.extract.series.values())),
        (_NO_GPU, case.environment.gpus),
        (_NO_PRECISION, case.environment.precision),
        (_NO_VERSIONS, case.environment.packages),
    )
    return tuple(sentence for sentence, is_known in known if not is_known)
