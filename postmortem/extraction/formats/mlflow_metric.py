"""A metric of a run in MLflow's file store: a line for each value, with its time and step.

In: the lines of the file, the metric's name. Out: a record for each, with its raw line. Not here:
which files these are (`formats.config_files`). Source: mlflow/store/tracking/file_store.py.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.extraction.formats.metric_names import normalise_metric_name
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.spelling import parse_value

PRODUCER: Final = "mlflow"
_LINE: Final = compile_lazily(r"\d{1,19} (?P<value>\S{1,40}) (?P<step>-?\d{1,15})(?: \S+){0,4}\s*$")


def is_mlflow_metric(head: str) -> bool:
    """Say whether a file that begins like this is one."""
    return _LINE.match(head.split("\n", 1)[0]) is not None


def iter_records(lines: Iterable[str], name: str) -> Iterator[tuple[Record, int]]:
    """Yield every value; a line that is cut off is passed over."""
    known = normalise_metric_name(name)
    for number, line in enumerate(lines, 1):
        match = _LINE.match(line)
        value = parse_value(match["value"]) if match else None
        if match and value is not None:
            yield Record(float(match["step"]), [(known, value)], NOWHERE), number
