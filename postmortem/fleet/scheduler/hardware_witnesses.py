"""Hardware faults that logs report for a machine: a second witness besides failure counts.

In: judged jobs. Out: a sentence for each machine. Not here: counts (`scheduler.uneven_nodes`).
"""

from collections import defaultdict
from collections.abc import Iterable

from postmortem.core.message import SEMICOLON, Message, join_list, say
from postmortem.fleet.scheduler.hostlists import get_short_hostname
from postmortem.fleet.scheduler.judged_jobs import JudgedJob
from postmortem.rules.traits import Trait, has_trait


def find_hardware_witnesses(jobs: Iterable[JudgedJob]) -> dict[str, Message]:
    """Collect what logs say about hardware faults, by short node name.

    A message concerns the machines its log names, or else the only node the job ran on.
    """
    signs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        if job.cause is not None and has_trait(job.cause, Trait.FAULTY_HARDWARE):
            hosts = job.hosts or (job.nodes if len(job.nodes) == 1 else ())
            for host in {get_short_hostname(host) for host in hosts}:
                signs[host, job.cause].append(job.title or job.identity)
    worded: dict[str, list[Message]] = defaultdict(list)
    for (host, cause), titles in sorted(signs.items()):
        worded[host].append(
            say(
                "{count} logs name `{cause}` on it, the first {title}",
                count=len(titles),
                cause=cause,
                title=min(titles),
            )
        )
    return {host: join_list(messages, SEMICOLON) for host, messages in worded.items()}
