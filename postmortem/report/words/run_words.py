"""Phrases about the run in English and Chinese: machine, files, progress, processes.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_count, say_in

RUN: Final[Mapping[str, Message]] = {
    "environment": say("Environment"),
    "packages": say("Packages"),
    "settings": say("Settings"),
    "python": say("Python"),
    "os": say("System"),
    "cuda": say("CUDA"),
    "driver": say("Driver"),
    "gpus": say("GPUs"),
    "precision": say("Precision"),
    "world_size": say_in("run", "Processes"),
    "launcher": say("Launcher"),
    "exit_status": say("Exit status"),
    "signal": say("Signal"),
    "frameworks": say("Frameworks"),
    "capability": say("compute capability {value}"),
    "excerpt": say("The log around the failure"),
    "excerpt.files": say_count("{count} more file", "{count} more files"),
    "excerpt.cut": say_count("… {count} more character", "… {count} more characters"),
    "excerpt.gap": say_count("… {count} line left out", "… {count} lines left out"),
    "timeline": say("Timeline"),
    "role.cause": say("cause"),
    "role.consequence": say("consequence"),
    "role.warning": say("warning"),
    "role.harmless": say("harmless"),
    "role.context": say("context"),
    "progress": say("Progress"),
    "progress.step": say("last good step {value}"),
    "progress.reached": say("last step {value}"),
    "progress.checkpoint": say("last checkpoint {value}"),
    "progress.at": say("that at {value}"),
    "progress.first-bad": say("the first bad value at {place}"),
    "progress.the-failure": say("the first failure"),
    "progress.before.yes": say("the last checkpoint, {last}, precedes {bad}: resume from it"),
    "progress.before.earlier": say(
        "the last checkpoint, {last}, was saved after {bad}: resume from {good}, the last one"
        " before it"
    ),
    "progress.before.no": say(
        "the last checkpoint, {last}, was saved after {bad}, and none before it: do not resume"
        " from it"
    ),
    "progress.before.late": say(
        "the last checkpoint, {last}, was saved after {bad}, which came from outside: it can be"
        " resumed from"
    ),
    "progress.before.unknown": say(
        "last checkpoint {last}; not known whether it was saved before {bad}"
    ),
    "progress.best": say(
        "best {name} {value} ({place}), {last} at the end: keep the checkpoint of the best"
    ),
    "progress.best-last": say("best {name} {value} ({place}), which the last one reaches"),
    "progress.after": say("{value} between the first failure and the end of the log"),
    "duration.days": say("{value} d"),
    "duration.hours": say("{value} h"),
    "duration.minutes": say("{value} min"),
    "duration.seconds": say("{value} s"),
    "timeline.left": say_count(
        "{count} more event is left out: it says the least",
        "{count} more events are left out: they say the least",
    ),
    "timeline.more": say_count(
        "{count} more event is in the HTML and JSON reports",
        "{count} more events are in the HTML and JSON reports",
    ),
    "sources": say("Sources"),
    "source.lines": say_count("{count} line", "{count} lines"),
    "source.bytes": say_count("{count} byte", "{count} bytes"),
    "attempts": say("Attempts"),
    "attempt": say("lines {first}-{last}: {outcome}"),
    "kind.log": say("log"),
    "kind.metrics": say("metrics"),
    "kind.environment": say("environment"),
    "kind.scheduler": say("scheduler"),
    "kind.kernel": say("kernel"),
    "kind.notebook": say("notebook"),
    "kind.ignored": say("ignored"),
    "warnings": say_in("run", "Warnings"),
    "hidden": say("Hidden: {what}"),
    "hidden.nothing": say("Nothing had to be hidden"),
    "hidden.secret": say("secrets ({count})"),
    "hidden.email": say("e-mail addresses ({count})"),
    "hidden.ip": say("network addresses ({count})"),
    "hidden.mac": say("hardware addresses ({count})"),
    "hidden.phone": say("telephone numbers ({count})"),
    "hidden.user": say("user names ({count})"),
    "hidden.host": say("host names ({count})"),
    "made": say("postmortem {version}, knowledge base {base}"),
    "rank": say("rank {value}"),
    "local-rank": say("local rank {value}"),
    "node": say("on {value}"),
    "pid": say("pid {value}"),
    "stdin": say("standard input"),
}
