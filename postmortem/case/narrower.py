"""What narrower rules make of a log counts before what its words suggest.

In: gathered findings, the signatures. Out: those that count, in the order of the log. Not here: how
much each counts (`case.standing`).
"""

from collections.abc import Iterable, Mapping

from postmortem.gathering.gathered import Seen
from postmortem.knowledge.base import Signature


def narrowest(seen: Iterable[Seen], rules: Mapping[str, Signature]) -> list[Seen]:
    """Leave out the findings of broad signatures where another one names what ended the run."""
    ordered = sorted(seen, key=lambda found: (found.finding.source, found.finding.offset))
    if any(_names_the_end(found, rules[found.finding.signature]) for found in ordered):
        return [found for found in ordered if not rules[found.finding.signature].broad]
    return ordered


def _names_the_end(found: Seen, rule: Signature) -> bool:
    return found.finding.role == "cause" and rule.fatal and not rule.broad
