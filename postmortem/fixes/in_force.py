"""Whether a run already has what a fix would change.

In: the code of a filled snippet, the settings of the run. Out: yes or no. Not here: choosing fixes
(`fixes.select`), conditions that a fix names itself (`patterns/fixes`).
"""

import re
from collections.abc import Mapping
from typing import Final

from postmortem.facts.fact_store import typed

_COMMENT: Final = re.compile(r"(?<!\S)(?:#|//).*")
_PAIR: Final = re.compile(
    r"(?:--)?(?P<name>[A-Za-z_][\w.-]{1,80})[\"']?(?:\s{0,3}[:=]\s{0,3}|(?<=\w) (?=[\w.+-]*\d))"
    r"(?P<value>[\"']?[\w.+-]{1,60}[\"']?)(?=$|[\s,;)}\]])",
    re.MULTILINE,
)
"""`name=value`, `name: value`, `"name": value`, `--name value`."""


def is_in_force(code: str, settings: Mapping[str, str]) -> bool:
    """Say whether all that a snippet sets is set already.

    `settings` have the common names (`max_grad_norm`) and printed values. A snippet that sets
    anything of which the run says nothing is not in force.
    """
    pairs = [
        (match["name"].rpartition(".")[2].replace("-", "_"), match["value"].strip("'\""))
        for match in _PAIR.finditer(_COMMENT.sub("", code))
    ]
    return bool(pairs) and all(
        name in settings and typed(settings[name]) == typed(value) for name, value in pairs
    )
