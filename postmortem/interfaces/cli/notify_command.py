"""`postmortem notify TARGET ANALYSIS.json|PATH...`."""

import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from postmortem.api import Report
from postmortem.core.errors import InputError, MissingExtra, UsageError, install_hint
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.cli.job_or_analysis import report_on
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import FOLDER, LINK, PATTERNS, SOURCE, add_model_options
from postmortem.interfaces.cli.report_output import ProgressLine
from postmortem.interfaces.notify.targets import SECRET, URL, Target, find_target
from postmortem.interfaces.notify.webhooks import KINDS
from postmortem.report.notice import Notice, build_triage_notice, build_verdict_notice

_OVERVIEW: Final = "overview.json"
_LARGEST: Final = 1 << 30
_MEND: Final = "name the folder that postmortem triage --out has written"


@click.command("notify")
@click.argument("name", metavar="TARGET")
@click.argument("paths", nargs=-1, type=SOURCE, metavar="[ANALYSIS.json|PATH...]")
@click.option(
    "--triage", "folder", type=FOLDER, help="The folder of a triage: its largest groups are told."
)
@click.option(
    "--url",
    metavar="env:NAME|file:PATH",
    default="",
    help=f"Where the webhook's address stands (default: {URL}).",
)
@click.option(
    "--secret",
    metavar="env:NAME|file:PATH",
    default="",
    help=f"Where the signing secret stands, if there is one (default: {SECRET}).",
)
@click.option("--targets", type=FOLDER, help="A file that gives targets names of your own.")
@click.option("--env", "env_files", multiple=True, type=SOURCE, help="An environment dump.")
@click.option("--name", "called", default="", help="What the run is called (default: its path).")
@LINK
@click.option(
    "--only-if",
    type=click.Choice(["failed", "new"]),
    help="Send only if the run failed; of a triage: only if it has failures, or new groups.",
)
@click.option("--lang", "language", type=click.Choice(LANGUAGES), help="Of the message.")
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets, host and user names.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be sent, and send nothing.")
@add_model_options
@PATTERNS
def command(name: str, paths: tuple[str, ...], **options: Any) -> int:
    """Send a short message of a verdict to a chat or a webhook.

    TARGET is slack, mattermost, rocketchat, feishu, lark, dingtalk, wecom or json, whose address
    stands in POSTMORTEM_WEBHOOK; or a name in the file of targets. The address is a secret: it
    comes from a variable or a file. Exit status: 0 sent, or nothing to send; 2 not sent.
    """
    if bool(paths) == (options["folder"] is not None):
        raise UsageError("name a log, an analysis, or the folder of a triage", "", "--triage DIR")
    target = None if options["dry_run"] and name in KINDS else _find_target(name, options)
    language = options["language"] or (target.tongue if target is not None else None) or "en"
    notice = _build_notice(paths, options, language)
    if notice is None:
        print_message("nothing is sent: --only-if does not hold")
        return 0
    if options["dry_run"]:
        return _print_request_body(name if target is None else target.kind, notice)
    if target is not None:
        _send_notice(target, notice, language)
    return 0


def _find_target(name: str, options: dict[str, Any]) -> Target:
    wanted = {key: options[key] for key in ("url", "secret", "targets")}
    target = find_target(name, environment=os.environ, **wanted)
    if target.is_open:
        print_message(
            "other users can read the file of targets, and it holds secrets: chmod 600 it"
        )
    return target


def _build_notice(paths: tuple[str, ...], options: dict[str, Any], language: str) -> Notice | None:
    """Make the message, or nothing if it is not to be sent."""
    link, redact, wanted = options["link"], options["redact"], options["only_if"]
    if options["folder"] is not None:
        value = _read_overview(options["folder"])
        try:
            notice = build_triage_notice(value, language, link=link, redact=redact)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"no whole postmortem.triage/1 ({type(error).__name__})", options["folder"], _MEND
            ) from error
        new = notice.values["new_groups"] if wanted == "new" else None
        count = notice.values["groups_in_all"] if new is None else new
        return notice if wanted is None or count else None
    if wanted == "new":
        raise UsageError("new groups are those of a triage", "--only-if new", "--triage DIR")
    report = _report(paths, options).in_language(language)
    if wanted == "failed" and not report.is_alarming:
        return None
    called = options["called"] or _get_run_name(report, paths)
    return build_verdict_notice(report.diagnosis, name=called, link=link, redact=redact)


def _report(paths: tuple[str, ...], options: dict[str, Any]) -> Report:
    with closing(ProgressLine()) as progress:
        return report_on(
            paths,
            env=options["env_files"],
            patterns=options["patterns"],
            model=options["model"],
            progress=progress,
        )


def _get_run_name(report: Report, paths: tuple[str, ...]) -> str:
    """Call a run by the last part of its first path."""
    all_paths = (*report.analysis.given, *paths)
    first = next((Path(path) for path in all_paths if path != "-"), None)
    return "" if first is None else first.name or first.resolve().name


def _read_overview(folder: Path) -> dict[str, Any]:
    """Read what a triage has written.

    Raises:
        InputError: it is not there, or something else.
    """
    path = folder / _OVERVIEW
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(_LARGEST))
    except OSError as error:
        raise InputError(f"no triage can be read: {error.strerror}", path, _MEND) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}", path, _MEND) from error
    if not isinstance(value, dict) or value.get("schema") != "postmortem.triage/1":
        raise InputError("no postmortem.triage/1", path, _MEND)
    return value


def _print_request_body(kind: str, notice: Notice) -> int:
    """Print the body of the request, without signature and address."""
    show(KINDS[kind].build(notice, "", 0.0).body.decode() + "\n")
    return 0


def _send_notice(target: Target, notice: Notice, language: str) -> None:
    """Send it.

    Raises:
        UsageError: the webhook did not take it.
    """
    try:
        from postmortem.interfaces.notify.posting import post  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtra(f"notify needs {error.name}", "", install_hint("bots")) from error
    kind = KINDS[target.kind]
    problem = post(target.address, kind, kind.build(notice, target.secret, time.time()))
    if problem is not None:
        raise UsageError(
            f"the message was not sent: {problem.text(language)}",
            target.kind,
            "see docs/notify.md",
        )
    print_message(f"sent to {target.kind} at {target.address.host}")
