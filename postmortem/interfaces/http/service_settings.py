"""Settings of the service: address, access and limits.

In: a file of settings. Out: `ServiceSettings`, checked, or one error that names every fault. Not
here: the tokens themselves (`http.client_access`), options (`cli.server_commands`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from postmortem.core.errors import PatternError, UsageError
from postmortem.core.host.machine import is_loopback
from postmortem.core.host.streams import count_cores
from postmortem.core.names import SHIPPED, WITHOUT
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.rules.compile import read_yaml

_AT_HOME: Final = ("localhost", "127.0.0.1", "[::1]")
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _SettingsSection(BaseModel):
    """Settings that belong together; one that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ServiceLimits(_SettingsSection):
    """What one request may cost, and how many there may be."""

    body_mib: Amount = 64
    """Of one request, counted as it arrives."""
    body_seconds: Amount = 60
    """In which a body must have arrived."""
    header_kib: Count = 16
    header_seconds: Amount = 10
    """In which the head of a request must have arrived."""
    files: Count = 64
    """Of one upload."""
    bundle_files: Count = 1000
    """That a zip or tar may hold."""
    unpacked_mib: Amount = 1024
    """To which all packed files of a request together may unpack."""
    unpacked_times: Count = 1000
    """Times its own size that a packed file may unpack to, beyond `unpacked_free_mib`."""
    unpacked_free_mib: Amount = 64
    """To which a packed file may unpack however small it is."""
    seconds: Amount = 60
    """For one analysis, or one page of a triage."""
    memory_mib: Annotated[int, Field(ge=0)] = 4096
    """That one process may hold; 0 for no limit."""
    workers: Count = Field(default_factory=count_cores)
    """Processes: so many analyses run at the same time."""
    waiting: Annotated[int, Field(ge=0)] = 16
    """Requests beyond those that may wait for a process; more are refused."""
    connections: Count = 256
    """Open at the same time."""
    shutdown_seconds: Amount = 30
    """In which what is under way may be finished when the service is ended."""


class ClientRate(_SettingsSection):
    """How often one client may have work done."""

    per_minute: Amount = 60
    burst: Count = 30
    """Requests at once that a client who was silent may make."""
    clients: Count = 10_000
    """That are remembered; the one that was silent longest is forgotten first."""


class ServiceSettings(_SettingsSection):
    """All settings of a service."""

    host: str = "127.0.0.1"
    """The address it listens on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    allowed_hosts: tuple[str, ...] = ()
    """Names under which it may be asked, beside those of this machine; `*` for any."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are believed."""
    token_file: Path | None = None
    """One token a line."""
    store: str | None = None
    """A file for SQLite, or postgresql://…: its triages get pages."""
    patterns: tuple[Path, ...] = ()
    model: str = SHIPPED
    """A text classifier's file; `none` for the rules alone; empty for the package's."""
    allow_unredacted: bool = False
    """Whether a client may ask for a report with secrets, host and user names as they are."""
    session_hours: Amount = 12
    """For which a browser that gave a token may read the pages of triages."""
    bots: BotSettings | None = None
    """What is answered on issue trackers: docs/bots.md."""
    limits: ServiceLimits = ServiceLimits()
    rate: ClientRate = ClientRate()

    @property
    def is_local(self) -> bool:
        """Say whether nobody but this machine can ask: no other address, name or proxy."""
        return (
            is_loopback(self.host)
            and not self.trusted_proxies
            and all(name in _AT_HOME for name in self.allowed_hosts)
        )

    @property
    def hosts(self) -> frozenset[str]:
        """Give the names under which it may be asked, in small letters; `*` is any."""
        own = _AT_HOME if is_loopback(self.host) or self.allowed_hosts else ("*",)
        return frozenset(name.lower() for name in (*own, *self.allowed_hosts))

    @property
    def text_model(self) -> str | None:
        """Give the text classifier as the pipeline takes it, in whatever folder."""
        if self.model == WITHOUT:
            return None
        return str(Path(self.model).resolve()) if self.model else SHIPPED


def load_settings(path: Path | None, overrides: Mapping[str, Any]) -> ServiceSettings:
    """Read a file of settings; overrides win over it.

    Args:
        path: YAML; None for none.
        overrides: settings by name, those of a section as a mapping of their own.

    Raises:
        UsageError: the file cannot be read, or a setting is unknown or out of range.
    """
    values = {} if path is None else _read(path)
    merged = {**values}
    for name, value in overrides.items():
        before = merged.get(name)
        is_section = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[name] = {**before, **value} if is_section else value  # type: ignore[dict-item]
    try:
        return ServiceSettings.model_validate(merged)
    except ValidationError as error:
        raise UsageError(
            "; ".join(_iter_validation_errors(error)),
            path or "",
            "every setting is in docs/service.md",
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        found = read_yaml(path)
    except PatternError as error:
        raise UsageError(
            f"the settings: {error.what}", error.where, "see docs/service.md"
        ) from error
    if not isinstance(found, dict | None):
        raise UsageError("the settings are no names with values", path, "see docs/service.md")
    return found or {}


def _iter_validation_errors(error: ValidationError) -> Iterable[str]:
    for fault in error.errors(include_input=False, include_url=False):
        name = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            yield f"{name}: there is no such setting"
        else:
            yield f"{name}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
