"""`postmortem replay CAPSULE`, and how to record a capsule.

In: a capsule; a log or nothing; options. Out: the results of a replay, or the lines that attach the
recorder. Not here: recording (`replay.recorder`); those lines themselves, which are the fix
`numerics.record-window` of the rules.
"""

import shlex
from pathlib import Path
from typing import Final

import click

from postmortem.core.errors import PatternError
from postmortem.core.message import Message, say
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.fixes.select import select_fixes
from postmortem.extraction.job import read
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import SOURCE, TRUST, add_output_options
from postmortem.interfaces.cli.report_output import choose_format_among, write
from postmortem.pipeline import get_matcher
from postmortem.replay.rerun.requested_replay import SECONDS, replay_capsule
from postmortem.replay.rerun.verdicts import fill_titles
from postmortem.report.replay_alone import FORMS, render
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import FixRule, translate_comments
from postmortem.rules.vocabulary import Trait, get_id

_FIX: Final = "numerics.record-window"
_ABOUT: Final = say(
    "Replay runs the steps before a failure again, from a capsule that the recorder writes"
    " while the training runs. These lines attach it; it writes a folder *.capsule when the"
    " loss or the gradients stop being finite, the loss scale collapses or an exception"
    " passes:"
)
_THEN: Final = say(
    "Then: postmortem replay NAME.capsule. A capsule holds training data: keep it as you"
    " keep those."
)


def describe_recording(log: str | None, language: str) -> str:
    """Tell how to get a capsule: for the framework that a log shows, else for each."""
    knowledge = get_matcher(()).knowledge
    lines = (
        _format_all_snippets(_find_recording_fix(knowledge), language)
        if log is None
        else _format_snippets_for_log(log, language)
    )
    return "\n".join([_ABOUT.text(language), "", lines, "", _THEN.text(language), ""])


def _find_recording_fix(knowledge: KnowledgeBase) -> FixRule:
    found = next((fix for fix in knowledge.fixes if fix.id == _FIX), None)
    if found is None:
        raise PatternError(f"the rules have no fix {_FIX}", "patterns/fixes/numerics.yaml")
    return found


def _format_all_snippets(fix: FixRule, language: str) -> str:
    blocks = [
        f"# {name}\n{translate_comments(snippet).text(language)}"
        for name, snippet in fix.snippets.items()
    ]
    return "\n\n".join(block.rstrip() for block in blocks)


def _format_snippets_for_log(log: str, language: str) -> str:
    """Give the lines for the framework of a log; of one without a recorder, those of all."""
    matcher = get_matcher(())
    case = build_case(read([log], matcher), matcher.knowledge)
    fixes = select_fixes(get_id(Trait.NONFINITE_UNEXPLAINED), case, matcher.knowledge)
    snippet = next((fix.snippet.text(language) for fix in fixes if fix.id == _FIX), "")
    return snippet.rstrip() or _format_all_snippets(
        _find_recording_fix(matcher.knowledge), language
    )


_DEVICES: Final = ("auto", "cpu", "cuda")


@click.command("replay")
@click.argument("capsule", required=False, type=SOURCE, metavar="[CAPSULE|LOG]")
@click.option(
    "--device",
    type=click.Choice(_DEVICES),
    default="auto",
    show_default=True,
    help="What the steps are run on.",
)
@TRUST
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=SECONDS,
    show_default=True,
    help="What does not fit into this time is skipped.",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0),
    help="GiB that may be used; what does not fit is skipped (default: what is free).",
)
@add_output_options(FORMS)
def command(
    capsule: str | None,
    *,
    device: str,
    trust_code: bool,
    seconds: float,
    memory: float | None,
    form: str | None,
    output: Path | None,
    language: str,
    redact: bool | None,
) -> None:
    """Run the suspect steps of a CAPSULE again, and test the causes.

    Each time one thing is changed: precision, rate, samples, masks. Without a capsule, or with a
    LOG, it tells how to record one.
    """
    if capsule is None or not _is_capsule(Path(capsule)):
        show(describe_recording(capsule, language))
        return
    form = choose_format_among(FORMS, form, output, "replay")
    found = replay_capsule(capsule, device=device, trust=trust_code, seconds=seconds, memory=memory)
    named = fill_titles(found, get_matcher(()).knowledge.title)
    is_hiding = form != "terminal" if redact is None else redact
    text = render(named, form, language=language, redact=is_hiding)
    fix = _describe_way_to_fix(capsule, trust=trust_code).text(language) if found.confirmed else ""
    is_read_here = form == "terminal" and output is None
    write(f"{text}\n{fix}\n" if fix and is_read_here else text, output, "replay")
    if fix and not is_read_here:
        print_message(fix)


def _describe_way_to_fix(capsule: str, *, trust: bool) -> Message:
    """Name the command whose report has the fix: it depends on the framework that the log shows."""
    option = " --trust-code" if trust else ""
    return say(
        "The fix: {command} (with the log of the training)",
        command=f"postmortem analyze run.log --replay {shlex.quote(capsule)}{option}",
    )


def _is_capsule(path: Path) -> bool:
    """Say whether a path is meant to be a capsule, whole or not."""
    return path.suffix == ".capsule" or (path / "manifest.json").is_file()
