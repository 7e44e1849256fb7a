"""Check whether the replayed window matches the recorded one.

In: a bench, the run as recorded. Out: how far the losses agree, as text and as a judgement. Not
here: running.
"""

import math
from typing import Final, NamedTuple

from postmortem.core.message import Message, say
from postmortem.replay.rerun.bench import Bench
from postmortem.replay.rerun.regime import WindowRun

_SAME_DEVICE: Final = 0.02
_OTHER_DEVICE: Final = 0.2
"""Another device draws other random numbers, and sums otherwise."""


class Fidelity(NamedTuple):
    """How far a run is the recorded one."""

    summary: Message
    is_faithful: bool
    """Near enough for what it shows to hold for the recorded run."""


_NOTHING: Final = say("no finite loss was recorded to compare with")


def compare_losses(bench: Bench, run: WindowRun) -> Fidelity:
    """Compare the losses of all micro-batches, as far as both are finite."""
    pairs = [
        (recorded.loss, loss)
        for step, ran in zip(bench.steps, run.steps, strict=False)
        for recorded, loss in zip(step.micro_batches, ran.losses, strict=False)
        if recorded.loss is not None and math.isfinite(recorded.loss) and math.isfinite(loss)
    ]
    if not pairs:
        return Fidelity(_NOTHING, is_faithful=True)
    if all(first == second for first, second in pairs):
        return Fidelity(
            say(
                "bit-equal: {count} recorded losses come out again",
                count=len(pairs),
            ),
            is_faithful=True,
        )
    apart = [abs(first - second) / max(abs(first), abs(second), 1e-12) for first, second in pairs]
    most = _SAME_DEVICE if bench.device.type == bench.manifest.device.type else _OTHER_DEVICE
    return Fidelity(
        say(
            "not bit-equal: of {count} losses the first differs by {first:.2g}, the worst by"
            " {worst:.2g} of its size",
            count=len(pairs),
            first=apart[0],
            worst=max(apart),
        ),
        is_faithful=apart[0] <= most,
    )
