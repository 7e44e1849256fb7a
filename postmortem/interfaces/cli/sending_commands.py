"""`postmortem notify TARGET PATH...`, `postmortem comment --github owner/name#12 PATH...`.

In: a stored analysis or a log, options. Out: a short message in a chat, a comment under an issue.
Not here: webhooks (`interfaces.notify`), trackers (`interfaces.trackers`).
"""

import functools
import json
import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from postmortem.api import Report
from postmortem.core.errors import InputError, MissingExtra, UsageError, install_hint
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.cli.job_or_analysis import report_on
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import (
    DRY_RUN,
    ENVIRONMENT,
    FOLDER,
    LANGUAGE,
    LINK,
    PATTERNS,
    REDACT_ALWAYS,
    SOURCE,
    add_model_options,
)
from postmortem.interfaces.cli.report_output import ProgressLine
from postmortem.interfaces.notify.targets import SECRET, URL, Target, find_target
from postmortem.interfaces.notify.webhooks import KINDS
from postmortem.interfaces.trackers.bot_comment import (
    CommentResult,
    mark_of,
    update_or_create_comment,
)
from postmortem.interfaces.trackers.tracker_kinds import (
    create_tracker,
    parse_github_place,
    parse_gitlab_place,
)
from postmortem.interfaces.trackers.tracker_protocol import IssuePlace, TryLater
from postmortem.report.markdown_text import format_link
from postmortem.report.notice import NOTICE, Notice, build_triage_notice, build_verdict_notice

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
@ENVIRONMENT
@click.option("--name", "called", default="", help="What the run is called (default: its path).")
@LINK
@click.option(
    "--only-if",
    type=click.Choice(["failed", "new"]),
    help="Send only if the run failed; of a triage: only if it has failures, or new groups.",
)
@click.option("--lang", "language", type=click.Choice(LANGUAGES), help="Of the message.")
@REDACT_ALWAYS
@DRY_RUN
@add_model_options
@PATTERNS
def notify_command(name: str, paths: tuple[str, ...], **options: Any) -> int:
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


_PAUSES: Final = (2.0, 10.0)
"""Seconds before it is tried again, where the tracker names none."""
_LONGEST_PAUSE: Final = 60.0
_TOKENS: Final = {"github": ("GITHUB_TOKEN", "GH_TOKEN"), "gitlab": ("GITLAB_TOKEN",)}
_SERVERS: Final = {"github": "GITHUB_API_URL", "gitlab": "CI_SERVER_URL"}
"""Variables that the tracker's own runners set."""


@click.command("comment")
@click.argument("paths", nargs=-1, required=True, type=SOURCE, metavar="ANALYSIS.json|PATH...")
@click.option("--github", metavar="OWNER/NAME#N", help="An issue or pull request of GitHub.")
@click.option("--gitlab", metavar="GROUP/PROJECT#N|!N", help="An issue or merge request of GitLab.")
@click.option(
    "--token",
    metavar="env:NAME|file:PATH",
    default="",
    help="Where the token stands (default: env:GITHUB_TOKEN, env:GH_TOKEN, env:GITLAB_TOKEN).",
)
@click.option(
    "--api-url",
    metavar="URL",
    default="",
    help=(
        "Of a server of your own: https://HOST/api/v3 of GitHub Enterprise, https://HOST of GitLab"
        " (default: GITHUB_API_URL, CI_SERVER_URL, else github.com, gitlab.com)."
    ),
)
@click.option(
    "--key",
    default="report",
    show_default=True,
    help="Tells several comments of one place apart: one of each key is kept.",
)
@ENVIRONMENT
@LINK
@click.option(
    "--only-if",
    type=click.Choice(["failed"]),
    help="Post only if the run failed; a comment that is there is brought up to date anyway.",
)
@LANGUAGE
@REDACT_ALWAYS
@DRY_RUN
@add_model_options
@PATTERNS
def comment_command(paths: tuple[str, ...], **options: Any) -> int:
    """Put the report under an issue, a pull request or a merge request, in one comment.

    The comment is posted once and edited from then on. The token comes from a variable or a file.
    """
    kind, place = _place(options)
    mark_of(options["key"])  # a wrong one is told before anything is read
    settings = {} if options["dry_run"] else _build_tracker_settings(kind, options)
    with closing(ProgressLine()) as progress:
        report = report_on(
            paths,
            env=options["env_files"],
            patterns=options["patterns"],
            model=options["model"],
            progress=progress,
        ).in_language(options["language"])
    text = _format_comment(report, options)
    if options["dry_run"]:
        show(text)
        return 0
    is_new_wanted = options["only_if"] is None or report.is_alarming
    with closing(create_tracker(kind, settings)) as tracker:
        done = _post_with_retries(
            functools.partial(
                update_or_create_comment,
                tracker,
                place,
                text,
                key=options["key"],
                is_new_wanted=is_new_wanted,
            )
        )
    print_message(" ".join(part for part in (f"comment {done.how}", done.url) if part))
    return 0


def _place(options: dict[str, Any]) -> tuple[str, IssuePlace]:
    """Say which tracker is meant, and where there.

    Raises:
        UsageError: none, or both, or no such place.
    """
    named = [kind for kind in _TOKENS if options[kind] is not None]
    if len(named) != 1:
        raise UsageError(
            "name one place for the comment",
            "",
            "--github owner/name#12 or --gitlab group/project!5",
        )
    (kind,) = named
    return kind, (parse_github_place if kind == "github" else parse_gitlab_place)(options[kind])


def _format_comment(report: Report, options: dict[str, Any]) -> str:
    text = report.render("markdown", redact=options["redact"])
    if not options["link"]:
        return text
    return f"{text}\n{format_link(NOTICE[options['language']]['link'], options['link'])}\n"


def _post_with_retries(settle: Callable[[], CommentResult]) -> CommentResult:
    """Post or edit the comment, and try again where the tracker asks for it.

    Raises:
        TrackerError: it could not be done.
    """
    for pause in _PAUSES:
        try:
            return settle()
        except TryLater as error:
            wait = pause if error.seconds is None else error.seconds
            if wait > _LONGEST_PAUSE:
                raise
            time.sleep(wait)
    return settle()


def _build_tracker_settings(kind: str, options: dict[str, Any]) -> dict[str, str]:
    """Build the settings of a tracker that only posts and receives no webhooks.

    Raises:
        UsageError: no token is known.
    """
    found = [f"env:{name}" for name in _TOKENS[kind] if os.environ.get(name)]
    token = options["token"] or next(iter(found), "")
    if not token:
        raise UsageError(
            "no token is known", " or ".join(_TOKENS[kind]), "set it, or name its place: --token"
        )
    url = options["api_url"] or os.environ.get(_SERVERS[kind], "")
    return {"token": token, **({"api_url": url} if url else {})}
