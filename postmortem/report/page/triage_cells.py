"""Words and cells of a triage: phrases, counts, hours, times, texts, addresses.

In: plain values of `postmortem.triage/1`. Out: short text; the phrases, some of which the script of
the page fills in. Not here: which cells there are (`page.triage_sections`, `page.triage_page`),
escaping for HTML, which the template does.
"""

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from postmortem.core.log_text import compile_lazily, escape_control_characters
from postmortem.core.message import say, say_in
from postmortem.report.words import PhraseTable

TRIAGE: Final = PhraseTable(
    {
        "title": say("Triage of failed jobs"),
        "heading": say("Triage of {jobs} jobs"),
        "lead": say("{judged} of {jobs} jobs are judged. They fall into {groups} groups."),
        "lead.first": say("Most frequent: {title} ({jobs} jobs)."),
        "made": say("made {time}"),
        "since": say("compared with the triage of {time}"),
        "since.none": say("There is no earlier triage to compare with."),
        "jobs": say("Jobs"),
        "jobs.note": say("{analyses} different contents were analysed"),
        "left_out": say("belonging to no job: {count}"),
        "judged": say("Judged"),
        "judged.note": say("{count} could not be judged"),
        "lost": say("GPU-hours lost"),
        "lost.short": say("GPU-h lost"),
        "lost.note": say("of {hours} in all"),
        "lost.none": say("the scheduler told no GPU-hours"),
        "unclassified": say("Without a cause"),
        "unclassified.note": say("{count} of the jobs that are judged"),
        "healthy": say("Show no failure"),
        "change": say("Since the last triage"),
        "new": say("New groups"),
        "new.none": say("No group is new."),
        "vanished": say("Vanished groups"),
        "vanished.none": say("No group has vanished."),
        "vanished.jobs": say("{count} jobs then"),
        "causes": say_in("triage", "Causes"),
        "causes.note": say(
            "A bar is the share of the most frequent cause. A click on a cause shows its jobs."
        ),
        "measure": say("Bars by"),
        "by.jobs": say_in("triage", "jobs"),
        "by.hours": say("GPU-hours"),
        "cause": say("Cause"),
        "share": say("Share"),
        "hours": say("GPU-hours"),
        "hours.short": say("GPU-h"),
        "groups.count": say_in("count", "Groups"),
        "unnamed": say_in("triage", "No cause named"),
        "groups": say("Groups"),
        "groups.note": say(
            "Jobs of one group failed in the same way: the same cause, and the same message once"
            " names and numbers are taken out."
        ),
        "groups.left": say(
            "{count} smaller groups are not listed here; the table of all jobs can be filtered"
            " by them."
        ),
        "what": say("What failed"),
        "nodes.count": say_in("count", "Nodes"),
        "users.count": say_in("count", "Users"),
        "badge.new": say_in("triage", "new"),
        "fix": say("Fix"),
        "retry": say("Run again"),
        "retry.yes": say("yes, as it is"),
        "retry.after-change": say("only after a change"),
        "whose": say("Lies"),
        "probability": say("probability {value}"),
        "report": say("report of its first job"),
        "draft": say("Drafted signature"),
        "draft.note": say("A draft: check it against the jobs before it is used."),
        "trend": say("When they failed"),
        "trend.note": say("Failed jobs by the time of their end (UTC) and by cause."),
        "trend.described": say(
            "{buckets} spans from {first} to {last}; most failed jobs in one: {most}, from {when}."
        ),
        "trend.others": say("other causes"),
        "trend.rest": say("cause not known"),
        "from": say("From"),
        "values": say("Values"),
        "nodes": say("Nodes"),
        "nodes.note": say(
            "Expected: the failures, had those of each kind of job been spread evenly. q: how"
            " surprising the count is, after all nodes were looked at. A marked node fails more"
            " often than chance explains. That is no proof of a fault: its jobs may differ from"
            " the others. Look at it before it is taken out."
        ),
        "nodes.none": say("No node fails more often than chance explains."),
        "nodes.left": say("{count} more nodes are not listed here."),
        "node": say("Node"),
        "node.jobs": say("Jobs on it"),
        "failed": say("Failed"),
        "expected": say("Expected"),
        "q": say("q"),
        "outlier": say("more than chance explains"),
        "top-causes": say_in("triage", "Causes"),
        "alike": say("Had the very same jobs, so they cannot be told apart: {nodes}"),
        "users": say("Users and images"),
        "users.list": say("Users"),
        "images.list": say("Images"),
        "user": say("User"),
        "image": say("Image"),
        "users.left": say("{count} more are not listed here."),
        "retried": say("Failed, then succeeded"),
        "retried.note": say(
            "The same work, run again, went through: {moved} times on other nodes, {same} times"
            " on the same ones."
        ),
        "retried.failed": say("Failed job"),
        "retried.succeeded": say("Succeeded as"),
        "retried.changed": say_in("triage", "Changed"),
        "changed.nodes": say("nodes"),
        "changed.gpus": say("number of GPUs"),
        "changed.image": say("image"),
        "changed.nothing": say("nothing"),
        "joint": say_in("list", ", "),
        "unjudged": say("Jobs that could not be judged"),
        "state": say("State"),
        "reason": say("Reason"),
        "examples": say("For example"),
        "all": say("All jobs"),
        "job": say("Job"),
        "group": say("Group"),
        "user.column": say("User"),
        "ended": say("Ended (UTC)"),
        "skip": say("To the summary"),
        "more": say_in("assistant", "{count} more"),
        "none": say("–"),
    }
)


JOB_TABLE: Final = PhraseTable(
    {
        "filters": say("Filter the jobs"),
        "text": say("Search"),
        "text.hint": say("job, cause, node, user, message"),
        "any": say("any"),
        "sort": say("Sort by"),
        "sort.given": say("as found"),
        "sort.up": say("{column}, ascending"),
        "sort.down": say("{column}, descending"),
        "reset": say("Show all"),
        "shown": say("{shown} of {jobs} jobs"),
        "shown.hours": say("{hours} GPU-hours"),
        "shown.known": say("{hours} GPU-hours, told of {count}"),
        "nothing": say("No job fits these filters."),
        "grid": say("All jobs; arrow keys move, Enter opens what is in a cell"),
        "paper": say("The first {shown} of them are printed."),
        "state.waiting": say("waiting"),
        "state.judged": say("judged"),
        "state.unreadable": say("unreadable"),
        "state.crashed": say("analysis crashed"),
        "state.timed-out": say("analysis took too long"),
        "state.out-of-memory": say("analysis ran out of memory"),
        "report.column": say("Report"),
        "report.job": say("job"),
        "report.group": say("group"),
        "all.still": say(
            "These are the first {shown} of {jobs} jobs. Filtering and sorting need the script of"
            " this page; every job also stands in results.csv and results.jsonl."
        ),
        "all.whole": say(
            "Filtering and sorting need the script of this page; every job also stands in"
            " results.csv and results.jsonl."
        ),
        "all.none": say("No job was found."),
    }
)


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
