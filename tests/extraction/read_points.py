"""The points that a source gives, by the names of its series."""

import io

from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import iter_blocks


def read(text: str) -> dict[str, list[tuple[float, float]]]:
    """The points of each name, with their steps."""
    extractor = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(text.encode())):
        extractor.feed(block)
    return {
        series.name: [(point.step, point.value) for point in series.kept()]
        for series in extractor.finished().series.values()
    }
