"""Best-model bookkeeping with save_steps that is no multiple of eval_steps, given in a JSON file that HfArgumentParser reads.

cause: config.trainer
also: [config.arguments]
not: [checkpoint.save-failed, data.decode]
signature: 'ValueError: --load_best_model_at_end requires the saving steps to be'
runs_as: run_clm.py
launch: python run_clm.py config.json
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from labkit import pick
from transformers import HfArgumentParser, TrainingArguments


@dataclass
class ModelArguments:
    hidden_size: int = 64
    num_layers: int = 2


wanted = {
    "output_dir": "runs/clm", "hidden_size": pick([64, 96, 32]), "num_train_epochs": 3, "per_device_train_batch_size": 8, "learning_rate": 3e-4, "eval_strategy": "steps", "save_strategy": "steps",
    "eval_steps": pick([100, 500, 40]), "save_steps": pick([250, 800, 100]), "load_best_model_at_end": True, "report_to": "none",
}
Path("config.json").write_text(json.dumps(wanted, indent=2))

if __name__ == "__main__":
    print("reading", sys.argv[1])
    print(Path(sys.argv[1]).read_text())
    parser = HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_json_file(json_file=sys.argv[1])
    print(model_args)
