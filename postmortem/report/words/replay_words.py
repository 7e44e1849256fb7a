"""Phrases of a replay, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
filling them in (`report.replay_texts`).
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_in

REPLAY: Final[Mapping[str, Message]] = {
    "replay": say("Replay"),
    "replay.title": say("The suspect steps run again"),
    "replay.note": say("the recorded steps were run again, each time with one thing changed"),
    "replay.reason": say("Recorded because"),
    "replay.fidelity": say("As recorded"),
    "replay.place": say("First out of range"),
    "replay.devices": say("Recorded on {there}, run again on {here}"),
    "replay.verdicts": say("What it says of each cause"),
    "replay.culprits": say("The samples that the failure hangs on"),
    "replay.culprit": say("step {step}, place {position} in the batch"),
    "replay.index": say("index {index} in the data set"),
    "replay.trials": say("Trials"),
    "replay.changed": say("Changed"),
    "replay.outcome": say_in("replay", "Outcome"),
    "replay.what": say("What happened"),
    "replay.peaks": say("Greatest values by module"),
    "replay.peaks.of": say("{of}; limit of {dtype}: {limit}"),
    "replay.peaks.said": say(
        "Greatest absolute value in the output of {count} modules, in the order of the forward"
        " pass; {over} of them at or beyond the limit of {dtype}, {limit}"
    ),
    "replay.peaks.over": say("beyond the limit"),
    "replay.peaks.bad": say("not finite"),
    "replay.module": say("module"),
    "replay.notes": say("How it was done"),
    "replay.verdict.confirmed": say("confirmed"),
    "replay.verdict.refuted": say("refuted"),
    "replay.verdict.not-reproduced": say("not reproduced"),
    "replay.verdict.not-testable": say("not testable"),
    "replay.outcome.finite": say("finite"),
    "replay.outcome.not-finite": say("not finite"),
    "replay.outcome.diverges": say("climbs"),
    "replay.outcome.skipped": say("skipped"),
    "replay.outcome.failed": say_in("replay", "failed"),
    "replay.skipped": say("Skipped"),
}
