"""Python's own parser of regular expressions, and its opcodes.

In: nothing. Out: `parser`, `codes`. Not here: what a pattern's parts are asked for
(`rules.attack_texts`, `rules.first_lines`).
"""

import importlib
import sys
from typing import Any

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
codes: Any = importlib.import_module(
    "re._constants" if sys.version_info >= (3, 11) else "sre_constants"
)
