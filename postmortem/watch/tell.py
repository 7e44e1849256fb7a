"""Tell others of a warning: a command of the user's, a web address of the user's.

In: the warning as plain values. Out: what went wrong in telling it, or an empty string: a watch goes on whatever becomes of it.
Not here: hiding secrets and writing JSON (`report.watching`).

The command gets no shell: what a log says is never part of a command line. The warning comes on its standard input, and in variables.
"""

import http.client
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import Final

from postmortem.errors import UsageError

_COMMAND_SECONDS: Final = 60.0
_WEB_SECONDS: Final = 10.0
_PAUSES: Final = (1.0, 4.0)
"""Seconds before a web address is tried again."""
_SHOWN: Final = 200


def command_line(text: str) -> list[str]:
    """Split a command as a shell would, without being one.

    Raises:
        UsageError: an open quote, or nothing at all.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the command cannot be read: {error}", text, "close the quotes") from error
    if not words:
        raise UsageError("the command is empty", "", "for example --exec 'scancel 4711'")
    return words


def checked_url(url: str) -> str:
    """Refuse what is no web address.

    Raises:
        UsageError: another scheme, or no host.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        is_web = False
    if not is_web:
        raise UsageError("this is no web address", url, "for example --webhook https://hooks.example.org/training")
    return url


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST becomes a GET without the warning: better told than lost."""

    def redirect_request(self, *_: object) -> None:
        """Follow nothing."""


def run(words: list[str], text: str, variables: Mapping[str, str]) -> str:
    """Run the user's command; its output goes to standard error."""
    try:
        done = subprocess.run(words, input=text.encode(), env={**os.environ, **variables}, stdout=sys.stderr.fileno(), timeout=_COMMAND_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{words[0]} was stopped after {_COMMAND_SECONDS:.0f} s"
    except OSError as error:
        return f"{words[0]} cannot be run: {error.strerror or error}"
    return f"{words[0]} ended with status {done.returncode}" if done.returncode else ""


def post(url: str, text: str, sleep: Callable[[float], object]) -> str:
    """Send the warning to a web address, three times at most; gives what went wrong at last. The address itself may be a secret: only its host is named."""
    host, problem = urllib.parse.urlsplit(url).hostname, ""
    request = urllib.request.Request(url, data=text.encode(), headers={"Content-Type": "application/json", "User-Agent": "postmortem-watch"})  # noqa: S310 -- `checked_url` allows http and https alone
    opener = urllib.request.build_opener(_NoRedirect)
    for pause in (*_PAUSES, None):
        try:
            with opener.open(request, timeout=_WEB_SECONDS) as answer:
                answer.read(1)
        except urllib.error.HTTPError as error:
            error.close()
            problem = f"{host} answered {error.code}"
            if error.code < 500 and error.code != 429:      # it will not change its mind
                return problem
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"{host} cannot be reached: {str(getattr(error, 'reason', error))[:_SHOWN]}"
        else:
            return ""
        if pause is not None:
            sleep(pause)
    return problem
