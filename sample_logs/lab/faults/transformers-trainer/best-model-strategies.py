"""load_best_model_at_end with an evaluation strategy other than the save strategy: TrainingArguments refuses before anything is trained.

cause: config.trainer
also: [config.arguments]
not: [code.user-exception, environment.version-incompatible]
signature: 'ValueError: --load_best_model_at_end requires the save and eval strategy to match'
runs_as: run_classification.py
launch: python run_classification.py --num_labels 3 --epochs 4 --batch_size 16
"""

import argparse
import logging

from labkit import pick, seed_everything
from transformers import BertConfig, BertForSequenceClassification, TrainingArguments

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = logging.getLogger(__name__)
EVERY = pick([("epoch", "steps"), ("steps", "epoch"), ("epoch", "no")])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_labels", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--hidden_size", type=int, default=pick([64, 96, 128]))
    args = parser.parse_args()
    logger.info("arguments: %s", vars(args))
    seed_everything()
    config = BertConfig(vocab_size=1000, hidden_size=args.hidden_size, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, num_labels=args.num_labels)
    model = BertForSequenceClassification(config)
    logger.info("model with %d parameters, %d labels", sum(p.numel() for p in model.parameters()), args.num_labels)
    training_args = TrainingArguments(
        output_dir="checkpoints/bert-small",
        num_train_epochs=args.epochs,
        per_device_train_batch_size=args.batch_size,
        eval_strategy=EVERY[0],
        save_strategy=EVERY[1],
        save_steps=200,
        eval_steps=200,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        report_to="none",
    )
    logger.info("training/evaluation parameters %s", training_args)


if __name__ == "__main__":
    main()
