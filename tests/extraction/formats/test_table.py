"""The Trainer's table in a notebook: one record for each complete row."""

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.tables import TableReader

HEAD = [
    "<table>",
    "<thead>",
    "<tr>",
    "<th>Step</th>",
    "<th>Training Loss</th>",
    "<th>Validation Loss</th>",
    "</tr>",
    "</thead>",
    "<tbody>",
]


def read(lines: list[str]) -> list[Record]:
    """All rows of these lines."""
    reader = TableReader()
    return [record for line in lines for record in reader.read(line, NOWHERE)]


def row(*cells: str) -> list[str]:
    """A row, a cell a line."""
    return ["<tr>", *(f"<td>{cell}</td>" for cell in cells), "</tr>"]


@pytest.mark.parametrize(
    "joined", [pytest.param(False, id="a cell a line"), pytest.param(True, id="all on one line")]
)
def test_rows_are_records(joined: bool) -> None:  # noqa: FBT001 -- a table
    """Step and losses by the names of the columns; `No log` is no value."""
    lines = [*HEAD, *row("500", "No log", "1.25"), *row("1000", "0.5", "nan"), "</tbody></table>"]
    first, second = read(["".join(lines)] if joined else lines)
    assert (first.step, dict(first.values)) == (500, {"eval_loss": 1.25})
    assert (second.step, repr(dict(second.values))) == (1000, "{'loss': 0.5, 'eval_loss': nan}")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([*HEAD, *row("500", "0.5")], id="a row of another length"),
        pytest.param(
            ["<tr>", "<th>Metric</th>", "<th>Value</th>", "</tr>", *row("loss", "0.5")],
            id="another table",
        ),
        pytest.param(row("500", "0.5", "0.6"), id="no head"),
        pytest.param([*HEAD, "</table>", *row("500", "0.5", "0.6")], id="behind the table"),
        pytest.param([*HEAD, "<tr>", "<td>500</td>", "<td>0.5"], id="cut"),
    ],
)
def test_other_tables_are_left(lines: list[str]) -> None:
    """Only complete rows under these heads count."""
    assert read(lines) == []
