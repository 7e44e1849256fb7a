"""Cluster the templates of similar unknown failures, independent of their order.

In: templates by key, the clusters of earlier triages. Out: `Clustered`, every key in one cluster.
Not here: what a template is (`grouping.failure_summary`), failures of a known cause
(`grouping.fingerprints`), how new templates part (`grouping.token_partition`).

First each template is compared with the known clusters as they were before: an instance of a
cluster joins the oldest such cluster, a similar template widens it. The rest is clustered anew. A
template joins one cluster, so that two that are known stay two. Everything is done in the order of
the templates' texts, never in that of the jobs.

Of n templates each is looked up once for each set of open words that the known clusters of its
scope have (at most 256), compared with at most 24 clusters and held against at most 512, and parted
in at most 40 rounds over at most 40 words: the time grows with n, not with its square.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from postmortem.fleet.grouping.fingerprints import FINGERPRINT_VERSION, compute_short_hash
from postmortem.fleet.grouping.known_patterns import KnownPatterns
from postmortem.fleet.grouping.token_partition import Words, merge_rows, split, split_by_similarity

_Key = TypeVar("_Key", bound=Hashable)
_Place = tuple[str, int]
"""A scope and a number of words: templates of two places are never alike."""
_ALIKE_IN_PLACE: Final = 0.5
"""Share of words that templates of one place in the user's own code have in common."""
_ALIKE_ANYWHERE: Final = 0.7
"""The same where no frame tells the place."""


@dataclass(frozen=True, slots=True, order=True)
class FailureTemplate:
    """A failing line without what is a run's own."""

    scope: str
    """What two must share to be alike, hashed."""
    text: str
    is_placed: bool = False
    """The scope holds a place in the user's own code: the wording may differ more."""


@dataclass(frozen=True, slots=True)
class KnownCluster:
    """A cluster of an earlier triage."""

    id: str
    template: str
    """As it was last, `<*>` in place of words that differ."""
    since: int = 0
    """The triage that found it; of two clusters the older one is asked first."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Unknown failures that are alike."""

    id: str
    """`u1-3fa9c2d4-1b07a1c3`: version, scope, what it was found with."""
    template: str
    is_known: bool


@dataclass(frozen=True, slots=True)
class Clustered(Generic[_Key]):
    """Which cluster each key is in."""

    of_key: Mapping[_Key, str]
    """The id of its cluster."""
    clusters: tuple[Cluster, ...]
    """Those with a member, sorted by id; the template of a known one may be wider than it was."""


def open_template(fingerprint: str, text: str) -> FailureTemplate:
    """Read the template of an unknown failure back from what is stored of it.

    Args:
        fingerprint: the id, as `compute_fingerprint` gives it.
        text: its template.
    """
    kind, scope, *_ = f"{fingerprint}--".split("-")
    return FailureTemplate(scope, text, kind.startswith("p"))


def group_templates(
    templates: Mapping[_Key, FailureTemplate], known: Iterable[KnownCluster] = ()
) -> Clustered[_Key]:
    """Put every template into one cluster.

    The outcome is the same in whatever order templates and known clusters come.

    Args:
        templates: of the failures whose cause is not known.
        known: clusters of earlier triages; they keep their ids, and no two become one.
    """
    places: defaultdict[_Place, set[FailureTemplate]] = defaultdict(set)
    for template in templates.values():
        places[_place_of(template)].add(template)
    older: defaultdict[_Place, list[KnownCluster]] = defaultdict(list)
    for known_cluster in sorted(known, key=lambda cluster: (cluster.since, cluster.id)):
        older[_parse_scope(known_cluster.id), len(split(known_cluster.template))].append(
            known_cluster
        )
    found: dict[FailureTemplate, Cluster] = {}
    for place in sorted(places):
        found |= _group_templates_of_place(sorted(places[place]), older[place])
    clusters = {group.id: group for group in found.values()}
    return Clustered(
        {key: found[template].id for key, template in templates.items()},
        tuple(clusters[name] for name in sorted(clusters)),
    )


def _group_templates_of_place(
    templates: Sequence[FailureTemplate], older: Sequence[KnownCluster]
) -> dict[FailureTemplate, Cluster]:
    """Put templates of one scope and length into clusters, known ones first."""
    scope = templates[0].scope
    least = _ALIKE_IN_PLACE if templates[0].is_placed else _ALIKE_ANYWHERE
    rows = {template: split(template.text) for template in templates}
    patterns = KnownPatterns(
        [(known_cluster.id, split(known_cluster.template)) for known_cluster in older]
    )
    patterns.widen(sorted(set(rows.values())), least)
    found: dict[Words, Cluster] = {}
    left = []
    for words in sorted(set(rows.values())):
        name = patterns.find_instance(words)
        if name is None:
            left.append(words)
        else:
            found[words] = Cluster(name, " ".join(patterns.words[name]), is_known=True)
    taken = {known_cluster.id for known_cluster in older}
    for group in split_by_similarity(left, least):
        template = " ".join(merge_rows(group))
        cluster = Cluster(_create_cluster_id(scope, template, taken), template, is_known=False)
        taken.add(cluster.id)
        found |= dict.fromkeys(group, cluster)
    return {template: found[words] for template, words in rows.items()}


def _place_of(template: FailureTemplate) -> _Place:
    return template.scope, len(split(template.text))


def _parse_scope(name: str) -> str:
    return f"{name}--".split("-")[1]


def _create_cluster_id(scope: str, template: str, taken: set[str]) -> str:
    """Give the id of a new cluster by what it was found with; none is given twice."""
    tries = 0
    while True:
        parts = (template, str(tries)) if tries else (template,)
        name = f"u{FINGERPRINT_VERSION}-{scope}-{compute_short_hash(scope, *parts)}"
        if name not in taken:
            return name
        tries += 1
