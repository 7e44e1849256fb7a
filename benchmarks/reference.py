"""The least that any reader must do.

Read blocks, count lines, scan for the literals, take the metric figures (dense). No meaning.

reference.py LOG LITERALS [dense]
"""

import re
import sys
from pathlib import Path

import hyperscan
import numpy as np

log, literals = (
    Path(sys.argv[1]),
    [literal for literal in Path(sys.argv[2]).read_bytes().split(b"\n") if literal],
)
database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
database.compile(
    expressions=[re.escape(literal) for literal in literals],
    ids=list(range(len(literals))),
    elements=len(literals),
    flags=[0] * len(literals),
)
record = re.compile(
    rb"\{'loss': ([^,]+), 'grad_norm': ([^,]+), 'learning_rate': ([^,]+), 'epoch': ([^}]+)\}"
)
step = re.compile(rb"\[Rank (\d+)\] step=(\d+), skipped=(\d+), lr=\[([^\],]*)")
hits: list[int] = []
lines = figures = 0
rest = b""
with log.open("rb", buffering=0) as stream:
    while chunk := stream.read(8 << 20):
        block = rest + chunk
        end = block.rfind(b"\n") + 1
        block, rest = block[:end], block[end:]
        lines += block.count(b"\n")
        database.scan(
            block,
            match_event_handler=lambda number, _start, _end, _flags, _context: hits.append(number),
        )
        for pattern in (record, step) if len(sys.argv) > 3 else ():
            if found := pattern.findall(block):
                figures += (
                    np.array([value for row in found for value in row], dtype="S24")
                    .astype(float)
                    .size
                )
print(lines, len(hits), figures)
