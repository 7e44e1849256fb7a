"""Lists of hosts as Slurm shortens them."""

import re
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.fleet.scheduler.allocations import BadCell
from postmortem.fleet.scheduler.scheduler_cells import MOST, expand_hostlist, get_short_hostname

PREFIXES = st.from_regex(r"[a-z]{1,6}(?:-[a-z]{1,3})?", fullmatch=True)
NUMBERED = st.tuples(PREFIXES, st.integers(1, 4), st.integers(0, 9999)).map(
    lambda parts: f"{parts[0]}{parts[2]:0{parts[1]}d}"
)


def parted(name: str) -> tuple[str, str]:
    """A name's letters, and its number as it is written."""
    found = re.fullmatch(r"(\D*)(\d+)", name)
    assert found
    return found[1], found[2]


def compressed(names: list[str]) -> str:
    """Names in the short form: per prefix and width one bracket, runs of numbers as ranges."""
    words = []
    split = sorted(
        {parted(name) for name in names}, key=lambda pair: (pair[0], len(pair[1]), pair[1])
    )
    for (prefix, _), group in groupby(split, key=lambda pair: (pair[0], len(pair[1]))):
        runs: list[list[str]] = []
        for _, number in group:
            if runs and int(number) == int(runs[-1][-1]) + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        parts = (run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
        words.append(f"{prefix}[{','.join(parts)}]")
    return ",".join(words)


@settings(deadline=None)
@given(st.lists(NUMBERED, min_size=1, max_size=40))
def test_what_is_compressed_comes_back(names: list[str]) -> None:
    """Each name once, with its leading zeros."""
    assert sorted(expand_hostlist(compressed(names))) == sorted({*names})


@settings(deadline=None)
@given(st.text(alphabet="ab[]0123456789-, +;", max_size=30))
def test_any_text_gives_names_or_a_reason(text: str) -> None:
    """Nothing else is raised, and no name holds a bracket or a separator."""
    try:
        names = expand_hostlist(text)
    except BadCell:
        return
    assert not any(set(name) & set("[], ;+") for name in names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("", (), id="empty"),
        pytest.param("None assigned", (), id="never ran"),
        pytest.param("(null)", (), id="null"),
        pytest.param("gpu7", ("gpu7",), id="one"),
        pytest.param("node[01-03,7]", ("node01", "node02", "node03", "node7"), id="ranges"),
        pytest.param("n[08-10]", ("n08", "n09", "n10"), id="zeros are kept"),
        pytest.param("n[9-10]", ("n9", "n10"), id="none are added"),
        pytest.param("a[1-2]-ib,b3", ("a1-ib", "a2-ib", "b3"), id="behind the bracket"),
        pytest.param("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2"), id="two brackets"),
        pytest.param("a b;c+a", ("a", "b", "c"), id="other separators, each once"),
    ],
)
def test_a_list(text: str, names: tuple[str, ...]) -> None:
    """The forms that Slurm and other schedulers write."""
    assert expand_hostlist(text) == names


@pytest.mark.parametrize(
    "text", ["n[1-2", "n]1[", "n[3-1]", "n[a-b]", "n[]", "n[[1]]", "n[1-9999999]"]
)
def test_a_broken_list_is_refused(text: str) -> None:
    """In words, in both languages."""
    with pytest.raises(BadCell) as caught:
        expand_hostlist(text)
    assert caught.value.why.text("en") != caught.value.why.text("zh")


def test_a_list_cannot_fill_the_memory() -> None:
    """Brackets multiply; the product is bounded before it is made."""
    with pytest.raises(BadCell, match=str(MOST)):
        expand_hostlist("n[0-999][0-999][0-999][0-999]")


@pytest.mark.parametrize(
    ("host", "short"),
    [
        ("Node01.cluster.local", "node01"),
        ("10.1.2.3", "10.1.2.3"),
        ("fe80::1", "fe80::1"),
        ("n1", "n1"),
    ],
)
def test_hosts_are_compared_by_their_first_label(host: str, short: str) -> None:
    """Logs print names with their domain, schedulers without; addresses stay whole."""
    assert get_short_hostname(host) == short
