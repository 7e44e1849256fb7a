"""GRPO with a generation batch that the group size does not divide, or with one generation per prompt: GRPOConfig refuses.

cause: config.rl
also: [config.trainer]
not: [config.deepspeed, data.exhausted, distributed.device-count]
signature: 'ValueError: (generation_batch_size|GRPO requires at least 2|The global eval batch size)'
runs_as: grpo.py
launch: |
  GROUPS_OF=(3 1 6)
  python grpo.py --num_generations ${GROUPS_OF[$LAB_SEED]} --per_device_train_batch_size 8 --learning_rate 1e-6 --max_completion_length 64
environment: transformers
"""

from dataclasses import dataclass, field

from transformers import HfArgumentParser
from trl import GRPOConfig


@dataclass
class ScriptArguments:
    model_name_or_path: str = field(default="models/qwen-tiny")
    dataset: str = field(default="data/gsm-mini.jsonl")
    num_generations: int = 8
    per_device_train_batch_size: int = 8
    learning_rate: float = 1e-6
    max_completion_length: int = 256
    beta: float = 0.0


script = HfArgumentParser(ScriptArguments).parse_args_into_dataclasses()[0]
print("Script arguments:", script)
args = GRPOConfig(
    output_dir="grpo-math",
    num_generations=script.num_generations,
    per_device_train_batch_size=script.per_device_train_batch_size,
    learning_rate=script.learning_rate,
    max_completion_length=script.max_completion_length,
    beta=script.beta,
    logging_steps=1,
    report_to="none",
    use_cpu=True,
)
print("generation batch size", args.generation_batch_size)
