"""Tell a dumped Python configuration from code.

In: the beginning of the file. Out: a yes or no. Not here: what it holds (`formats.python_config`).
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_TOP: Final = compile_lazily(r"[A-Za-z_]\w{0,60} ?= ?\S|[\])}#\"']|\s|$")
_ASSIGNED: Final = compile_lazily(r"^[a-z_]\w{0,60} = ", re.MULTILINE)
_FEWEST: Final = 3


def is_dump(head: str) -> bool:
    """Say whether a source that begins like this is nothing but assignments, dicts among them.

    A last line without its end counts for nothing.
    """
    whole = head.rpartition("\n")[0]
    return (
        len(_ASSIGNED.findall(whole)) >= _FEWEST
        and "dict(" in whole
        and all(_TOP.match(line) for line in whole.split("\n"))
    )
