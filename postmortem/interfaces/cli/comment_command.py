"""`postmortem comment --github owner/name#12 PATH...`."""

import functools
import os
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

import click

from postmortem.api import Report
from postmortem.core.errors import UsageError
from postmortem.interfaces.cli.job_or_analysis import report_on
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import LANGUAGE, LINK, PATTERNS, SOURCE, add_model_options
from postmortem.interfaces.cli.report_output import ProgressLine
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
from postmortem.report.notice import NOTICE

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
@click.option("--env", "env_files", multiple=True, type=SOURCE, help="An environment dump.")
@LINK
@click.option(
    "--only-if",
    type=click.Choice(["failed"]),
    help="Post only if the run failed; a comment that is there is brought up to date anyway.",
)
@LANGUAGE
@click.option(
    "--redact/--no-redact",
    default=True,
    show_default=True,
    help="Replace secrets, host and user names.",
)
@click.option("--dry-run", is_flag=True, help="Print the comment, and post nothing.")
@add_model_options
@PATTERNS
def command(paths: tuple[str, ...], **options: Any) -> int:
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
