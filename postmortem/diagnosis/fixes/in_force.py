"""Whether a run already has what a fix would change, as far as its settings are known.

In: the code of a filled snippet, the settings of the run. Out: yes or no. Not here: choosing fixes
(`fixes.select`), conditions that a fix names itself (`patterns/fixes`).
"""

import re
from collections.abc import Mapping
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.facts.fact_store import parse_value

_COMMENT: Final = compile_lazily(r"(?<!\S)(?:#|//).*")
_PAIR: Final = compile_lazily(
    r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]{1,80})[\"']?(?:\s{0,3}[:=]\s{0,3}| (?=[\w.+-]+(?:\s|$)))"
    r"(?P<value>[\"']?[\w.+-]{1,60}[\"']?)(?=$|[\s,;)}\]])",
    re.MULTILINE,
)
"""`name=value`, `name: value`, `"name": value`, `--name value`."""


def is_in_force(code: str, settings: Mapping[str, str]) -> bool:
    """Say whether what a snippet sets is set.

    What it sets first is what it is about; what else it sets must at least not be otherwise.
    `settings` have the common names (`max_grad_norm`) and values as printed, or by default.
    """
    pairs = [
        (match["name"].rpartition(".")[2].replace("-", "_"), match["value"].strip("'\""))
        for match in _PAIR.finditer(_COMMENT.sub("", code))
    ]
    shown = [
        parse_value(settings[name]) == parse_value(value)
        for name, value in pairs
        if name in settings
    ]
    return bool(pairs) and pairs[0][0] in settings and all(shown)
