"""`postmortem replay CAPSULE`."""

from pathlib import Path
from typing import Final

import click

from postmortem.core.errors import UsageError
from postmortem.interfaces.cli.delivery import check_output, choose_format, write
from postmortem.interfaces.cli.messages import show
from postmortem.interfaces.cli.options import LANGUAGE, OUTPUT, SOURCE, TRUST
from postmortem.interfaces.cli.recording_help import describe_recording
from postmortem.pipeline import get_matcher
from postmortem.replay.rerun.replay_evidence import fill_titles
from postmortem.replay.rerun.requested_replay import SECONDS, replay_capsule
from postmortem.report.replay_alone import FORMS, render

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
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Format (default: by the suffix of the file, else terminal).",
)
@click.option("-o", "--output", type=OUTPUT, help="Write it to a file.")
@LANGUAGE
@click.option(
    "--redact/--no-redact",
    default=None,
    help="Replace secrets, host and user names (default: in every format but terminal).",
)
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
    check_output(output, form, open_=False)
    form = choose_format(form, output, open_=False)
    if form not in FORMS:
        raise UsageError(
            f"a replay is not written as {form}", output, f"choose one of {', '.join(FORMS)}"
        )
    found = replay_capsule(capsule, device=device, trust=trust_code, seconds=seconds, memory=memory)
    named = fill_titles(found, get_matcher(()).knowledge.title)
    is_hiding = form != "terminal" if redact is None else redact
    write(render(named, form, language=language, redact=is_hiding), output, "replay")


def _is_capsule(path: Path) -> bool:
    """Say whether a path is meant to be a capsule, whole or not."""
    return path.suffix == ".capsule" or (path / "manifest.json").is_file()
