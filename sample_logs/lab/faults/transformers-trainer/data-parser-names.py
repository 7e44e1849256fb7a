"""An option of HfArgumentParser is misspelt on the command line.

cause: config.arguments
not: [config.trainer, environment.version-incompatible, code.user-exception]
signature: 'ValueError: Some specified arguments are not used by the HfArgumentParser'
runs_as: run_clm.py
launch: |
  case $LAB_SEED in
    0) python run_clm.py --output_dir out --learning_rates 3e-4 --max_steps 10 ;;
    1) python run_clm.py --output_dir out --per_gpu_batch 8 ;;
    *) python run_clm.py --output_dir out --block-sise 128 --max_steps 10 ;;
  esac
"""

from dataclasses import dataclass, field

from transformers import HfArgumentParser, TrainingArguments


@dataclass
class DataArguments:
    block_size: int = field(default=64, metadata={"help": "tokens per sample"})


def main():
    data, training = HfArgumentParser((DataArguments, TrainingArguments)).parse_args_into_dataclasses()
    print(data, training)


main()
