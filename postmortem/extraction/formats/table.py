"""The HTML table that the Trainer draws in a notebook.

Step, Training Loss, Validation Loss and further metrics.

In: lines with cells of a table, one after the other. Out: a `Record` for each complete row of a
table that has such columns. Not here: the dicts that the Trainer prints elsewhere
(`patterns/formats/trainer.yaml`).
"""

import math
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import ProcessId
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.spelling import parse_value

WORDS: Final = (b"<th>", b"<td>", b"</tr>", b"</table>")
PRODUCER: Final = "transformers-trainer"
_CELL: Final = compile_lazily(r"<(?P<kind>th|td)>(?P<text>[^<]{0,80})|(?P<end></tr>|</table>)")
_NAMES: Final = {"training loss": "loss", "validation loss": "eval_loss", "epoch": "epoch"}
_MOST_COLUMNS: Final = 100


class TableReader:
    """Reads tables of one source cell by cell."""

    def __init__(self) -> None:
        """Begin outside of any table."""
        self._columns: list[str] = []
        self._cells: list[str] = []
        self._is_head = True

    def read(self, text: str, where: ProcessId) -> list[Record]:
        """Read a line; gives the rows that end on it."""
        found = []
        for cell in _CELL.finditer(text):
            if cell["end"]:
                record = self._row(where)
                found += [record] if record is not None else []
                if cell["end"] == "</table>":
                    self._columns, self._is_head = [], True
            elif cell["kind"] == "th":
                self._columns = [
                    *(self._columns if self._is_head else [])[:_MOST_COLUMNS],
                    cell["text"].strip(),
                ]
                self._is_head = True
            else:
                self._cells = [*self._cells[:_MOST_COLUMNS], cell["text"].strip()]
        return found

    def _row(self, where: ProcessId) -> Record | None:
        cells, self._cells = self._cells, []
        if not cells:
            return None
        self._is_head = False
        if (
            len(cells) != len(self._columns)
            or self._columns[0] not in {"Step", "Epoch"}
            or "Training Loss" not in self._columns
        ):
            return None
        step, values = math.nan, []
        for column, text in zip(self._columns, cells, strict=True):
            value = parse_value(text)
            if value is None:
                continue
            if column == "Step":
                step = value
            else:
                values.append((_NAMES.get(column.lower(), column.lower().replace(" ", "_")), value))
        return Record(step, values, where) if values else None
