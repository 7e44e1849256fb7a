"""Figures are read in any spelling that programs print."""

import math

import pytest

from postmortem.extraction.formats.figures import parse_value

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.5", 2.5),
        ("-1e-05", -1e-05),
        ("1.000E-04", 1e-4),
        ("nan", NAN),
        ("NaN", NAN),
        ("NAN", NAN),
        ("-nan", NAN),
        ("inf", INF),
        ("Infinity", INF),
        ("-inf", -INF),
        ("nanxxx", NAN),
        ("infxxx,", INF),
        ("nanometre", None),
        ("'1.234e-05'", 1.234e-05),
        ("'1.2", 1.2),
        ("tensor(nan, device='cuda:0')", NAN),
        ("tensor(0.69, device='cuda:0', dtype=torch.bfloat16)", 0.69),
        ("np.float64(0.5)", 0.5),
        ("1,234", 1234),
        ("1,234.5", 1234.5),
        ("45.67GiB(57.12%)", 45.67),
        ("12ms", 12),
        ("57%", 57),
        ("[5e-05]", 5e-05),
        (".5", 0.5),
        ("1.", 1),
        ("+3", 3),
        ("1.4e-45", 1.4e-45),
        ("nan,", NAN),
        ("None", None),
        ("null", None),
        ("", None),
        ("-", None),
        ("N/A", None),
        ("train", None),
        ("inference", None),
        ("nanoGPT", None),
        ("info", None),
        ("--Infinity", None),
        ("True", None),
    ],
)
def test_every_spelling_of_a_number(text: str, value: float | None) -> None:
    """Numbers are read in any spelling that programs print; words that begin like one are none."""
    assert repr(parse_value(text)) == repr(value if value is None else float(value))
