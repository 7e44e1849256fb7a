"""Note the curves of an mmengine or XTuner run from the framework's own `vis_data/scalars.json`.

`python -m mmnotes WORK_DIR` after the training.

Values are rounded as the text log prints them (four decimals, rates in exponent form); a validation
record's loss is `eval_loss`; times and the base rate are left out.
"""

import json
import sys
from pathlib import Path

from labkit import note

SKIPPED = ("base_lr", "time", "data_time", "eta", "memory", "iter", "epoch", "step")

for path in sorted(Path(sys.argv[1]).rglob("vis_data/scalars.json")):
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        training = "lr" in record
        for name, value in record.items():
            if (
                name in SKIPPED
                or not isinstance(value, (int, float))
                or (not training and name != "loss")
            ):
                continue
            if name == "lr":
                note("learning_rate", record["step"], float(f"{value:.4e}"))
            else:
                note(
                    name if training else "eval_loss",
                    record["step"],
                    float(f"{value:.4f}") if isinstance(value, float) else value,
                )
