"""Group the jobs of a triage by failure: each analysis is in one group.

In: summaries, the groups that are known. Out: the id of each summary's group, and its texts. Not
here: fingerprints of known causes (`fleet.fingerprints`), clusters of unknown ones
(`fleet.failure_clusters`), counting.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from postmortem.core.message import Message, quote
from postmortem.fleet.failure_clusters import Cluster, KnownCluster, group_templates, open_template
from postmortem.fleet.fingerprints import FINGERPRINT_VERSION, is_left_open
from postmortem.fleet.store.stored_rows import JUDGED, AnalysisSummary, GroupRow

VERSION = str(FINGERPRINT_VERSION)


@dataclass(frozen=True, slots=True)
class JobGroup:
    """Jobs that failed alike."""

    id: str
    cause: str | None
    title: Message
    template: str
    """What failed, in the words of the log."""
    best: AnalysisSummary
    """The summary that stands for it: the most probable, then the first by key."""
    is_open: bool
    """Its cause is not known: it is a cluster of wordings."""
    lines: tuple[str, ...]
    """Failing lines of its analyses as printed, sorted, each once."""


def group_summaries(
    summaries: Iterable[AnalysisSummary], known: Iterable[GroupRow]
) -> tuple[dict[str, str], dict[str, JobGroup]]:
    """Give the group of each analysis that was judged, by key, and the groups, by id."""
    judged = {summary.key: summary for summary in summaries if summary.state == JUDGED}
    open_ = {key: summary for key, summary in judged.items() if is_left_open(summary.cause)}
    found = group_templates(
        {
            key: open_template(summary.fingerprint, summary.template)
            for key, summary in open_.items()
        },
        [
            KnownCluster(row.identity, row.template, row.first_triage)
            for row in known
            if row.version == VERSION and is_left_open(row.cause)
        ],
    )
    clusters = {cluster.id: cluster for cluster in found.clusters}
    of_key = {key: found.of_key.get(key, summary.fingerprint) for key, summary in judged.items()}
    members: dict[str, list[AnalysisSummary]] = {}
    for key in sorted(of_key):
        members.setdefault(of_key[key], []).append(judged[key])
    return of_key, {name: _group(name, members[name], clusters) for name in sorted(members)}


def _group(name: str, members: list[AnalysisSummary], clusters: Mapping[str, Cluster]) -> JobGroup:
    best = min(members, key=lambda member: (-member.probability, member.key))
    cluster = clusters.get(name)
    template = cluster.template if cluster is not None else best.template
    title = Message(best.title_en, best.title_zh)
    lines = tuple(sorted({member.failing_line for member in members if member.failing_line}))
    if cluster is not None and template.strip():
        title = quote(template)
    return JobGroup(name, best.cause, title, template, best, cluster is not None, lines)
