"""Put the real file paths of a job into an analysis made under neutral names.

In: an analysis made under neutral names, the job that a report is for. Out: the same with the
paths of that job. Not here: neutral names (`fleet.found_jobs`).
"""

import dataclasses

from postmortem.core.diagnosis import Analysis
from postmortem.fleet.found_jobs import FoundJob
from postmortem.fleet.search.locations import remove_location_secrets


def restore_own_paths(analysis: Analysis, job: FoundJob) -> Analysis:
    """Give the analysis with the job's own paths; a path that the job lacks stays as it is."""
    places = {file.name: remove_location_secrets(file.location) for file in job.files}
    sources = tuple(
        dataclasses.replace(source, path=places.get(source.path, source.path))
        for source in analysis.sources
    )
    return dataclasses.replace(analysis, sources=sources, given=tuple(places.values()))
