"""Phrases of the pages of the service, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in
(`page.service_page`, `templates/service.js`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.report.words.phrase_table import PhraseTable

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
