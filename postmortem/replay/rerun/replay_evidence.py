"""Convert the results of a replay to evidence for the ranking, with titles from the rules.

In: a `Replayed`. Out: pairs for `rank(extra=…)`; the same value with titles. Not here: weighing.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.message import SEMICOLON, Message, join_list, say
from postmortem.core.replayed import CauseTested, Replayed
from postmortem.replay.rerun.judging import causes

CONFIRMING: Final = 10.0
"""Log-odds: more than all that a log can say."""
_REFUTING: Final = -6.0
_INTERMITTENT: Final = 0.7


def iter_evidence(found: Replayed[Message]) -> Iterator[tuple[str, Evidence[Message]]]:
    """Yield evidence for or against each tested cause."""
    for cause in found.tested:
        weight = _get_weight(cause)
        if weight:
            yield cause.cause, _build_item(cause, weight)


def _get_weight(tested: CauseTested[Message]) -> float:
    if tested.verdict == "confirmed":
        return CONFIRMING
    if tested.verdict == "refuted":
        return _REFUTING
    intermittent = {cause.id for cause in causes() if cause.is_intermittent}
    is_one = tested.verdict == "not-reproduced" and tested.cause in intermittent
    return _INTERMITTENT if is_one else 0.0


def _build_item(tested: CauseTested[Message], weight: float) -> Evidence[Message]:
    texts = {
        "confirmed": say("confirmed by replay"),
        "refuted": say("refuted by replay"),
    }.get(tested.verdict, say("not reproduced by replay"))
    because = join_list(list(tested.reasons), SEMICOLON)
    text = say("{said}: {because}", said=texts, because=because)
    return Evidence("replay", f"replay.{tested.verdict}", "replay", text, weight)


def fill_titles(found: Replayed[Message], title: Callable[[str], Message]) -> Replayed[Message]:
    """Give each cause its title."""
    return replace(
        found, tested=tuple(replace(cause, title=title(cause.cause)) for cause in found.tested)
    )
