"""Which process wrote a file, as far as its path tells.

In: a path. Out: `Where`. Not here: labels inside the lines (`reading.prefixes`).
Layouts: torchrun `--redirects` (<dir>/<attempt>/<local rank>/stderr.log), mmengine `<time>_rank3.log`, XTuner `rank3.log`, Slurm `%t` and others that say "rank".
"""

import re
from pathlib import Path
from typing import Final

from postmortem.model.lines import NOWHERE, Where

_RANK: Final = re.compile(r"(?<!lora)(?<!low)(?:^|[_.\-])(?:global_?)?rank[_-]?(\d{1,5})(?=$|[_.\-])", re.IGNORECASE)
_LOCAL: Final = re.compile(r"(?:^|[_.\-])(?:local_?rank|worker)[_-]?(\d{1,4})(?=$|[_.\-])", re.IGNORECASE)
_NODE: Final = re.compile(r"(?:^|[_.\-])((?:node|host)[_-]?\d{1,5})(?=$|[_.\-])", re.IGNORECASE)


def process_of_file(path: str) -> Where:
    """Read rank, local rank and node off a file's name and folder."""
    parts = Path(path).parts[-3:]
    name = Path(path).name
    stem = name.split(".")[0]
    local = _LOCAL.search(name)
    rank = None if local else next((match for part in (name, *parts[:-1]) if (match := _RANK.search(part))), None)
    node = next((match for part in (name, *parts[:-1]) if (match := _NODE.search(part))), None)
    is_redirect = stem in {"stderr", "stdout"} and len(parts) >= 2 and parts[-2].isdigit()
    local_rank = int(local[1]) if local else int(parts[-2]) if is_redirect else None
    if rank is None and local_rank is None and node is None:
        return NOWHERE
    return Where(int(rank[1]) if rank else None, local_rank, node[1] if node else None, None)
