"""Lists of figures and rows of them in JSON and printed Python, each figure with its line."""

import json
import math

import pytest

from postmortem.extraction.formats.arrays import Document, parse_arrays


def arrays(text: str) -> dict[str, tuple[list[float], list[int]]]:
    """The figures and the lines of each list, by the names that lead to it."""
    return {
        "/".join(found.path): (list(found.values), list(found.lines))
        for found in parse_arrays(text).arrays
    }


FIGURES = [0.5, 0.25, 0.125]
FORMS = {
    "json": '{"loss": [0.5, 0.25, 0.125]}',
    "python": "{'loss': [0.5, 0.25, 0.125]}",
    "assignment": "loss = [0.5, 0.25, 0.125]",
    "colon": "loss: [0.5, 0.25, 0.125]",
    "numpy": "{'loss': array([0.5  , 0.25 , 0.125])}",
    "numpy by name": "loss = np.array([0.5, 0.25, 0.125], dtype=float32)",
    "numpy printed": "loss: [0.5   0.25  0.125]",
    "scalars": "{'loss': [np.float64(0.5), np.float64(0.25), np.float64(0.125)]}",
    "default": "defaultdict(<class 'list'>, {'loss': [0.5, 0.25, 0.125]})",
    "powers": '{"loss": [5e-1, 2.5E-01, +1.25e-1,]}',
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_list_is_read_in_each_form(text: str) -> None:
    """JSON, Python, NumPy."""
    assert arrays(text) == {"loss": (FIGURES, [1, 1, 1])}


def test_each_figure_has_its_own_line() -> None:
    """One on each line, and several on one."""
    data = {"a": {"loss": FIGURES}, "val_loss": [1.0, 2.0]}
    text = json.dumps(data, indent=2)
    lines = text.split("\n")
    for values, places in arrays(text).values():
        for value, line in zip(values, places, strict=True):
            assert lines[line - 1].strip().rstrip(",") == repr(value)
    several = "loss: array([0.5, 0.25,\n       0.125])"
    assert arrays(several) == {"loss": (FIGURES, [1, 1, 2])}
    assert arrays("loss: [0.5 0.25\n 0.125]") == {"loss": (FIGURES, [1, 1, 2])}


def test_lines_count_from_the_first() -> None:
    """A text within a log begins on a line of its own."""
    found = parse_arrays("loss: [\n0.5,\n0.25]", 40).arrays[0]
    assert list(found.lines) == [41, 42]


def test_figures_that_are_not_finite_are_figures() -> None:
    """As JSON, Python and NumPy write them."""
    values, _ = arrays('{"loss": [NaN, nan, Infinity, -Infinity, inf, -inf]}')["loss"]
    assert [math.isnan(value) for value in values] == [True, True] + 4 * [False]
    assert values[2:] == [math.inf, -math.inf, math.inf, -math.inf]


def test_what_is_absent_leaves_its_place() -> None:
    """The figures behind it keep theirs."""
    found = parse_arrays('{"loss": [0.5, null, 0.25, None]}').arrays[0]
    assert (list(found.values), list(found.places), found.length) == ([0.5, 0.25], [1, 3], 4)


def test_other_lists_are_no_figures() -> None:
    """Lists of lists, of texts, of nothing; a list without a name."""
    text = '{"matrix": [[1, 2], [3, 4]], "names": ["a", "b"], "none": [], "mixed": [1, "a"]}'
    assert arrays(text) == {}
    assert arrays("[0.5]\n[0.25]\n") == {}


def test_brackets_in_texts_count_for_nothing() -> None:
    """Nor do quotes behind a backslash."""
    text = '{"note": "a [b {c \\" d", "loss": [0.5, 0.25]}'
    assert arrays(text) == {"loss": ([0.5, 0.25], [1, 1])}


def test_a_list_that_is_cut_off_gives_what_is_whole() -> None:
    """Its last figure may be half of one."""
    assert arrays('{"loss": [0.5, 0.25, 0.12') == {"loss": ([0.5, 0.25], [1, 1])}


def test_rows_are_mappings_in_a_list_or_under_numbers() -> None:
    """What is nested in one goes under its own name."""
    text = '[\n{"epoch": 1, "train": {"loss": 0.5}, "note": "x"},\n{"epoch": 2, "loss": 0.25}]'
    assert [(row.values, row.line) for row in parse_arrays(text).rows] == [
        ({"epoch": 1.0, "train/loss": 0.5}, 2),
        ({"epoch": 2.0, "loss": 0.25}, 3),
    ]
    keyed = parse_arrays('{"epoch_1": {"loss": 0.5}, "settings": {"lr": 0.1}}')
    assert [(row.key, row.values) for row in keyed.rows] == [("epoch_1", {"loss": 0.5})]


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ('{"loss": [1, 2]}\n', True),
        ('{"loss": [1, 2], "val', True),
        ('{"loss": 1}\n{"loss": 2}\n', False),
        ('{"loss": [1, 2]}\nSaved the model.\n', False),
    ],
    ids=["a value", "cut off", "a value a line", "words behind it"],
)
def test_a_text_is_whole_if_it_is_one_value(text: str, is_whole: bool) -> None:  # noqa: FBT001
    """Or the beginning of one."""
    assert parse_arrays(text).is_whole is is_whole


HOSTILE = {
    "lists in lists": '{"loss": ' + "[" * 100_000,
    "lists begun": '{"loss": ' + "[1" * 50_000,
    "mappings in mappings": '{"a":' * 100_000,
    "quotes": '{"loss": [' + '\\"' * 100_000,
    "many lists": '{"loss": [1, 2],' + '"a": [1],' * 50_000 + "}",
    "names": "{" + "a b " * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_read_in_bounds(text: str) -> None:
    """In time that grows with the text, and with no more lists than are kept."""
    found = parse_arrays(text)
    assert isinstance(found, Document)
    assert len(found.arrays) <= 5001


def test_a_huge_list_is_cut() -> None:
    """What stands behind so many figures is not read."""
    found = parse_arrays('{"loss": [' + "1," * 2_100_000 + '1], "val_loss": [1, 2]}')
    assert [len(one.values) for one in found.arrays] == [2_000_000]
