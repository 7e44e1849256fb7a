"""Format the cells of a triage: counts, hours, times, texts, addresses.

In: plain values of `postmortem.triage/1`. Out: short text. Not here: which cells there are
(`page.triage_sections`, `page.job_table`), escaping for HTML, which the template does.
"""

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import escape_control_characters

UNKNOWN: Final = "–"
"""Where a figure is not known; never 0."""
NO_CAUSE: Final = "none"
"""In place of a cause where none is named, in filters and addresses."""
_BELOW: Final = 0.01
_LEADING: Final = compile_lazily(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\])")
"""How an address begins that leads away from the folder of the page."""
_Value = Mapping[str, Any]


class FilterLink(NamedTuple):
    """A link that filters the table of all jobs."""

    field: str
    value: str
    text: str


def count(value: int | None) -> str:
    """Write a count: `10,000`."""
    return UNKNOWN if value is None else f"{value:,}"


def format_hours(value: float | None) -> str:
    """Write GPU-hours: whole ones from a hundred on, `–` where they are not known."""
    if value is None:
        return UNKNOWN
    if 0 < value < _BELOW:
        return f"<{_BELOW}"
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:,.{1 if value >= 1 else 2}f}"


def format_p_value(value: float | None) -> str:
    """Write a p or q value."""
    if value is None:
        return UNKNOWN
    return f"{value:.2g}" if value >= 1e-3 or value == 0 else f"{value:.0e}".replace("e-0", "e-")


def format_rate(part: int, whole: int) -> str:
    """Write a share in percent; that of nothing is not known."""
    return UNKNOWN if not whole else f"{100 * part / whole:.1f}%"


def get_localized_text(text: Any, language: str) -> str:
    """Choose a text by language; one that is the same in all stands for itself."""
    if text is None:
        return ""
    return str(text if isinstance(text, str) else text.get(language) or text.get("en") or "")


def parse_timestamp(text: str | None) -> float | None:
    """Read a time as seconds since 1970; one without a zone is UTC.

    None for none, and for one that cannot be read.
    """
    try:
        at = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()


def format_timestamp(text: str | None) -> str:
    """Write a time to the minute, in UTC."""
    at = parse_timestamp(text)
    if at is None:
        return text or UNKNOWN
    return f"{datetime.fromtimestamp(at, timezone.utc):%Y-%m-%d %H:%M}"


def quote_relative_url(url: str | None) -> str:
    """Give an address within the folder of the page, else nothing.

    A triage writes no other, and one from elsewhere would run or lead astray.
    """
    if not url or _LEADING.match(url) or escape_control_characters(url) != url:
        return ""
    return quote(url, safe="/%~!$&'()*+,;=:@-._")


def get_title(value: _Value, language: str, unnamed: str) -> str:
    """Give the title of a cause or a group."""
    return get_localized_text(value.get("title"), language) or value.get("cause") or unnamed


def list_node_names(nodes: Any) -> list[str]:
    """Give the nodes of a job, one or several."""
    if nodes is None or nodes == "":
        return []
    return [str(nodes)] if isinstance(nodes, str) else [str(name) for name in nodes]
