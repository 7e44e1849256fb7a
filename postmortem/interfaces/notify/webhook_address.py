"""The address of a webhook, a secret: whoever knows it can write to the chat.

In: a text. Out: `WebhookAddress`, which shows its host and nothing else. Not here: where the text
comes from (`notify.targets`), the request (`notify.posting`).
"""

import urllib.parse
from typing import Final

from postmortem.core.errors import UsageError
from postmortem.core.host.own_addresses import is_loopback

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
