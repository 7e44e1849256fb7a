"""Leases on the analyses that this process works on, so that no other process does them too.

In: the analyses of a store, keys. Out: those that are granted. Not here: how leases are kept
(`store`).
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core.host.lease_owners import build_owner_name, is_gone
from postmortem.fleet.store.analysis_records import AnalysisRecords

_LEASE: Final = 180.0
"""Seconds: of a process that died on another machine nothing is expected after that."""
_RENEWED_EVERY: Final = 45.0


class Leases:
    """Holds leases, renewed in the background as long as the process lives."""

    def __init__(self, analyses: AnalysisRecords) -> None:
        """Take over from processes of this machine that are gone, and begin to renew."""
        self._analyses, self._owner = analyses, build_owner_name()
        self._ended = threading.Event()
        self._renewing = threading.Thread(target=self._renew, daemon=True)
        for owner in analyses.list_owners():
            if is_gone(owner):
                analyses.release(owner)
        self._renewing.start()

    def close(self) -> None:
        """Give back what was not done."""
        self._ended.set()
        self._renewing.join()
        self._analyses.release(self._owner)

    def iter_granted(
        self, keys: Sequence[str], at_once: int, again: Sequence[str] = ()
    ) -> Iterator[str]:
        """Yield the keys that this process is to compute, in their order.

        They are claimed a few at a time as they are taken: two that share a store share the work.
        """
        for begin in range(0, len(keys), at_once):
            batch = keys[begin : begin + at_once]
            mine = set(self._analyses.claim(batch, self._owner, _LEASE, again))
            yield from (key for key in batch if key in mine)

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_EVERY):
            self._analyses.renew(self._owner, _LEASE)
