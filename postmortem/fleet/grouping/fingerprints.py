"""Fingerprints: an id that the same failure has in each run, from what does not change.

In: a `FailureSummary`. Out: a `Fingerprint`. Not here: what is taken from an analysis
(`grouping.failure_summary`), failures that are alike but not the same
(`grouping.failure_clusters`).

Two jobs have failed the same way when they have the same cause, by the same rule, in the same place
of the user's own code. The process, the machine, the step, sizes and paths do not count. A cause
that curves show and no text has no rule: all of it is one group. So is health. Where the program
abstains, or names a cause only for lack of another, the wording of the failing line takes the place
of the rule, and the group is found by similarity.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from postmortem.fleet.grouping.failure_summary import FailureSummary
from postmortem.rules.traits import Trait, has_trait

FINGERPRINT_VERSION: Final = 1
"""Of what counts: it is part of every id, so that ids of two versions are never compared."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What jobs with the same failure share."""

    id: str
    """`g1-3fa9c2d41b07`: version, hash. Of an open one `o1-3fa9c2d4-1b07a1c3`, with the hash of its
    scope, which begins with `p` where the scope holds a place in the user's own code."""
    cause: str | None
    is_open: bool
    """The cause is not known: the group is found by `failure_clusters`, not by this id."""
    template: str


def compute_fingerprint(summary: FailureSummary) -> Fingerprint:
    """Compute the fingerprint of a failure."""
    cause, is_open = summary.cause, is_left_open(summary.cause)
    if is_open:
        scope = compute_short_hash(cause or "", summary.exception, *summary.frames)
        kind = "p" if summary.frames else "o"
        name = f"{kind}{FINGERPRINT_VERSION}-{scope}-{compute_short_hash(scope, summary.template)}"
    else:
        parts = (summary.rule or summary.exception, *summary.named, "in", *summary.frames)
        is_healthy = has_trait(cause, Trait.SOUND)
        digest = compute_short_hash(cause or "", *(() if is_healthy else parts), length=12)
        name = f"g{FINGERPRINT_VERSION}-{digest}"
    return Fingerprint(name, cause, is_open, summary.template)


def is_left_open(cause: str | None) -> bool:
    """Say whether a cause says too little for a group: none, or one for want of another."""
    if cause is None:
        return True
    is_left = has_trait(cause, Trait.RESIDUAL) or has_trait(cause, Trait.UNEXPLAINED)
    return is_left and not has_trait(cause, Trait.SOUND)


def compute_short_hash(*parts: str, length: int = 8) -> str:
    """Give the same few hexadecimal digits for the same texts, on every machine."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=length // 2).hexdigest()
