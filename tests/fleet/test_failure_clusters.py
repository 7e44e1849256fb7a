"""Clusters of unknown failures: the same whatever the order, with ids that outlive a triage."""

import random
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.fleet.failure_clusters import (
    ANY,
    Clustered,
    FailureTemplate,
    KnownCluster,
    KnownPatterns,
    compute_fixed_share,
    compute_similarity,
    group_templates,
    merge_rows,
    open_template,
    split,
    split_by_similarity,
)
from postmortem.fleet.fingerprints import compute_short_hash

WORD = st.sampled_from(["link", "port", "down", "lost", "node", "#", "gpu", "after"])
TEXT = st.lists(WORD, min_size=0, max_size=6).map(" ".join)
TEMPLATE = st.builds(FailureTemplate, st.sampled_from(["aa", "bb"]), TEXT, st.just(value=True))
JOBS = st.dictionaries(st.integers(0, 60), TEMPLATE, max_size=30)


def known_after(found: Clustered[int], since: int = 1) -> list[KnownCluster]:
    """What a store would hold behind a triage."""
    return [KnownCluster(one.id, one.template, since) for one in found.clusters]


def texts(*lines: str, is_placed: bool = True) -> dict[int, FailureTemplate]:
    """Templates of one scope, by number."""
    return {number: FailureTemplate("aa", line, is_placed) for number, line in enumerate(lines)}


@settings(max_examples=150, deadline=None)
@given(JOBS, JOBS, st.randoms(use_true_random=False))
def test_the_order_of_jobs_and_of_known_clusters_does_not_matter(
    earlier: dict[int, FailureTemplate], jobs: dict[int, FailureTemplate], chance: random.Random
) -> None:
    """Shuffled, both give the same ids and the same clusters."""
    known, items = known_after(group_templates(earlier)), list(jobs.items())
    found = group_templates(jobs, known)
    chance.shuffle(known)
    chance.shuffle(items)
    again = group_templates(dict(items), known)
    assert (again.of_key, again.clusters) == (found.of_key, found.clusters)


@settings(max_examples=200, deadline=None)
@given(JOBS, JOBS)
def test_a_job_keeps_its_cluster_when_others_come(
    earlier: dict[int, FailureTemplate], later: dict[int, FailureTemplate]
) -> None:
    """A second triage over all leaves the ids of the first; a third one changes nothing."""
    first = group_templates(earlier)
    whole: Mapping[int, FailureTemplate] = {100 + key: one for key, one in later.items()} | earlier
    second = group_templates(whole, known_after(first))
    assert {key: second.of_key[key] for key in earlier} == dict(first.of_key)
    new = [one for one in known_after(second, 2) if one.id not in {*first.of_key.values()}]
    kept = [one for one in known_after(second) if one.id in {*first.of_key.values()}]
    third = group_templates(whole, [*new, *kept])
    assert dict(third.of_key) == dict(second.of_key)
    assert [one.template for one in third.clusters] == [one.template for one in second.clusters]


@settings(max_examples=150, deadline=None)
@given(JOBS)
def test_every_job_is_an_instance_of_its_cluster(jobs: dict[int, FailureTemplate]) -> None:
    """Its template says no more than what the members share, and scopes stay apart."""
    found = group_templates(jobs)
    by_id = {one.id: split(one.template) for one in found.clusters}
    assert found.of_key.keys() == jobs.keys()
    for key, template in jobs.items():
        pattern = by_id[found.of_key[key]]
        words = split(template.text)
        assert len(pattern) == len(words)
        assert all(one in {ANY, other} for one, other in zip(pattern, words, strict=True))
        assert found.of_key[key].split("-")[1] == template.scope


def test_failures_that_differ_in_a_name_are_one_cluster() -> None:
    """Of another wording they are not."""
    found = group_templates(
        texts(
            "FabricError: link of port eth went down",
            "FabricError: link of port ib went down",
            "FabricError: no route to the scheduler",
        )
    )
    assert found.of_key[0] == found.of_key[1] != found.of_key[2]
    assert {one.template for one in found.clusters} == {
        "FabricError: link of port <*> went down",
        "FabricError: no route to the scheduler",
    }


def test_without_a_place_in_the_code_the_wording_must_agree_more() -> None:
    """Half the words in common are enough only where the same code has failed."""
    lines = ("Stop: the red one of them", "Stop: the old two of us")
    assert len(group_templates(texts(*lines)).clusters) == 1
    assert len(group_templates(texts(*lines, is_placed=False)).clusters) == 2


def test_a_known_cluster_keeps_its_id_and_widens() -> None:
    """What is like it joins it, and does not found a cluster."""
    first = group_templates(texts("FabricError: link of port eth went down"))
    second = group_templates(texts("FabricError: link of port ib went down"), known_after(first))
    (told,) = second.clusters
    assert (told.id, told.is_known) == (first.clusters[0].id, True)
    assert told.template == "FabricError: link of port <*> went down"


def test_two_known_clusters_stay_two() -> None:
    """A template between both joins one, which is not opened over the other."""
    known = [
        KnownCluster("u1-aa-00000001", "link of port eth went down", 1),
        KnownCluster("u1-aa-00000002", "link of port ib went up", 1),
    ]
    jobs = texts(
        "link of port eth went down", "link of port ib went up", "link of port eth went up"
    )
    found = group_templates(jobs, known)
    assert (found.of_key[0], found.of_key[1]) == ("u1-aa-00000001", "u1-aa-00000002")
    assert len({*found.of_key.values()}) >= 2
    one, other = (split(cluster.template) for cluster in found.clusters if cluster.is_known)
    assert any(ANY not in pair and pair[0] != pair[1] for pair in zip(one, other, strict=True))


def test_an_id_is_of_the_content() -> None:
    """And not of the order in which a cluster was found."""
    template = "FabricError: link of port eth went down"
    (told,) = group_templates(texts(template)).clusters
    assert told.id == f"u1-aa-{compute_short_hash('aa', template)}" == "u1-aa-" + told.id[-8:]


def test_an_id_is_never_given_twice() -> None:
    """A new cluster worded as an old one once was gets another id."""
    (first,) = group_templates(texts("alpha beta gamma delta")).clusters
    known = [KnownCluster(first.id, "never seen before here")]
    (second,) = group_templates(texts("alpha beta gamma delta"), known).clusters
    assert second.id != first.id
    assert second.id.startswith("u1-aa-")


def test_an_open_fingerprint_is_read_back() -> None:
    """Its id holds the scope, and whether that names a place."""
    placed, bare = open_template("p1-0a0b-11", "x"), open_template("o1-0a0b-11", "x")
    assert (placed, bare) == (
        FailureTemplate("0a0b", "x", is_placed=True),
        FailureTemplate("0a0b", "x"),
    )


def test_nothing_gives_nothing() -> None:
    """No job, no cluster; an empty line is a template like another."""
    assert group_templates({}).clusters == ()
    assert len(group_templates(texts("", "")).clusters) == 1


def test_twenty_thousand_templates_that_are_unlike() -> None:
    """Every one is a cluster, is found again, and those of a next triage are no fewer."""
    draw = random.Random(7)
    words = ["link", "port", "down", "lost", "node", "gpu", "after", "rank"]
    lines = [
        " ".join(
            f"{draw.choice(words)}{draw.random() if draw.random() < 0.7 else ''}" for _ in range(8)
        )
        for _ in range(20_000)
    ]
    found = group_templates(texts(*lines))
    assert len(found.clusters) > 19_000
    again = group_templates(texts(*reversed(lines[:2_000])), known_after(found))
    assert [again.of_key[number] for number in range(2_000)] == [
        found.of_key[1_999 - number] for number in range(2_000)
    ]


def test_templates_without_end_are_looked_at_in_part() -> None:
    """Behind forty words nothing counts."""
    long = " ".join(["word"] * 20_000)
    found = group_templates(texts(long, long + " more", "word " * 40))
    assert len(found.clusters) == 1
    assert len(found.clusters[0].template.split()) == 40


def test_a_group_is_parted_where_it_has_the_fewest_words() -> None:
    """What all share stays above the least share in every part."""
    rows = [split(f"{kind} of {name} failed hard") for kind in ("load", "save") for name in "abcd"]
    found = split_by_similarity(rows, 0.7)
    assert [merge_rows(group) for group in found] == [
        ("load", "of", ANY, "failed", "hard"),
        ("save", "of", ANY, "failed", "hard"),
    ]
    assert all(compute_fixed_share(merge_rows(group)) >= 0.7 for group in found)


def test_likeness_leaves_out_what_is_open() -> None:
    """Numbers in both and open words tell nothing."""
    assert compute_similarity(("loss", "#", "x"), ("loss", "#", ANY)) == 1.0
    assert compute_similarity(("loss", "#", "x"), ("loss", "#", "y")) == 0.5


def test_the_oldest_of_two_patterns_has_the_instance() -> None:
    """Whichever is narrower."""
    patterns = KnownPatterns([("old", ("a", ANY, "c")), ("new", ("a", "b", "c"))])
    assert patterns.find_instance(("a", "b", "c")) == "old"
    assert patterns.find_instance(("x", "b", "c")) is None
