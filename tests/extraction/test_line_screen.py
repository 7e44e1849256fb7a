"""Searching a line for many patterns at once finds no less than each of them does."""

import re

import pytest

from postmortem.extraction.formats.blocks import parse_entry
from postmortem.extraction.formats.metric_line_parser import parse_metric_line
from postmortem.extraction.rule_sieve import may_be_record
from postmortem.extraction.scanning import LineScreen
from postmortem.pipeline import get_matcher

PATTERNS = (
    r"(?i)out of memory|bad_alloc",
    r"^(?:[\w.]{0,80}Error): (?!ignored).{0,40}nan",
    r"\b(?P<gib>\d{4,12}) MiB\Z",
    r"(?:损失|显存)不足",
    r"x\*+y|(?>z{2,5}+)w",
    r"(?P<q>['\"]).*(?P=q)",
    r"[^，]{0,5}loss",
)
TEXTS = (
    "CUDA Out Of Memory",
    "ValueError: the loss is nan",
    "ValueError: ignored, nan",
    "needs 12288 MiB",
    "needs 12288 MiB more",
    "训练中显存不足",
    "训练中温度不足",
    "x***y",
    "zzzw",
    "a 'quoted' text",
    "平均loss",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_finds_whatever_one_of_them_finds(text: str) -> None:
    """A pattern that matches is named, or was said to be unfit."""
    import regex

    screen = LineScreen(PATTERNS)
    may_match = {*screen.find(text), *screen.unfit}
    assert {n for n, one in enumerate(PATTERNS) if regex.search(one, text)} <= may_match


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("CUDA Out Of Memory", {0}, id="any case"),
        pytest.param("训练中显存不足", {3}, id="its own characters"),
        pytest.param("训练中温度不足", set(), id="others than its own characters"),
        pytest.param("nothing of it", set(), id="prose"),
    ],
)
def test_names_few_others(text: str, named: set[int]) -> None:
    """What no pattern matches is seldom named."""
    screen = LineScreen(PATTERNS[:5])
    assert set(screen.find(text)) == named


def test_ends_of_lines_are_ends_in_a_text_of_many() -> None:
    """A pattern for the end of a text finds the end of each line of many."""
    screen = LineScreen([r"\Afirst\b", r"MiB\Z"], of_many_lines=True)
    assert set(screen.find("none\nfirst line\n12 MiB\nlast")) == {0, 1}


def test_examples_of_broad_rules_are_found() -> None:
    """Each example on which a rule fires is one on which it may."""
    rules = [rule for rule in get_matcher(()).signatures if rule.broad and rule.lines == 1][:40]
    screen = LineScreen([rule.match for rule in rules])
    for number, rule in enumerate(rules):
        for example in rule.raw.get("examples", {}).get("fires", ()):
            text = example if isinstance(example, str) else example["text"]
            assert number in {*screen.find(text), *screen.unfit}, rule.id


@pytest.mark.parametrize(
    ("text", "is_record"),
    [
        ("step 40 loss 2.31", True),
        ("第 3 轮，损失：0.25", True),
        ("('Loss:', 0.31, 'Accuracy:', 0.9)", True),
        ("validation set accuracy: 91.5 epoch 3", True),
        ("  val_acc: 0.93", True),
        ("R² loss: 0.5", True),
        ("12/100 [=====>....] - ETA: 3s - loss: nan", True),
        ("Our loss converges to an accuracy of 91.5 percent.", False),
        ("        raise ValueError('loss must be finite: %s' % figure)", False),
        ("收习练验型败确，loss 为 0.221，error 72。", False),
    ],
)
def test_tells_records_from_prose(text: str, is_record: bool) -> None:  # noqa: FBT001
    """A line that a reader takes may be a record; prose with a figure is none."""
    assert may_be_record(text) is is_record
    assert is_record or (parse_metric_line(text) is None and parse_entry(text) is None)


def test_words_may_be_of_any_letters() -> None:
    """A name goes on over a letter beyond ASCII, as it does to `re`."""
    assert re.search(r"\w{4}", "R²损a")
    assert may_be_record("R²损失_loss: 0.5")
