"""Load secrets from where they are stored: an environment variable or a file.

In: `env:NAME` or `file:PATH`. Out: the text, hidden in representations. Not here: which secrets
there are. A secret written into the settings themselves is refused: those are shown and passed on.
"""

import os
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, SecretStr

from postmortem.core.errors import UsageError

_MOST: Final = 64 * 1024
_MEND: Final = "write env:NAME of a variable of the environment, or file:PATH"


def _check_secret_reference(named: str) -> str:
    kind, colon, rest = named.partition(":")
    if kind not in {"env", "file"} or not colon or not rest.strip():
        raise ValueError(_MEND)  # what stands there may be the secret: it is not repeated
    return named


SecretName = Annotated[str, AfterValidator(_check_secret_reference)]
"""Where a secret stands, in the settings."""


def read_secret(named: str, what: str) -> SecretStr:
    """Read a secret; blanks and line breaks around it are no part of it.

    Args:
        named: `env:NAME` or `file:PATH`.
        what: what the secret is, for the error.

    Raises:
        UsageError: there is none.
    """
    kind, _, rest = named.partition(":")
    if kind == "env":
        text = os.environ.get(rest, "")
    else:
        try:
            with Path(rest).expanduser().open(encoding="utf-8") as file:
                text = file.read(_MOST)
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"{what} cannot be read", named, _MEND) from None
    if not text.strip():
        raise UsageError(f"{what} is empty", named, _MEND)
    return SecretStr(text.strip())


def read_webhook_secret(named: str | None) -> bytes | None:
    """Read what deliveries are checked with; None if nothing is named.

    Raises:
        UsageError: there is none.
    """
    if named is None:
        return None
    return read_secret(named, "the webhook's secret").get_secret_value().encode()
