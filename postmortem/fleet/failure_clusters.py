"""Cluster the templates of similar unknown failures, independent of their order.

In: templates by key, the clusters of earlier triages. Out: `Clustered`, every key in one cluster.
Not here: what a template is, failures of a known cause (`fleet.fingerprints`).

First each template is compared with the known clusters as they were before: an instance of a
cluster joins the oldest such cluster, a similar template widens it, but never so far that a
template could be an instance of two: what once belonged to a cluster belongs to it in every later
triage. The rest is clustered anew: groups are split top-down, so the order of reading has no
effect: while the members of a group share too few words, the group is split at the position with
the fewest different words. Two groups thus always differ in a word that each of them holds.
Everything is done in the order of the templates' texts, never in that of the jobs.

Of n templates each is looked up once for each set of open words that the known clusters of its
scope have (at most 256), compared with at most 24 clusters and held against at most 512, and parted
in at most 40 rounds over at most 40 words: the time grows with n, not with its square.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from postmortem.fleet.fingerprints import FINGERPRINT_VERSION, compute_short_hash

Words = tuple[str, ...]
ANY: Final = "<*>"
"""In place of words that differ."""
MOST_WORDS: Final = 40
"""What stands behind so many words of a template is not looked at."""


def split(text: str) -> Words:
    """Give the words of a template."""
    return tuple(text.split()[:MOST_WORDS])


def compute_similarity(template: Words, pattern: Words) -> float:
    """Give the share of words that a template has in common with a pattern, from 0 to 1.

    What is open on both sides counts for nothing.
    """
    pairs = [
        (first, second)
        for first, second in zip(template, pattern, strict=True)
        if _is_informative(first, second)
    ]
    return sum(first == second for first, second in pairs) / len(pairs) if pairs else 1.0


def merge_rows(rows: Iterable[Words]) -> Words:
    """Give the words that all share, `<*>` in place of the others."""
    return tuple(words[0] if len(set(words)) == 1 else ANY for words in zip(*rows, strict=True))


def compute_fixed_share(pattern: Words) -> float:
    """Give the share of the words of a pattern that are not open, from 0 to 1."""
    fixed = sum(_is_word(word) for word in pattern)
    return fixed / (fixed + pattern.count(ANY)) if ANY in pattern else 1.0


def split_by_similarity(rows: Iterable[Words], least: float) -> list[list[Words]]:
    """Part templates of one length into groups, sorted.

    Args:
        rows: each once.
        least: the share of words that all of a group must have in common.
    """
    found, waiting = [], [sorted(rows)]
    while waiting:
        group = waiting.pop()
        if not group:
            continue
        if len(group) == 1 or compute_fixed_share(merge_rows(group)) >= least:
            found.append(group)
        else:
            waiting += _split_at_fewest(group)
    return sorted(found)


def _split_at_fewest(group: list[Words]) -> list[list[Words]]:
    """Split a group where its members have the fewest different words, the first such place."""
    counts = [len(set(words)) for words in zip(*group, strict=True)]
    place = min(
        (number for number, count in enumerate(counts) if count > 1), key=counts.__getitem__
    )
    parts: defaultdict[str, list[Words]] = defaultdict(list)
    for row in group:
        parts[row[place]].append(row)
    return list(parts.values())


def _is_informative(first: str, second: str) -> bool:
    return second != ANY and (_is_word(first) or _is_word(second))


def _is_word(text: str) -> bool:
    return text != ANY and any(letter.isalpha() for letter in text)


_MOST_MASKS: Final = 256
"""Sets of open places that a template is looked up under, those of the oldest patterns first."""
_MOST_COMPARED: Final = 24
"""Patterns that a template is compared with word by word: those with its rarest words."""
_MOST_STATES: Final = 512
"""Patterns that a wider one is held against; beside more it is not opened."""
_Mask = tuple[int, ...]
_WordAtPosition = tuple[int, str]


class KnownPatterns:
    """Patterns that templates are held against; they widen, and never become one."""

    def __init__(self, patterns: Iterable[tuple[str, Words]]) -> None:
        """Take ids and words, the oldest first."""
        self.words: dict[str, Words] = dict(patterns)
        """The words of each pattern, as wide as it has become."""
        self._age = {name: age for age, name in enumerate(self.words)}
        self._having: defaultdict[_WordAtPosition, list[str]] = defaultdict(list)
        for name, words in self.words.items():
            for place in enumerate(words):
                self._having[place].append(name)
        self._index()

    def _index(self) -> None:
        """Note which pattern has which fixed words, by the places that it leaves open."""
        self._fixed: dict[_Mask, dict[Words, str]] = {}
        for name, words in self.words.items():
            mask = tuple(place for place, word in enumerate(words) if word == ANY)
            if mask in self._fixed or len(self._fixed) < _MOST_MASKS:
                self._fixed.setdefault(mask, {}).setdefault(words, name)

    def find_instance(self, template: Words) -> str | None:
        """Give the oldest pattern that a template is an instance of."""
        found = []
        for mask, patterns in self._fixed.items():
            opened = list(template)
            for place in mask:
                opened[place] = ANY
            if (name := patterns.get(tuple(opened))) is not None:
                found.append(name)
        return min(found, key=self._age.__getitem__, default=None)

    def widen(self, templates: Sequence[Words], least: float) -> None:
        """Open the patterns for templates that are like them and an instance of none.

        Each template is held against the patterns as they were before; of several it is like, the
        one that it has most in common with is opened, the older one of two, as far as the pattern
        keeps the share of its words that all members must have in common.

        Args:
            templates: sorted, each once.
            least: share of words in common from which on two are alike.
        """
        if not self.words:
            return
        joining: defaultdict[str, list[Words]] = defaultdict(list)
        for template in templates:
            if self.find_instance(template) is None:
                name = self._likest(template, least)
                if name is not None:
                    joining[name].append(template)
        for name in sorted(joining, key=self._age.__getitem__):
            for member in joining[name]:
                wider = merge_rows((self.words[name], member))
                if compute_fixed_share(wider) >= least and not self._reaches_others(name, wider):
                    self._open(name, wider)
        self._index()

    def _open(self, name: str, wider: Words) -> None:
        for place, word in enumerate(wider):
            if word != self.words[name][place]:
                self._having[place, word].append(name)
        self.words[name] = wider

    def _reaches_others(self, name: str, wider: Words) -> bool:
        """Say whether a template could be an instance of a wider pattern and of another one."""
        lists = (
            (self._having.get(place, []), self._having.get((place[0], ANY), []))
            for place in enumerate(wider)
            if place[1] != ANY
        )
        same, opened = min(lists, key=lambda pair: len(pair[0]) + len(pair[1]))
        if len(same) + len(opened) > _MOST_STATES:
            return True
        return any(
            other != name and _can_overlap(wider, self.words[other]) for other in {*same, *opened}
        )

    def _likest(self, template: Words, least: float) -> str | None:
        alike = [
            (compute_similarity(template, self.words[name]), name)
            for name in self._compared(template)
        ]
        alike = [(share, name) for share, name in alike if share >= least]
        if not alike:
            return None
        return min(alike, key=lambda pair: (-pair[0], self._age[pair[1]]))[1]

    def _compared(self, template: Words) -> Iterator[str]:
        """Yield the first few patterns that share a word with a template, its rarest words first.

        A pattern that shares no word with it is not like it.
        """
        seen: set[str] = set()
        for names in sorted(
            (self._having.get(position, []) for position in enumerate(template)), key=len
        ):
            for name in names:
                if len(seen) >= _MOST_COMPARED:
                    return
                if name not in seen:
                    seen.add(name)
                    yield name


def _can_overlap(first: Words, second: Words) -> bool:
    """Say whether there could be an instance of both."""
    return all(mine == its or ANY in (mine, its) for mine, its in zip(first, second, strict=True))


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
