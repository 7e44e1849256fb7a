"""Phrases of a report: labels, the verdict, the run, its curves, the page, a replay.

In: nothing. Out: phrases by key in a table for each subject, which `Words` joins. Not here: looking
them up (`report.words`), filling them in, phrases of other outputs (which stand with those).
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_count, say_in

SMALL: Final[Mapping[str, Message]] = {
    "copy": say("Copy"),
    "copied": say("Copied"),
    "place": say("Place"),
    "what": say("What"),
    "name": say("Name"),
    "value": say("Value"),
    "step": say("step"),
    "record": say("record"),
    "at-step": say("step {value}"),
    "at-epoch": say("epoch {value}"),
    "at-line": say("line {value}"),
    "time": say("Time"),
    "times": say_count("{count} time", "{count} times"),
    "more": say_in("report", "{count} more"),
    "yes": say("yes"),
    "no": say("no"),
    "joint": say_in("clauses", ", "),
    "colon": say(": "),
    "stop": say(". "),
    "semicolon": say("; "),
    "bracketed": say(" ({text})"),
    "marked": say("  [{text}]"),
    "listed": say_in("list", ", "),
    "quoted": say("“{text}”"),
    "carried": say("words that carry it: {what}"),
}


VERDICT: Final[Mapping[str, Message]] = {
    "report": say_in("verdict", "Post-mortem of a training run"),
    "verdict": say("Verdict"),
    "cause": say("Cause"),
    "probability": say("Probability"),
    "problem": say("The problem lies {place}"),
    "whose": say("Where it lies"),
    "standing": say("{status} ({means})"),
    "retry": say("Run it again"),
    "abstain": say("The cause cannot be told from this log"),
    "status.established": say("established"),
    "status.supported": say("supported"),
    "status.hypothesis": say("hypothesis"),
    "status.unknown": say("unknown"),
    "means.established": say("the log itself shows it"),
    "means.replayed": say("running its steps again proves it"),
    "means.supported": say("evidence for it and none against, not proved"),
    "means.mixed": say("more for it than against, not proved"),
    "means.hypothesis": say("it fits, and so do others"),
    "means.alone": say("it fits best, not proved"),
    "means.unknown": say("nothing here decides"),
    "whose.user": say("in your code or configuration"),
    "whose.data": say("in the data"),
    "whose.library": say("in a library"),
    "whose.platform": say("in the platform (cluster, scheduler, network)"),
    "whose.hardware": say("in the hardware"),
    "whose.unknown": say("not known"),
    "retry.as-is": say("yes, as it is"),
    "retry.after-fix": say("only after a fix"),
    "retry.no": say("no, it will not help"),
    "retry.unknown": say("not known"),
    "outcome": say_in("replay", "Outcome"),
    "outcome.failed": say("failed"),
    "outcome.completed": say_in("verdict", "completed"),
    "outcome.running": say("running"),
    "outcome.stalled": say_in("verdict", "stalled"),
    "outcome.cancelled": say_in("verdict", "cancelled"),
    "outcome.incomplete": say("incomplete"),
    "outcome.not-a-training-log": say("not a training log"),
    "outcome.unknown": say("outcome unknown"),
    "outcome.no-end": say("no end shown"),
    "outcome.through": say("ran to its end"),
    "input.empty": say_count("The file is empty", "The files are empty"),
    "input.blank": say_count("The file holds only blank lines", "The files hold only blank lines"),
    "input.environment": say("This is an environment dump, not a log"),
    "input.other": say("This does not look like a training log"),
    "input.empty.says": say(
        "The run wrote nothing into it, or its output went elsewhere. Pass the file that "
        "holds the output of the training run, standard error included."
    ),
    "input.blank.says": say(
        "The run wrote nothing else into it, or its output went elsewhere. Pass the file that "
        "holds the output of the training run, standard error included."
    ),
    "input.environment.says": say(
        "It tells the machine and the versions, not what happened. Pass it with --env beside "
        "the log: postmortem analyze train.log --env {name}"
    ),
    "input.other.says": say(
        "No metric, no traceback and no message of a training framework was recognised. Pass "
        "the file that holds the output of the training run, standard error included."
    ),
    "evidence": say("Evidence"),
    "evidence.more": say_count("{count} more piece of evidence", "{count} more pieces of evidence"),
    "evidence.none": say("no evidence was found"),
    "weight": say("Weight"),
    "by.signature": say("signature"),
    "by.shape": say("curve"),
    "by.environment": say("environment"),
    "by.setting": say("setting"),
    "by.traceback": say("traceback"),
    "by.advisory": say("known defect"),
    "by.classifier": say("text classifier"),
    "by.replay": say("replay"),
    "weight.note": say("log-odds; a negative weight speaks against the cause"),
    "fixes": say_in("verdict", "What to do"),
    "fixes.more": say_count("{count} more thing to do", "{count} more things to do"),
    "kind.first": say("Do this first"),
    "kind.check": say("check"),
    "kind.change": say("change"),
    "kind.prevent": say("prevent"),
    "safety.safe": say_in("verdict", "safe"),
    "safety.changes-results": say("changes results"),
    "safety.costly": say("costly"),
    "references": say("References"),
    "others": say("Other causes that were weighed"),
    "others.short": say_in("question", "Also weighed"),
    "comment.cut": say(
        "Parts were left out: a comment holds no more. The whole report is the page (HTML) or "
        "the JSON report."
    ),
    "screen.more": say("Everything: --full · a page with charts: -o report.html"),
    "candidates": say("What it could be"),
    "harmless": say("Looks alarming, is not the cause"),
    "first": say_in("verdict", "First failure"),
    "need": say_in("verdict", "What would decide"),
    "unchecked": say("Not checked"),
    "change-mind": say("What would change this verdict"),
}


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


CHART: Final[Mapping[str, Message]] = {
    "curves": say("Curves"),
    "curve.one": say("{value} at {place}, a single point"),
    "curve.detail": say("{name}, around the failure"),
    "curve.points": say_count("{count} point", "{count} points"),
    "curve.drawn": say("{shown:,} of {count:,} points drawn"),
    "curve.nonfinite": say("{count} not finite"),
    "curve.first-bad": say("first non-finite"),
    "curve.range": say("range {low} to {high}"),
    "curve.log": say("log scale"),
    "curve.more": say_count(
        "{count} more series is in the JSON report", "{count} more series are in the JSON report"
    ),
    "curve.none-finite": say("no finite value"),
    "curve.interleaved": say("several streams mixed"),
    "curve.mark": say("x = NaN or infinite"),
    "chart.log": say("Log axis"),
    "chart.in": say("Zoom in"),
    "chart.out": say("Zoom out"),
    "chart.reset": say("Whole run"),
    "chart.near": say("Around the failure"),
    "chart.hint": say(
        "Arrow keys go from sample to sample, + and − zoom, 0 or Escape shows the whole run, L"
        " switches the logarithmic axis."
    ),
    "chart.live": say("interactive chart"),
    "chart.bar": say("Zoom and axis"),
    "chart.left-out": say("not on a logarithmic axis: {count} values of 0 or below"),
    "chart.scale": say("powers of two"),
    "chart.right": say("right axis, log₂"),
    "chart.line": say("line"),
    "chart.processes": say("{count} processes compared"),
    "chart.thin": say("thin grey: {count:,} more processes"),
    "chart.table": say("Values as a table ({shown:,} of {count:,})"),
    "chart.caption": say("{name}: {shown:,} of {count:,} values"),
    "mark.failure": say("first failure"),
    "mark.crash": say("crash"),
    "mark.bad": say("first non-finite value"),
    "mark.gap": say("NaN or infinite"),
    "mark.overflow": say("step skipped (overflow)"),
    "mark.checkpoint": say("checkpoint saved"),
    "mark.evaluation": say("evaluation"),
    "mark.resumed": say("resumed from a checkpoint"),
    "mark.restarted": say("new attempt"),
    "mark.parting": say("the curves part"),
    "compare.good": say("good"),
    "compare.bad": say("bad"),
    "mark.count": say("{name}, {count:,} times"),
    "mark.some": say("{name}, {count:,} times, at most {shown:,} of them drawn"),
    "at-record": say("record {value}"),
}


FIGURES: Final[Mapping[str, Message]] = {
    "figure.shapes": say("Shapes"),
    "figure.batch-sizes": say("Batch of input and target"),
    "figure.elements": say("Elements"),
    "figure.channels": say("Channels"),
    "figure.index": say("Index and size"),
    "figure.unpacked": say("Values expected and there"),
    "figure.types": say("Data types"),
    "figure.devices": say("Devices"),
    "figure.key": say("Key"),
    "figure.there": say("What is there"),
    "figure.attribute": say("Attribute"),
    "figure.name": say("Name"),
    "figure.argument": say("Argument"),
    "figure.module": say("Module"),
    "figure.path": say("Path"),
    "figure.asked": say("Memory asked for"),
    "figure.free": say("Memory free"),
    "figure.total": say("Memory of the card"),
    "figure.allocated": say("Allocated by PyTorch"),
    "figure.timeout": say("Collective and its limit"),
    "figure.good-step": say("Last good step"),
    "figure.last-step": say("Last step"),
    "figure.process": say("Process"),
    "figure.after": say("From the failure to the end"),
    "own-code": say("Your code"),
    "own-code.in": say("{place} in {function}"),
}


PAGE: Final[Mapping[str, Message]] = {
    "language": say("English"),
    "contents": say("Contents"),
    "theme.auto": say("theme of the system"),
    "theme.light": say("light theme"),
    "theme.dark": say("dark theme"),
    "checkpoint": say("Checkpoint"),
    "explained": say("What this verdict means"),
    "weighed": say("How it was weighed"),
    "side.for": say("for it"),
    "side.against": say("against it"),
    "curve.constant": say("Never changes: {what}"),
    "curve.constant.one": say("{name} {value} ({count} points)"),
    "evidence.sum": say(
        "Together {total} log-odds, prior included; of one kind of evidence the strongest"
        " counts in full, agreement a quarter. Against the other causes: {share}."
    ),
    "excerpt.short": say("Log"),
    "harmless.short": say("Not the cause"),
    "others.short": say("Other causes"),
    "others.note": say("each is weighed by itself: the shares do not add up to 100%"),
    "excerpt.plain": say("The log at the places named here"),
    "change-mind.short": say("What would change it"),
    "skip": say("To the verdict"),
    "advisories": say("Known defects of these versions"),
    "lanes": say("Processes"),
    "lanes.rest": say("{count} others"),
    "separated": say("What tells them apart"),
    "ask": say("Ask somebody"),
    "ask.how": say(
        "This writes the smallest redacted part of the log that leads to the same verdict, as"
        " the text of an issue:"
    ),
}


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
    "replay.outcome.failed": say("ended by an exception"),
    "replay.skipped": say("Skipped"),
}
