"""Whether a run already is as a fix would have it, as far as its settings are shown.

In: the code of a fix, filled in, and the settings of the run. Out: yes or no. Not here: choosing
fixes (`fixes.select`).
"""

import re
from collections.abc import Mapping
from typing import Final

from postmortem.facts.number_texts import number
from postmortem.model.job_facts import Setting

_ASSIGNED: Final = re.compile(
    r"(?:(?<![\w.])|--)(?P<name>[A-Za-z_]\w{2,60})['\"]?(?: ?= ?|: | (?=[\w.+-]+(?:\s|$)))"
    r"(?P<value>['\"]?[\w.+/-]{1,80}['\"]?)(?=[\s,)}\]]|$)",
    re.MULTILINE,
)
"""`name=value`, `"name": value`, `--name value`."""


def is_in_force(code: str, settings: Mapping[str, Setting]) -> bool:
    """Say whether what a fix sets is set.

    What it sets first is what it is about; what else it sets must at least not be otherwise.
    """
    assigned = [(match["name"], match["value"].strip("'\"")) for match in _ASSIGNED.finditer(code)]
    shown = [_agrees(settings[name].value, value) for name, value in assigned if name in settings]
    return bool(assigned) and assigned[0][0] in settings and all(shown)


def _agrees(shown: object, wanted: str) -> bool:
    said = str(shown).strip().lower()
    first, second = number(said), number(wanted.lower())
    if first is not None and second is not None:
        return first == second
    return said == wanted.lower()
