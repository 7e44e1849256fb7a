from dataclasses import dataclass, field
from pathlib import Path

from transformers import HfArgumentParser, TrainingArguments


@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="./base", metadata={"help": "Path to the base model"})
    trust_remote_code: bool = False


@dataclass
class DataArguments:
    data_path: str = field(default="data/train.jsonl", metadata={"help": "Path to the training data"})
    max_length: int = 1024


def train():
    parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
    print(model_args, data_args, training_args.output_dir, Path(data_args.data_path).stat())


if __name__ == "__main__":
    train()
