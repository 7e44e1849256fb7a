"""Send a request to a webhook, with a timeout, retries and no redirects.

In: an address, a request. Out: the last error, or nothing. Not here: what is sent
(`notify.webhooks`).

httpx holds the connection: it knows proxies and certificates, and takes no redirection unless
asked. What a server says is never shown: it may quote the address, which is a secret.
"""

import time
from collections.abc import Callable
from typing import Final

import httpx

from postmortem.core.errors import UsageError
from postmortem.core.message import Message, say
from postmortem.interfaces.notify.webhooks import HookKind, NoticeTaken, Outgoing, WebhookAddress

_SECONDS: Final = 10.0
"""For each of: connecting, sending, waiting; and for the whole of an answer."""
_PAUSES: Final = (1.0, 4.0)
"""Seconds before it is tried again, where the server names none."""
_LONGEST_PAUSE: Final = 60.0
_MOST: Final = 1 << 16
"""Bytes of an answer that are read."""
_AGENT: Final = "postmortem-notify"


def post(
    address: WebhookAddress,
    kind: HookKind,
    outgoing: Outgoing,
    sleep: Callable[[float], object] = time.sleep,
) -> Message | None:
    """Send a request, three times at most; gives what went wrong, or None if it was taken."""
    # What goes to this machine itself goes through no proxy: it may be http, and in the clear.
    with httpx.Client(
        timeout=_SECONDS, follow_redirects=False, trust_env=not address.is_here
    ) as client:
        for pause in (*_PAUSES, None):
            answer, retry_after = _send_once(client, address, kind, outgoing)
            if answer.problem is None:
                return None
            wait = pause if retry_after is None else retry_after
            if pause is None or wait is None or not answer.is_busy:
                break
            if wait > _LONGEST_PAUSE:
                return say(
                    "{problem}; it asks to wait {wait:.0f} s",
                    problem=answer.problem,
                    wait=wait,
                )
            sleep(wait)
    return answer.problem


def _send_once(
    client: httpx.Client, address: WebhookAddress, kind: HookKind, outgoing: Outgoing
) -> tuple[NoticeTaken, float | None]:
    """Send it once; gives the answer and the seconds that the server asks to wait."""
    url = _parse_url(address)
    if outgoing.parameters:
        url = url.copy_merge_params(outgoing.parameters)
    headers = {**outgoing.headers, "User-Agent": _AGENT, "Accept-Encoding": "identity"}
    try:
        with client.stream("POST", url, content=outgoing.body, headers=headers) as response:
            if response.status_code < 300:
                return kind.parse_response(_read(response)), None
            return _describe_http_rejection(address.host, response.status_code), _parse_retry_after(
                response
            )
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        return NoticeTaken(_describe_connection_error(address.host, error), is_busy=True), None
    except httpx.HTTPError as error:  # it may have been taken: a second one would be one too many
        return NoticeTaken(_describe_connection_error(address.host, error)), None


def _parse_url(address: WebhookAddress) -> httpx.URL:
    """Take an address as httpx does, which knows more of what is none.

    Raises:
        UsageError: it is none; what stands there is not repeated.
    """
    try:
        url = httpx.URL(address.reveal())
        str(url.host)  # decodes the name, which can fail
    except (httpx.InvalidURL, ValueError):
        raise UsageError(
            "the address of the webhook is none", address.source, "copy it as the chat shows it"
        ) from None
    return url


def _read(response: httpx.Response) -> bytes:
    """Read an answer, no more than is looked at, within the time."""
    end, found = time.monotonic() + _SECONDS, b""
    for part in response.iter_raw():
        found += part
        if len(found) > _MOST or time.monotonic() > end:
            break
    return found[:_MOST]


def _describe_http_rejection(host: str, status: int) -> NoticeTaken:
    message = say("{host} answered {status}", host=host, status=status)
    if status < 400:
        message = say(
            "{told}: redirections are not followed; name the address that it leads to",
            told=message,
        )
    if status in {401, 403, 404, 410}:
        message = say(
            "{told}: the webhook is gone or not allowed here; make a new one",
            told=message,
        )
    return NoticeTaken(message, status == 429 or status >= 500)


def _parse_retry_after(response: httpx.Response) -> float | None:
    """Give the seconds of `Retry-After`; one that is a date or no number counts as none."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 8 else None


def _describe_connection_error(host: str, error: httpx.HTTPError) -> Message:
    """Say what went wrong in words of this machine."""
    if isinstance(error, httpx.TimeoutException):
        why = say("no answer within {seconds:g} s", seconds=_SECONDS)
    elif "CERTIFICATE_VERIFY_FAILED" in str(error):
        why = say("its certificate is not accepted")
    elif isinstance(error, httpx.ConnectError):
        why = say("no connection")
    elif isinstance(error, httpx.ProxyError):
        why = say("the proxy refuses it")
    else:
        why = say("the connection broke")
    return say("{host} cannot be reached: {why}", host=host, why=why)
