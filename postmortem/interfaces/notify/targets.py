"""The target of a message: a kind of webhook and its address, or a name defined in a file.

In: a name, where its secrets stand. Out: a `Target`. Not here: sending (`notify.posting`).

The address of a webhook is a secret, as its signing key is. The command line names where it is
stored (`env:NAME`, `file:PATH`), never the secret itself: other users of a machine can see that
line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs
import yaml

from postmortem.core.errors import UsageError
from postmortem.core.host.secrets import is_open_to_others, read_secret
from postmortem.core.names import LANGUAGES
from postmortem.interfaces.notify.webhooks import KINDS, WebhookAddress

URL: Final = "env:POSTMORTEM_WEBHOOK"
SECRET: Final = "env:POSTMORTEM_WEBHOOK_SECRET"  # noqa: S105 -- the name of a variable
_FILE_VARIABLE: Final = "POSTMORTEM_TARGETS"
_FILE: Final = "targets.yaml"
_KEYS: Final = frozenset({"kind", "url", "secret", "lang"})
_LARGEST: Final = 1 << 20
_EXAMPLE: Final = "export POSTMORTEM_WEBHOOK=https://…"
_MEND: Final = "write it as docs/notify.md shows"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a message goes."""

    kind: str
    address: WebhookAddress
    secret: str
    tongue: str | None = None
    """The language of its messages, if its file names one."""
    is_open: bool = False
    """Its secrets stand in a file that other users can read."""


def find_target(
    name: str,
    *,
    url: str = "",
    secret: str = "",
    targets: Path | None = None,
    environment: Mapping[str, str],
) -> Target:
    """Find a target by its kind, or by the name that it has in the file of targets.

    Args:
        name: of a kind, or of an entry of the file.
        url: where its address stands; empty: where it stands by default.
        secret: where its signing key stands; by default it may be missing.
        targets: the file; by default that of POSTMORTEM_TARGETS, or the user's own.
        environment: its variables.

    Raises:
        UsageError: there is no such target, or its address is missing or none.
    """
    if "://" in name:
        raise UsageError(
            "a target is a kind or a name; the address of a webhook is a secret and never stands"
            " on the command line",
            "TARGET",
            f"{_EXAMPLE}, then: postmortem notify slack run.log",
        )
    path = _find_targets_file(targets, environment)
    entries = _read_target_entries(path) if path is not None else {}
    if name in entries and path is not None:
        return _from_entry(name, entries[name], path, environment)
    if name not in KINDS:
        known = ", ".join([*KINDS, *entries])
        raise UsageError(f"there is no target {name!r}", path or "", f"one of: {known}")
    what = "the address of the webhook"
    text = read_secret(url or URL, what, environment, is_needed=bool(url))
    if not text:
        raise UsageError(f"{what} is not known", URL, _EXAMPLE)
    signing = read_secret(secret or SECRET, "the secret", environment, is_needed=bool(secret))
    return Target(name, WebhookAddress(text, url or URL), signing)


def _find_targets_file(named: Path | None, environment: Mapping[str, str]) -> Path | None:
    if named is not None:
        return named
    if environment.get(_FILE_VARIABLE):
        return Path(environment[_FILE_VARIABLE])
    usual = Path(platformdirs.user_config_dir("postmortem")) / _FILE
    return usual if usual.is_file() else None


def _read_target_entries(path: Path) -> dict[str, dict[str, Any]]:
    """Read the file of targets: names, and of each what is said of it."""
    try:
        value = yaml.safe_load(path.read_bytes()[:_LARGEST])
    except OSError as error:
        raise UsageError(
            f"the file of targets cannot be read: {error.strerror}", path, "name another one"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError):  # its text quotes the file
        raise UsageError("the file of targets is no YAML", path, _MEND) from None
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise UsageError("the file of targets does not map names to settings", path, _MEND)
    return {str(name): item for name, item in value.items()}


def _from_entry(
    name: str, entry: Mapping[str, Any], path: Path, environment: Mapping[str, str]
) -> Target:
    where = f"{path}: {name}"
    _require_sound(entry, where)
    url, url_is_literal = _read_entry_value("url", entry, where, path.parent, environment)
    secret, secret_is_literal = _read_entry_value("secret", entry, where, path.parent, environment)
    return Target(
        entry["kind"],
        WebhookAddress(url, where),
        secret,
        entry.get("lang"),
        is_open=(url_is_literal or secret_is_literal) and is_open_to_others(path),
    )


def _require_sound(entry: Mapping[str, Any], where: str) -> None:
    """Refuse an entry with settings that are not known; what stands there is not repeated."""
    wrong = sorted(map(str, entry.keys() - _KEYS))
    if wrong or not all(isinstance(item, str) for item in entry.values()):
        reason = f"it has {', '.join(wrong)}" if wrong else "each setting is a text"
        raise UsageError(f"the target is not as it should be: {reason}", where, _MEND)
    if entry.get("kind") not in KINDS or entry.get("lang") not in {None, *LANGUAGES}:
        known = f"kind: one of {', '.join(KINDS)}; lang: one of {', '.join(LANGUAGES)}"
        raise UsageError("kind or lang is not known", where, known)


def _read_entry_value(
    key: str, entry: Mapping[str, str], where: str, folder: Path, environment: Mapping[str, str]
) -> tuple[str, bool]:
    """Give what an entry says itself or by a place, and whether it says it itself."""
    value = entry.get(key, "")
    if not value.startswith(("env:", "file:")):
        return value, bool(value)
    return read_secret(value, f"the {key} of {where}", environment, folder), False
