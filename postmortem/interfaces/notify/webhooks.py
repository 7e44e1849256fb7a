"""Webhooks of chats and programs: the address, and per kind payload, signature and response.

In: a `Notice`, an address, a secret, the time. Out: the body, headers and parameters of a request;
of an answer what went wrong. Not here: sending it (`notify.posting`), where address and secret come
from (`notify.targets`), the text (`report.notice`).

The address is a secret: whoever knows it can write to the chat; it shows its host and nothing else.

Sources: docs.slack.dev, "Sending messages using incoming webhooks"; open.feishu.cn, on custom bots;
open.dingtalk.com, on the security settings of custom bots; developer.work.weixin.qq.com, on pushed
messages; standardwebhooks.com for what programs get. Feishu, DingTalk and WeCom answer 200 to what
they refuse: the number in the body shows it.
"""

import base64
import hashlib
import hmac
import json
import secrets
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from postmortem.core.errors import UsageError
from postmortem.core.host.machine import is_loopback
from postmortem.core.message import Message, say
from postmortem.report.notice import Notice, format_plain_text, format_slack_text

_LONGEST: Final = 2048


class WebhookAddress:
    """An address that is not shown; nothing that prints it or raises with it gives it away."""

    def __init__(self, text: str, source: str) -> None:
        """Take an address; `source` says where it was found, for errors.

        Raises:
            UsageError: no address, or one that would carry a secret in the clear.
        """
        text = text.strip()
        if not text:
            raise UsageError("the address of the webhook is empty", source, "put it there")
        parts = _split_url(text)
        if parts is None or not parts.hostname:
            raise UsageError(
                "this is no web address (it is a secret, so it is not repeated here)",
                source,
                "copy it as the chat shows it: https://…",
            )
        self.is_here: Final = is_loopback(parts.hostname)
        """Whether it leads to this machine itself."""
        if parts.scheme != "https" and not self.is_here:
            raise UsageError(
                "the address of a webhook is a secret, and http sends it in the clear",
                source,
                "use https://",
            )
        self.host: Final = parts.hostname
        self.source: Final = source
        self._text: Final = text

    def reveal(self) -> str:
        """Give the address itself, for the request and nothing else."""
        return self._text

    def __repr__(self) -> str:
        """Show the host alone."""
        return f"WebhookAddress({self.host})"


def _split_url(text: str) -> urllib.parse.SplitResult | None:
    """Take an address apart; nothing if it is none."""
    if len(text) > _LONGEST or not (text.isascii() and text.isprintable()) or " " in text:
        return None
    try:
        parts = urllib.parse.urlsplit(text)
        is_web = parts.scheme in {"http", "https"} and parts.port != 0
    except ValueError:
        return None
    return parts if is_web else None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request but for its address."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Added to those that the address has."""


@dataclass(frozen=True, slots=True)
class NoticeTaken:
    """What a webhook says: whether it took the message, and if not, why and whether to wait."""

    problem: Message | None = None
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class HookKind:
    """A kind of webhook."""

    build: Callable[[Notice, str, float], Outgoing]
    """Of a message, a secret (may be empty) and the time in seconds."""
    parse_response: Callable[[bytes], NoticeTaken]
    """Of the body of an answer that is no error by its status."""


def build_slack_payload(notice: Notice, _secret: str, _now: float) -> Outgoing:
    """Write for Slack, Mattermost and Rocket.Chat; links are not unfolded."""
    text = format_slack_text(notice, 4_000)
    return _build_json_payload({"text": text, "unfurl_links": False, "unfurl_media": False})


def build_feishu_payload(notice: Notice, secret: str, now: float) -> Outgoing:
    """Write for a bot of Feishu or Lark: the signature stands in the body."""
    body: dict[str, Any] = {
        "msg_type": "text",
        "content": {"text": format_plain_text(notice, 8_000)},
    }
    if secret:
        moment = str(int(now))
        # The key is time and secret, and nothing is signed with it.
        body |= {"timestamp": moment, "sign": _sign_text(f"{moment}\n{secret}", "")}
    return _build_json_payload(body)


def build_dingtalk_payload(notice: Notice, secret: str, now: float) -> Outgoing:
    """Write for a bot of DingTalk: the signature stands in the address."""
    body = _build_json_payload(
        {
            "msgtype": "text",
            "text": {"content": format_plain_text(notice, 8_000)},
            "at": {"atMobiles": [], "atUserIds": [], "isAtAll": False},
        }
    )
    if not secret:
        return body
    moment = str(int(now * 1000))
    signature = _sign_text(secret, f"{moment}\n{secret}")
    return Outgoing(body.body, body.headers, {"timestamp": moment, "sign": signature})


def build_wecom_payload(notice: Notice, _secret: str, _now: float) -> Outgoing:
    """Write for a bot of WeCom, whose text has 2048 bytes at most."""
    text = format_plain_text(notice, 2_000)
    mentioned: dict[str, Any] = {"mentioned_list": [], "mentioned_mobile_list": []}
    return _build_json_payload({"msgtype": "text", "text": {"content": text, **mentioned}})


def build_webhook_payload(notice: Notice, secret: str, now: float) -> Outgoing:
    """Write `postmortem.notice/1`; with a secret, the headers of Standard Webhooks sign it."""
    body = _build_json_payload(notice.wire())
    number, moment = f"msg_{secrets.token_hex(16)}", str(int(now))
    named = {"webhook-id": number, "webhook-timestamp": moment}
    if secret:
        over = f"{number}.{moment}.".encode() + body.body
        named["webhook-signature"] = f"v1,{_compute_hmac_digest(_decode_signing_key(secret), over)}"
    return Outgoing(body.body, {**body.headers, **named})


def _decode_signing_key(secret: str) -> bytes:
    """Give the key that stands in `whsec_…`; of any other text its bytes.

    Raises:
        UsageError: what stands behind `whsec_` is no base64.
    """
    prefix = "whsec_"
    if not secret.startswith(prefix):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(prefix), validate=True)
    except ValueError as error:
        raise UsageError(
            "the secret begins with whsec_, and what follows is no base64",
            "",
            "make one: echo whsec_$(openssl rand -base64 32)",
        ) from error


def _sign_text(key: str, text: str) -> str:
    return _compute_hmac_digest(key.encode(), text.encode())


def _compute_hmac_digest(key: bytes, data: bytes) -> str:
    return base64.b64encode(hmac.new(key, data, hashlib.sha256).digest()).decode()


def _build_json_payload(value: Mapping[str, Any]) -> Outgoing:
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return Outgoing(body, {"Content-Type": "application/json; charset=utf-8"})


_KEYWORD: Final = say(
    "a security setting of the bot refused it: each message holds the word “postmortem”, so name"
    " that as its keyword, or pass its signing secret, or allow this machine's address"
)
_SIGNATURE: Final = say(
    "the signature was refused: look at the secret, and at this machine's clock"
)
_GONE: Final = say("there is no such bot: copy the address of its webhook once more")
_OFTEN: Final = say("it takes no more messages for now")
_NUMBERS: Final[Mapping[int, Message]] = {
    19021: _SIGNATURE,
    19022: _KEYWORD,
    19024: _KEYWORD,
    310000: _KEYWORD,
    300001: _GONE,
    400101: _GONE,
    93000: _GONE,
    19001: _GONE,
    11232: _OFTEN,
    9499: say("the message was refused as malformed"),
    130101: _OFTEN,
    410100: _OFTEN,
    45009: _OFTEN,
}
"""What the numbers of Feishu, DingTalk and WeCom mean, as far as a user can mend it."""


def _parse_status_code(body: bytes) -> NoticeTaken:
    """Read the number of an answer: `code` of Feishu, `errcode` of the others; 0 is good."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    found = value if isinstance(value, dict) else {}
    number = next(
        (
            found[key]
            for key in ("errcode", "code", "StatusCode")
            if isinstance(found.get(key), int)
        ),
        None,
    )
    if number == 0:
        return NoticeTaken()
    if number is None:
        return NoticeTaken(say("what it answers is not what such a bot answers"))
    code = _NUMBERS.get(number)
    what = say("its error {number}", number=number)
    if code is not None:
        what = say("{what}: {told}", what=what, told=code)
    return NoticeTaken(what, number == 11232)


KINDS: Final[Mapping[str, HookKind]] = {
    "slack": HookKind(build_slack_payload, lambda _body: NoticeTaken()),
    "mattermost": HookKind(build_slack_payload, lambda _body: NoticeTaken()),
    "rocketchat": HookKind(build_slack_payload, lambda _body: NoticeTaken()),
    "feishu": HookKind(build_feishu_payload, _parse_status_code),
    "lark": HookKind(build_feishu_payload, _parse_status_code),
    "dingtalk": HookKind(build_dingtalk_payload, _parse_status_code),
    "wecom": HookKind(build_wecom_payload, _parse_status_code),
    "json": HookKind(build_webhook_payload, lambda _body: NoticeTaken()),
}
