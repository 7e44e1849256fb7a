"""Pages of the service other than reports: pasting a log, the list of triages, signing in.

In: what is shown. Out: HTML in both languages, and the hashes of its style and script. Not here:
answering requests (`interfaces.http`), the reports themselves. `templates/service.js` fills in some
of the phrases.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from postmortem.core.log_text import escape_control_characters, format_one_line
from postmortem.core.message import Message, say
from postmortem.core.names import LANGUAGES
from postmortem.report.page.frame import TAGS, hash_of, load_assets, render_template
from postmortem.report.words import PhraseTable, Words

SERVICE: Final = PhraseTable(
    {
        "title": say("Post-mortem of a training run"),
        "head": say("Why did the training run fail?"),
        "lead": say(
            "Paste the end of its log, or add its files. All of them together are taken for one"
            " job; packed files (gz, bz2, xz, zst, zip, tar) are fine."
        ),
        "text": say("Text of the log"),
        "files": say("Log files"),
        "drop": say("Files can be dropped anywhere on this page."),
        "env": say("Environment dump (optional)"),
        "env.note": say("As the command postmortem env writes it."),
        "remove": say("Leave out"),
        "token": say("Token of this service"),
        "token.note": say("It is kept in this tab and nowhere else."),
        "send": say("Analyse"),
        "cancel": say("Cancel"),
        "private": say(
            "The log is judged by this service and not kept. In the report secrets, host and user"
            " names are replaced."
        ),
        "working": say("The log is being analysed …"),
        "done": say("The report is below."),
        "cancelled": say("Cancelled. What you gave is still here."),
        "report": say("Report"),
        "save": say("Save as a page"),
        "triages": say("Triages of many jobs"),
        "again": say("Back to the log"),
        "kept": say("What you gave is still here."),
        "noscript": say(
            "Without JavaScript the report opens as a page of its own; a service that needs a token"
            " cannot be asked."
        ),
        "error.empty": say("There is no log yet: paste text or add files."),
        "error.large": say("Together this is larger than the {most} MiB that the service takes."),
        "error.0": say("The service cannot be reached, or the connection was cut."),
        "error.400": say("The request could not be understood."),
        "error.401": say("The service needs a token, and this one is not known."),
        "error.403": say("The service refuses this request."),
        "error.404": say("There is no such page."),
        "error.405": say("This cannot be asked for here."),
        "error.408": say("Sending took too long."),
        "error.413": say("This is more than the service takes."),
        "error.421": say("The service does not answer under this name."),
        "error.422": say("Nothing could be judged."),
        "error.429": say("The service is busy. Try again in {seconds} s."),
        "error.500": say("The service failed on this log."),
        "error.503": say("The service is ending. Try again in a while."),
        "error.504": say("The analysis took longer than it may."),
        "error.other": say("The service answered with status {status}."),
        "home": say("Analyse a log"),
        "number": say("Triage"),
        "places": say("Places"),
        "jobs": say("Jobs"),
        "began": say("Began (UTC)"),
        "finished": say("Finished (UTC)"),
        "unfinished": say("not finished"),
        "none": say("The store holds no triage yet."),
        "older": say("Older triages"),
        "sign-in": say("Sign in"),
        "sign-in.note": say("These pages need a token of this service."),
        "sign-in.wrong": say("This token is not known."),
        "sign-out": say("Sign out"),
    }
)


_STYLES: Final = ("style.css", "service.css")
_SCRIPT: Final = "service.js"
_LONGEST: Final = 1000


def render_paste(*, language: str, most: float, needs_token: bool, has_store: bool) -> str:
    """Write the page that a log is pasted into.

    Args:
        language: in which it opens.
        most: MiB that the service takes.
        needs_token: whether it is asked for from the beginning.
        has_store: whether there are triages to go to.
    """
    return _render_page(
        language, "paste", "head", most=f"{most:g}", needs_token=needs_token, has_store=has_store
    )


def render_list(
    rows: Sequence[Mapping[str, Any]], *, language: str, older: int | None, is_signed_in: bool
) -> str:
    """Write the list of triages, and where it goes on."""
    return _render_page(
        language, "list", "triages", rows=rows, older=older, is_signed_in=is_signed_in
    )


def render_sign_in(*, language: str, to: str, is_wrong: bool) -> str:
    """Write the page that asks for a token, and where it leads."""
    return _render_page(language, "sign-in", "sign-in", to=to, is_wrong=is_wrong)


def render_refusal(status: int, what: Message, mend: Message, *, language: str) -> str:
    """Write why a page is not there."""
    key = f"error.{status}"
    texts = {
        code: {
            "what": format_one_line(what.text(code), _LONGEST),
            "mend": format_one_line(mend.text(code), _LONGEST),
        }
        for code in LANGUAGES
    }
    return _render_page(language, "refusal", key if key in SERVICE["en"] else "title", texts=texts)


@functools.cache
def compute_service_hashes() -> tuple[str, str]:
    """Name the style and the script of these pages, as a content-security policy does."""
    return hash_of("\n" + load_assets(*_STYLES)), hash_of(load_assets(_SCRIPT))


def _render_page(language: str, part: str, heading: str, **values: Any) -> str:
    texts: Mapping[str, Mapping[str, str]] = values.pop("texts", {})
    ordered = [language, *(other for other in LANGUAGES if other != language)]
    return render_template(
        "service.html.j2",
        languages=[
            {
                "language": code,
                "lang": TAGS[code],
                "told": {**SERVICE[code], "title": _format_title(code, heading)},
                "say": Words(code),
                **texts.get(code, {}),
            }
            for code in ordered
        ],
        part=part,
        heading=heading,
        words=_dump_script_phrases(heading),
        style=Markup(load_assets(*_STYLES)),  # noqa: S704 -- our own files
        script=Markup(load_assets(_SCRIPT)),  # noqa: S704 -- our own file
        **values,
    )


def _format_title(language: str, heading: str) -> str:
    return f"{SERVICE[language][heading]} · postmortem"


def _dump_script_phrases(heading: str) -> Markup:
    """Write what the script says as JSON that cannot close its element."""
    whole = {
        language: {
            **SERVICE[language],
            "tag": TAGS[language],
            "title": _format_title(language, heading),
        }
        for language in LANGUAGES
    }
    text = json.dumps(whole, ensure_ascii=True, separators=(",", ":"))
    return Markup(escape_control_characters(text).replace("<", "\\u003c"))  # noqa: S704 -- escaped
