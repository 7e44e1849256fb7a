"""What a replay has shown as evidence for the ranking, and under the titles of the rules.

In: a `Replayed`. Out: pairs for `rank(extra=…)`; the same value with titles. Not here: weighing.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from postmortem.model.answer import Evidence
from postmortem.model.replayed import CauseTested, Replayed
from postmortem.model.said import Said, listed, say
from postmortem.replay.judging import causes

CONFIRMING: Final = 10.0
"""Log-odds: more than all that a log can say."""
_REFUTING: Final = -6.0
_INTERMITTENT: Final = 0.7


def evidence(found: Replayed[Said]) -> Iterator[tuple[str, Evidence[Said]]]:
    """Yield what speaks for or against each cause; what was not tested says nothing."""
    for one in found.tested:
        weight = _weight(one)
        if weight:
            yield one.cause, _item(one, weight)


def _weight(one: CauseTested[Said]) -> float:
    if one.verdict == "confirmed":
        return CONFIRMING
    if one.verdict == "refuted":
        return _REFUTING
    intermittent = {cause.id for cause in causes() if cause.is_intermittent}
    is_one = one.verdict == "not-reproduced" and one.cause in intermittent
    return _INTERMITTENT if is_one else 0.0


def _item(one: CauseTested[Said], weight: float) -> Evidence[Said]:
    said = {
        "confirmed": say("confirmed by replay", "重放已证实"),
        "refuted": say("refuted by replay", "重放已排除"),
    }.get(one.verdict, say("not reproduced by replay", "重放未重现"))
    because = listed(list(one.reasons), "; ", "；")
    text = say("{said}: {because}", "{said}：{because}", said=said, because=because)
    return Evidence("replay", f"replay.{one.verdict}", "replay", text, weight)


def titled(found: Replayed[Said], title: Callable[[str], Said]) -> Replayed[Said]:
    """Give each cause its title."""
    return replace(
        found, tested=tuple(replace(one, title=title(one.cause)) for one in found.tested)
    )
