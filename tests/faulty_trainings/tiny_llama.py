"""A Llama of two layers, and token sequences with a rule in them, for the trainings beside it."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


def model(vocabulary: int = 96) -> LlamaForCausalLM:
    """Build one from its configuration, with random weights."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config)


def sequences(count: int, length: int = 24, vocabulary: int = 96) -> list[dict[str, list[int]]]:
    """Make sequences in which each token follows from the one before."""
    starts = torch.randint(1, vocabulary, (count,)).tolist()
    rows = [
        [1 + (start + 7 * place) % (vocabulary - 1) for place in range(length)] for start in starts
    ]
    return [{"input_ids": row, "attention_mask": [1] * length, "labels": [*row]} for row in rows]


def collate(samples: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    """Stack samples of one length."""
    return {key: torch.tensor([one[key] for one in samples]) for key in samples[0]}


def trainer(trained, data, folder: str, callback, **arguments) -> Trainer:
    """Give a Trainer on the CPU with a recorder."""
    usual = {
        "per_device_train_batch_size": 4,
        "max_steps": 60,
        "learning_rate": 1e-3,
        "logging_steps": 5,
        "use_cpu": True,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "logging_nan_inf_filter": False,
    }
    made = TrainingArguments(output_dir=folder, **{**usual, **arguments})
    return Trainer(trained, made, train_dataset=data, data_collator=collate, callbacks=[callback])
