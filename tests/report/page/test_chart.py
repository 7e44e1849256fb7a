"""The SVG chart."""

from dataclasses import replace
from math import inf, nan
from xml.etree import ElementTree as ET

import pytest

from postmortem.core.answer import Marks, SeriesView
from postmortem.report.page.chart import SHAPES, draw_panel
from postmortem.report.page.chart_axes import HEIGHT, WIDTH
from postmortem.report.page.panel import KINDS, Panel
from postmortem.report.page.panel_layout import build_panels
from postmortem.report.words import Words
from tests.report.samples import HOSTILE, RANK_3, a_series, abstaining

NS = "{http://www.w3.org/2000/svg}"
STEPS = [float(step) for step in range(10)]


def panel(*series: SeriesView, marks: tuple[Marks, ...] = ()) -> Panel:
    """Arrange series as the page does, without a failure."""
    return build_panels(
        replace(abstaining(), series=series, marks=marks, first_failure=None, attempts=()), series
    )[0]


def drawn(one: Panel, language: str = "en", title: str = "loss") -> ET.Element:
    """Parse a chart: it must be well-formed."""
    return ET.fromstring(
        draw_panel(one, Words(language), key="k", title=title, description="what it shows")
    )


def texts(root: ET.Element, kind: str) -> list[str]:
    """Give the texts of a class."""
    return [node.text or "" for node in root.iter(f"{NS}text") if node.get("class") == kind]


def of(root: ET.Element, tag: str, kind: str) -> list[ET.Element]:
    """Give the elements of a class."""
    return [node for node in root.iter(f"{NS}{tag}") if kind in (node.get("class") or "").split()]


def test_a_line_breaks_where_values_are_not_finite_and_the_first_is_marked() -> None:
    """Three runs, a dot for the run of one, one vertical line, a cross for every bad sample.

    +inf above, the others below.
    """
    root = drawn(panel(a_series("loss", STEPS, [3, 2, 1, nan, 1, inf, inf, 2, 2, 2])))
    assert [len(node.get("points", "").split()) for node in of(root, "polyline", "curve")] == [3, 3]
    assert len(of(root, "circle", "dot")) == 1
    assert len(of(root, "path", "standing")) == 1
    assert texts(root, "bad-label") == ["NaN · step 3, line 1423"]
    assert [node.get("d", "").count("M") for node in of(root, "path", "mark-gap")] == [1, 2]


def test_a_loss_scale_stands_on_its_own_axis_in_powers_of_two() -> None:
    """Its line has steps only, its axis is at the right, and both curves share the places."""
    scale = a_series("loss_scale", STEPS[1:], [2.0 ** (16 - step) for step in range(9)])
    root = drawn(panel(a_series("loss", STEPS, [3.0 - step / 10 for step in range(10)]), scale))
    path = of(root, "path", "series-1")[0].get("d", "")
    assert path.startswith("M")
    assert path.count("H") == path.count("V") == 8
    assert {"2¹⁶", "2⁸"} & {text for text in texts(root, "tick") if text.startswith("2")}
    first_x = float(path[1:].split(" ")[0])
    second_of_loss = float(
        of(root, "polyline", "series-0")[0].get("points", "").split()[1].split(",")[0]
    )
    assert first_x == second_of_loss


def test_every_kind_of_mark_has_its_own_shape() -> None:
    """Nothing is told by colour alone.

    New attempts and resumption have one shape, for they are alike.
    """
    assert set(SHAPES) == set(KINDS)
    assert len(set(SHAPES.values())) == len(KINDS) - 1
    marks = tuple(
        Marks(kind, 0, RANK_3, 1, ((1424, 4.0),))
        for kind in ("overflow", "checkpoint", "evaluation", "resumed", "crash")
    )
    root = drawn(panel(a_series("loss", STEPS, STEPS), marks=marks))
    for kind in ("overflow", "checkpoint", "evaluation", "resumed", "crash"):
        (mark,) = [
            node.get("d", "")
            for node in of(root, "path", f"mark-{kind}")
            if node.get("class") == f"mark mark-{kind}"
        ]
        assert (mark.endswith(SHAPES[kind]), mark.count("M")) == (True, 1)


def test_a_chart_can_be_read_aloud() -> None:
    """Title and description are there and named by the drawing."""
    root = drawn(panel(a_series("loss", STEPS, STEPS)))
    ids = {node.get("id") for node in root.iter() if node.get("id")}
    assert set(root.get("aria-labelledby", "").split()) == ids
    assert [node.text for node in root.iter(f"{NS}title")] == ["loss"]
    assert [node.text for node in root.iter(f"{NS}desc")] == ["what it shows"]


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        pytest.param([1, 10, 2000], "log10", id="a wide positive range"),
        pytest.param([1, 10, 900], "linear", id="a range below a thousand"),
        pytest.param([0, 10, 20_000], "linear", id="zero has no logarithm"),
        pytest.param([-1, 10, 20_000], "linear", id="nor has a negative value"),
        pytest.param([1, nan, 20_000], "log10", id="a NaN does not matter"),
    ],
)
def test_the_axis_is_logarithmic_where_that_helps(values: list[float], scale: str) -> None:
    """More than a factor of 1000, all positive: then the ticks are powers of ten."""
    one = panel(a_series("grad_norm", STEPS[:3], values))
    assert one.scale == scale
    assert ("1000" in texts(drawn(one), "tick")) is (scale == "log10")


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        pytest.param(1, 2500, ["1", "10", "100", "1000"], id="decades"),
        pytest.param(0.5, 30, ["1", "3", "10", "30"], id="less than two decades"),
        pytest.param(5e3, 3e5, ["10k", "30k", "100k", "300k"], id="thousands"),
        pytest.param(1.2, 9, ["2", "5", "10"], id="less than one decade"),
        pytest.param(2.05, 2.2, ["2.05", "2.10", "2.15", "2.20"], id="a small part of a decade"),
        pytest.param(3e-5, 9e-5, ["4e-5", "6e-5", "8e-5"], id="small values"),
    ],
)
def test_a_logarithmic_axis_has_ticks_however_little_it_spans(
    low: float, high: float, labels: list[str]
) -> None:
    """Powers of ten, else what stands between them, else round values."""
    one = replace(panel(a_series("loss", STEPS[:2], [low, high])), is_log=True)
    assert texts(drawn(one), "tick")[: len(labels)] == labels


def test_a_linear_axis_of_huge_values_has_ticks() -> None:
    """A loss that runs away to 1e300 can be read."""
    assert [
        text
        for text in texts(drawn(panel(a_series("loss", STEPS[:2], [-1e300, 1e300]))), "tick")
        if "e" in text
    ] == ["-1e300", "1e300"]


@pytest.mark.parametrize("name", ["loss", "loss_scale"])
@pytest.mark.parametrize(
    "values",
    [
        pytest.param([nan, nan], id="NaN only"),
        pytest.param([nan, inf, -inf], id="nothing finite"),
        pytest.param([7.0, 7.0, 7.0], id="flat"),
        pytest.param([0.0, 0.0], id="flat at zero"),
        pytest.param([1.7e308, -1.7e308], id="as wide as floats go"),
        pytest.param([5e-324, 1e-320], id="denormal"),
        pytest.param([1.0, 1.0 + 1e-15], id="hardly different"),
        pytest.param([1e-300, 1e300], id="six hundred decades"),
    ],
)
def test_odd_values_stay_within_the_drawing(name: str, values: list[float]) -> None:
    """No coordinate is NaN or outside the picture."""
    root = drawn(panel(a_series(name, STEPS[: len(values)], values)))
    numbers = [
        float(part)
        for node in root.iter(f"{NS}polyline")
        for pair in node.get("points", "").split()
        for part in pair.split(",")
    ]
    numbers += [
        float(node.get(name, "0"))
        for node in root.iter()
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy")
    ]
    assert all(0 <= number <= max(WIDTH, HEIGHT) for number in numbers)
    assert len(root.findall(f"{NS}text")) < 25


def test_steps_that_were_not_printed_are_no_error() -> None:
    """Without steps the axis counts records, from one."""
    one = a_series("loss", STEPS, STEPS)
    made = panel(replace(one, samples=tuple((None, value, line) for _, value, line in one.samples)))
    assert texts(drawn(made), "chart-note") == ["record"]
    assert made.tracks[0].xs == tuple(step + 1 for step in STEPS)


def test_hostile_names_are_escaped() -> None:
    """A name cannot close the drawing or open a script."""
    root = drawn(
        panel(replace(a_series("loss", STEPS, [*STEPS[:-1], nan]), name="x", unit=HOSTILE)),
        title=HOSTILE.replace("\x00", "").replace("\x1b", "").replace("\x07", ""),
    )
    assert not [node for node in root.iter() if node.tag.lower().endswith("script")]


def test_a_chart_speaks_chinese() -> None:
    """The fixed words follow the language."""
    assert texts(
        drawn(panel(a_series("loss", STEPS, [*STEPS[:3], *[nan] * 7])), "zh"), "bad-label"
    ) == ["NaN · 第 3 步，第 1423 行"]
