"""The engine means what `regex` means, linear wherever it can be, and stops where it cannot."""

import time

import pytest
import regex

from postmortem.rules.engine import Budget, compile_pattern

TEXTS = (
    "",
    "x",
    "loss: 0.5, lr=1e-5",
    "a-b_c.d e\tf\vg\n",
    "[INFO] 12:30 step 100/200 (50%)",
    "\u3000宽 ｂ１２３ é \u00a0ü",
    "训练已完成，共 100 步",
    "│ 错误 │ Killed",
    "ab" * 40 + "c",
    "a\nb\nc",
    "résumé=½ ²",
    "NaN nan NAN",
)
PATTERNS = (
    pytest.param(r"(?P<word>\w+)", True, id="a class stands for letters of every language"),
    pytest.param(r"\d+", True, id="digits too"),
    pytest.param(r"[^\W\d]+", True, id="what is left of a class within a class"),
    pytest.param(r"\S+\s\S+", True, id="blanks of every kind"),
    pytest.param(r"[\w.-]+", True, id="a dash at the end behind a class"),
    pytest.param(r"[\w-.]+", True, id="a dash behind a class is no range"),
    pytest.param(r"[%-\d]+", True, id="nor one before a class"),
    pytest.param(r"[]\[(:]+", True, id="brackets within brackets"),
    pytest.param(r"[[(][A-Z]", True, id="a bracket that opens nothing"),
    pytest.param(r"(?:ab){,3}c", True, id="a repetition without its lower bound"),
    pytest.param(
        r"(?i)(?P<value>nan)|(?P<other>c)\Z", True, id="flags, the end, a group that takes no part"
    ),
    pytest.param(r"(?m)^(?P<line>[a-c])$", True, id="lines"),
    pytest.param(r"(?P<second>[a-z])(?P<first>-)", True, id="groups keep their order"),
    pytest.param(r"(?P<lazy>\w+?)b", True, id="lazy repetition"),
    pytest.param(
        r"已(?P<what>\w{1,2})|[│，]|ü", True, id="characters beyond ASCII, each for itself"
    ),
    pytest.param(r"\x41|\.|\-|\ ", True, id="escapes"),
    pytest.param(r"a*", True, id="an empty match"),
    pytest.param(r"(?P<a>x)|(?P<a>y)|l(?P<a>o)", False, id="two groups of one name"),
    pytest.param(r"(?<!a)b", False, id="look-around"),
    pytest.param(r"(?P<q>.)(?P=q)", False, id="a back-reference"),
    pytest.param(r"b.{0,2000}c", False, id="a repetition beyond what re2 counts to"),
    pytest.param(r"n(?i)an", False, id="a flag in the middle"),
    pytest.param(r"[[:alpha:]]+", False, id="classes by name, which are of ASCII in re2"),
    pytest.param(r"\p{Lu}\w*", False, id="properties"),
    pytest.param(
        "".join(map(chr, range(0x4E00, 0x4E80))) + "|loss",
        False,
        id="more characters beyond ASCII than there are stand-ins",
    ),
)


@pytest.mark.parametrize(("pattern", "is_linear"), PATTERNS)
def test_a_pattern_means_the_same_in_either_engine(pattern: str, is_linear: bool) -> None:  # noqa: FBT001 -- a column of the table
    """The same matches at the same places with the same groups, and re2 runs all it can."""
    ours, theirs = compile_pattern(pattern), regex.compile(pattern)
    assert ours.is_linear == is_linear
    assert ours.names == tuple(theirs.groupindex)
    for text in TEXTS:
        for one, other in zip(
            [*ours.finditer(text), ours.search(text)],
            [*theirs.finditer(text), theirs.search(text)],
            strict=True,
        ):
            assert (one is None) == (other is None), text
            if one is not None and other is not None:
                assert (one.span(), one[0], list(one.groupdict().items())) == (
                    other.span(),
                    other[0],
                    list(other.groupdict().items()),
                ), text
                assert [(one.start(name), one.end(name), one[name]) for name in ours.names] == [
                    (*other.span(name), other[name]) for name in ours.names
                ]


def test_a_word_ends_where_chinese_begins() -> None:
    r"""For `\b` a word is of ASCII; Chinese is written without blanks."""
    assert compile_pattern(r"\bloss\b").search("训练loss为") is not None
    assert compile_pattern(r"\bloss\b").search("a_loss") is None


def test_a_pattern_that_is_none_is_refused() -> None:
    """Neither engine takes it."""
    with pytest.raises(ValueError, match="missing"):
        compile_pattern("(")


ENDLESS = r"(?=a)(?:a|aa)+[cd]"


def test_a_search_without_end_ends() -> None:
    """What re2 cannot run is given half a second."""
    began = time.thread_time()
    with pytest.raises(TimeoutError):
        compile_pattern(ENDLESS).search("a" * 5000)
    assert time.thread_time() - began < 5


def test_a_spent_budget_stops_slow_patterns_only() -> None:
    """A source and its job pay for slow searches.

    When either has nothing left, linear patterns go on and the others do not.
    """
    job = Budget(0.2)
    source, other = Budget(5, job), Budget(5, job)
    with pytest.raises(TimeoutError):
        compile_pattern(ENDLESS).search("a" * 5000, source)
    assert source.left < 5
    assert source.is_spent()
    assert other.left == 5
    with pytest.raises(TimeoutError, match="spent"):
        compile_pattern(ENDLESS).search("ab", other)
    assert compile_pattern("a+b").search("ab", other) is not None


def test_ordinary_searches_cost_nothing() -> None:
    """A hundred megabytes of honest lines do not spend what is there for hostile ones."""
    budget = Budget(0.001)
    for _ in range(2000):
        compile_pattern(r"(?<!x)loss: (?P<loss>[\d.]+)").search("step 10 loss: 0.5", budget)
    assert budget.left == 0.001
