"""Send a warning to a command or a web address of the user's.

In: the warning as plain values. Out: what went wrong, or an empty string: a watch goes on in any
case. Not here: hiding secrets and writing JSON (`report.watch_events`), the request itself
(`watch.http_post`).

The command gets no shell: what a log says is never part of a command line. The warning comes on its
standard input, and in variables.
"""

import http.client
import os
import shlex
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Final

from postmortem.core.errors import UsageError
from postmortem.interfaces.watch import http_post
from postmortem.interfaces.watch.http_post import Address, Refused

_COMMAND_SECONDS: Final = 60.0
_WEB_SECONDS: Final = 10.0
"""For a request as a whole, from finding the host to its status."""
_PAUSES: Final = (1.0, 4.0)
"""Seconds before a web address is tried again."""


def split_command_line(text: str) -> list[str]:
    """Split a command as a shell would, without being one.

    Raises:
        UsageError: an open quote, or nothing at all.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the command cannot be read: {error}", text, "close the quotes"
        ) from error
    if not words:
        raise UsageError("the command is empty", "", "for example --exec 'scancel 4711'")
    return words


def run(words: list[str], text: str, variables: Mapping[str, str]) -> str:
    """Run the user's command; its output goes to standard error."""
    try:
        done = subprocess.run(
            words,
            input=text.encode(),
            env={**os.environ, **variables},
            stdout=sys.stderr.fileno(),
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{words[0]} was stopped after {_COMMAND_SECONDS:.0f} s"
    except OSError as error:
        return f"{words[0]} cannot be run: {error.strerror or error}"
    return f"{words[0]} ended with status {done.returncode}" if done.returncode else ""


def post(
    address: Address, text: str, sleep: Callable[[float], object], seconds: float = _WEB_SECONDS
) -> str:
    """Send the warning to a web address, three times at most; gives what went wrong at last.

    Nothing of the address is named but its host, and nothing that a server says.
    """
    problem = ""
    for pause in (*_PAUSES, None):
        try:
            status = http_post.post(address, text, seconds)
        except Refused as error:
            return str(error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"{address.host} cannot be reached: {_describe_error(error, seconds)}"
        else:
            if status < 300:
                return ""
            problem = f"{address.host} answered {status}"
            if status < 400:
                return (
                    f"{problem}: redirections are not followed; name the address that it leads to"
                )
            if status < 500 and status != 429:  # it will not change its mind
                return problem
        if pause is not None:
            sleep(pause)
    return problem


def _describe_error(error: Exception, seconds: float) -> str:
    """Say what went wrong in words of this machine: an error of the protocol quotes the server."""
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return f"no answer within {seconds:g} s"
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {inner.verify_message}"
    if isinstance(inner, http.client.RemoteDisconnected):
        return "it closes the connection without an answer"
    if isinstance(inner, (http.client.HTTPException, ValueError)):
        return "what it answers is no HTTP"
    return getattr(inner, "strerror", None) or "the connection failed"
