"""The two prefilters find the same, and every literal that starts in the fresh region."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.extraction.scanning import (
    AhoCorasickFilter,
    HyperscanFilter,
    Prefilter,
    build_prefilter,
)
from postmortem.pipeline import get_matcher

FILTERS = [
    pytest.param(HyperscanFilter, id="hyperscan"),
    pytest.param(AhoCorasickFilter, id="ahocorasick"),
]
OVERLAPPING = (
    b"loss",
    b"Loss",
    b"'loss'",
    b"{'loss': ",
    b"ssl",
    b"lossloss",
    b"oss: na",
    b"\xe9\x94\x99\xe8\xaf\xaf",
    b"aaaa",
    b"aaa",
    b"(a|b)*",
    b".*",
    b"a\nb",
)


def naive(literals: tuple[bytes, ...], data: bytes, lo: int, hi: int) -> list[tuple[int, int]]:
    """What a filter must find, found the slow way."""
    return sorted(
        (number, start)
        for number, literal in enumerate(literals)
        for start in range(lo, hi)
        if data.startswith(literal, start)
    )


@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize(
    ("data", "lo", "hi"),
    [
        pytest.param(b"{'loss': 1} lossloss oss: nan", 0, 29, id="overlapping"),
        pytest.param(b"aaaaaaaa", 0, 8, id="in itself"),
        pytest.param(b"aaaaaaaa", 3, 5, id="only what starts in the fresh region"),
        pytest.param(b"xxloss", 0, 3, id="a literal that reaches over the end"),
        pytest.param(b"loss at the start", 1, 17, id="a literal that starts before"),
        pytest.param(b"", 0, 0, id="empty"),
        pytest.param("错误 loss 错误".encode(), 0, 19, id="Chinese"),
        pytest.param(b"(a|b)* is text, .* too", 0, 22, id="regex characters are text"),
        pytest.param(b"a\nb and a\r\nb", 0, 12, id="a literal over a line break"),
        pytest.param(b"\x00loss\x00", 0, 6, id="NUL"),
    ],
)
def test_every_literal_that_starts_in_the_fresh_region(
    kind: type[Prefilter], data: bytes, lo: int, hi: int
) -> None:
    """Neither fewer nor more, wherever it ends."""
    assert sorted(kind(OVERLAPPING).hits(data, lo, hi)) == naive(OVERLAPPING, data, lo, hi)  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", FILTERS)
def test_no_literals_no_hits(kind: type[Prefilter]) -> None:
    """An empty knowledge base finds nothing."""
    assert kind(()).hits(b"loss", 0, 4) == []  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", FILTERS)
def test_hits_come_in_the_order_of_their_ends(kind: type[Prefilter]) -> None:
    """A reader meets the literals as it would read them."""
    data = b"{'loss': 1} lossloss oss: nan aaaa " * 50
    ends = [
        start + len(OVERLAPPING[number])
        for number, start in kind(OVERLAPPING).hits(data, 0, len(data))
    ]  # type: ignore[call-arg]
    assert ends == sorted(ends)


@pytest.mark.parametrize(("lo", "hi"), [(0, 36), (0, 5), (12, 20), (30, 36)])
def test_of_each_literal_the_first_place(lo: int, hi: int) -> None:
    """Whoever asks whether a literal is there at all is not told of it again."""
    data = b"{'loss': 1} lossloss oss: nan aaaaaaa "
    firsts: dict[int, int] = {}
    for number, start in naive(OVERLAPPING, data, lo, hi):
        firsts[number] = min(start, firsts.get(number, start))
    assert dict(HyperscanFilter(OVERLAPPING, is_once=True).hits(data, lo, hi)) == firsts
    assert len(HyperscanFilter(OVERLAPPING, is_once=True).hits(data, lo, hi)) == len(firsts)
    assert {
        number for number, _ in build_prefilter(OVERLAPPING, is_once=True).hits(data, lo, hi)
    } == set(firsts)


PLANTED = st.lists(
    st.one_of(st.binary(max_size=30), st.sampled_from(OVERLAPPING)), max_size=40
).map(b"".join)


@settings(max_examples=200, deadline=None)
@given(PLANTED, st.integers(0, 400), st.integers(0, 400))
def test_both_find_the_same_in_anything(data: bytes, one: int, other: int) -> None:
    """Random bytes with planted and overlapping literals, any fresh region.

    Both equal the slow way.
    """
    lo, hi = sorted((min(one, len(data)), min(other, len(data))))
    expected = naive(OVERLAPPING, data, lo, hi)
    assert sorted(HyperscanFilter(OVERLAPPING).hits(data, lo, hi)) == expected
    assert sorted(AhoCorasickFilter(OVERLAPPING).hits(data, lo, hi)) == expected


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.binary(min_size=1, max_size=12).filter(lambda one: b"\0" not in one),
        min_size=1,
        max_size=30,
        unique=True,
    ),
    st.data(),
)
def test_both_find_the_same_with_any_literals(literals: list[bytes], data: st.DataObject) -> None:
    """Random literals (without NUL, which no printed line holds), planted in random bytes."""
    text = b"".join(
        data.draw(
            st.lists(st.one_of(st.binary(max_size=8), st.sampled_from(literals)), max_size=30)
        )
    )
    expected = naive(tuple(literals), text, 0, len(text))
    assert sorted(HyperscanFilter(literals).hits(text, 0, len(text))) == expected
    assert sorted(AhoCorasickFilter(literals).hits(text, 0, len(text))) == expected


def test_both_find_the_same_with_the_whole_knowledge_base() -> None:
    """All literals of all rules over a text of all examples."""
    machine = get_matcher(())
    rules = (*machine.knowledge.signatures, *machine.knowledge.formats)
    text = "\n".join(
        example["text"]
        for rule in rules
        for kind in ("fires", "silent")
        for example in rule.raw.get("examples", {}).get(kind, ())  # a stack is seen by its paths
    ).encode()
    fast, slow = HyperscanFilter(machine.literals), AhoCorasickFilter(machine.literals)
    assert len(machine.literals) > 1000
    for lo, hi in ((0, len(text)), (len(text) // 3, len(text) // 2)):
        found = fast.hits(text, lo, hi)
        assert sorted(found) == sorted(slow.hits(text, lo, hi))
        assert len(found) > (hi - lo) / 200
    assert {number for number, _ in fast.hits(text, 0, len(text))} >= {
        number
        for number, literal in enumerate(machine.literals)
        if any(literal in rule.anchors for rule in rules)
    } - unused(machine, text)


def unused(machine: object, text: bytes) -> set[int]:
    """Literals that no example holds."""
    return {number for number, literal in enumerate(machine.literals) if literal not in text}  # type: ignore[attr-defined]


def test_the_fastest_filter_of_the_platform_is_taken() -> None:
    """Where hyperscan has a wheel, it is used."""
    assert isinstance(build_prefilter((b"loss",)), HyperscanFilter)


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept,
        lambda kept: kept[:100],
        lambda kept: kept[:5000] + b"\xff" * 64 + kept[5064:],
        lambda _: b"no database",
    ],
    ids=["whole", "cut off", "changed", "something else"],
)
def test_what_is_kept_is_loaded_or_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    """A second start finds the same with what the first has kept.

    It does so also where that is damaged.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    literals = tuple(f"literal-{number:05d}".encode() for number in range(1500))
    text = b" ".join(literals[::-7])
    first = HyperscanFilter(literals).hits(text, 0, len(text))
    (kept,) = (tmp_path / "postmortem").glob("literals-*")
    kept.write_bytes(damage(kept.read_bytes()))
    assert (
        HyperscanFilter(literals).hits(text, 0, len(text))
        == first
        == [(number, text.index(literals[number])) for number in range(1499, -1, -7)]
    )


def test_a_cache_that_cannot_be_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The literals are compiled anew."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    literals = tuple(f"literal-{number:05d}".encode() for number in range(1500))
    assert HyperscanFilter(literals).hits(literals[3], 0, 13) == [(3, 0)]
