"""The SVG chart."""

from dataclasses import replace
from math import inf, nan
from xml.etree import ElementTree as ET

import pytest

from postmortem.model.diagnosis import SeriesView
from postmortem.report.chart import HEIGHT, WIDTH, svg
from tests.report.samples import HOSTILE, a_series, series

NS = "{http://www.w3.org/2000/svg}"
STEPS = [float(step) for step in range(10)]


def drawn(one: SeriesView) -> ET.Element:
    """Parse a chart: it must be well-formed."""
    return ET.fromstring(svg(one))


def texts(root: ET.Element, kind: str) -> list[str]:
    """Give the texts of a class."""
    return [node.text or "" for node in root.iter(f"{NS}text") if node.get("class") == kind]


def test_a_line_breaks_where_values_are_not_finite_and_the_first_is_marked() -> None:
    """Three runs, a dot for the run of one, one vertical line, a mark for every bad sample."""
    root = drawn(a_series("loss", STEPS, [3, 2, 1, nan, 1, inf, inf, 2, 2, 2]))
    assert [len(node.get("points", "").split()) for node in root.iter(f"{NS}polyline")] == [3, 3]
    assert len(list(root.iter(f"{NS}circle"))) == 1
    assert len([node for node in root.iter(f"{NS}line") if node.get("class") == "bad-line"]) == 1
    assert texts(root, "bad-label") == ["NaN · step 3, line 1423"]
    marks = next(node.get("d", "") for node in root.iter(f"{NS}path"))
    assert marks.count("M") == 3


def test_a_chart_can_be_read_aloud() -> None:
    """Title and description are there and named by the drawing."""
    root = drawn(series()[0])
    ids = {node.get("id") for node in root.iter() if node.get("id")}
    assert set(root.get("aria-labelledby", "").split()) == ids
    assert [node.text for node in root.iter(f"{NS}title")] == ["loss"]
    description = next(node.text or "" for node in root.iter(f"{NS}desc"))
    assert description == "43 points, 2.9471 → NaN, range 1.0352 to 2.9964, 2 not finite, first non-finite: step 420, line 1840"


@pytest.mark.parametrize(
    ("values", "is_log"),
    [
        pytest.param([1, 10, 2000], True, id="a wide positive range"),
        pytest.param([1, 10, 900], False, id="a range below a thousand"),
        pytest.param([0, 10, 20_000], False, id="zero has no logarithm"),
        pytest.param([-1, 10, 20_000], False, id="nor has a negative value"),
        pytest.param([1, nan, 20_000], True, id="a NaN does not matter"),
    ],
)
def test_the_axis_is_logarithmic_where_that_helps(values: list[float], *, is_log: bool) -> None:
    """More than a factor of 1000, all positive."""
    root = drawn(a_series("grad_norm", STEPS[:3], values))
    assert any("log scale" in text for text in texts(root, "chart-note")) is is_log


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([nan], id="one NaN"),
        pytest.param([nan, inf, -inf], id="nothing finite"),
        pytest.param([5.0], id="one point"),
        pytest.param([7.0, 7.0, 7.0], id="flat"),
        pytest.param([0.0, 0.0], id="flat at zero"),
        pytest.param([1.7e308, -1.7e308], id="as wide as floats go"),
        pytest.param([5e-324, 1e-320], id="denormal"),
        pytest.param([1.0, 1.0 + 1e-15], id="hardly different"),
        pytest.param([1e-300, 1e300], id="six hundred decades"),
    ],
)
def test_odd_values_stay_within_the_drawing(values: list[float]) -> None:
    """No coordinate is NaN or outside the picture."""
    root = drawn(a_series("loss", STEPS[: len(values)], values))
    numbers = [float(part) for node in root.iter(f"{NS}polyline") for pair in node.get("points", "").split() for part in pair.split(",")]
    numbers += [float(node.get(name, "0")) for node in root.iter() for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy")]
    assert all(0 <= number <= max(WIDTH, HEIGHT) for number in numbers)
    assert len(root.findall(f"{NS}text")) < 25


def test_steps_that_were_not_printed_are_no_error() -> None:
    """Without steps the axis counts records."""
    one = a_series("loss", STEPS, STEPS)
    root = drawn(replace(one, samples=tuple((None, value, line) for _, value, line in one.samples)))
    assert texts(root, "chart-note")[-1] == "record"


def test_hostile_names_are_escaped() -> None:
    """A name cannot close the drawing or open a script."""
    root = drawn(replace(series()[0], name=HOSTILE, unit=HOSTILE, producer=HOSTILE))
    assert not [node for node in root.iter() if node.tag.lower().endswith("script")]
    assert texts(root, "chart-title")[0].startswith("<script>")


def test_a_chart_speaks_chinese() -> None:
    """The fixed words follow the language."""
    assert "第 420 步" in svg(series()[0], language="zh")
