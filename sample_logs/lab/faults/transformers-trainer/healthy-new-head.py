"""A normal fine-tuning: a new classification head on a saved encoder (with the library's load report and its advice to train), evaluation each epoch, falling loss.

cause: healthy.completed
also: [healthy.running]
not: [checkpoint.key-mismatch, checkpoint.shape-mismatch, numerics.untrained-embeddings, learning.plateau]
outcome: completed
step_basis: ordinal
runs_as: finetune_intent.py
launch: python finetune_intent.py
"""

import logging

import numpy
from labkit import pick, seed_everything, trainer_notes
from transformers import AutoModelForSequenceClassification, BertConfig, BertForMaskedLM, Trainer, TrainingArguments
from transformers.utils import logging as library

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S")
seed_everything()
CLASSES = pick([4, 3, 5])
rng = numpy.random.default_rng(0)
library.disable_progress_bar()
BertForMaskedLM(BertConfig(vocab_size=40 * CLASSES, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96)).save_pretrained("encoder")
library.enable_progress_bar()


def rows(count):
    return [{"input_ids": (rng.integers(0, 40, 14) + 40 * (i % CLASSES)).tolist(), "attention_mask": [1] * 14, "labels": i % CLASSES} for i in range(count)]


def accuracy(prediction):
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


model = AutoModelForSequenceClassification.from_pretrained("encoder", num_labels=CLASSES)
logging.info("model has %d parameters", model.num_parameters())
args = TrainingArguments("intent", num_train_epochs=3, per_device_train_batch_size=16, learning_rate=pick([1e-3, 5e-4, 1e-3]), eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="accuracy", logging_steps=5, report_to="none", use_cpu=True, disable_tqdm=pick([False, True, False]))
trainer = Trainer(model, args, train_dataset=rows(400), eval_dataset=rows(100), compute_metrics=accuracy, callbacks=[trainer_notes()])
trainer.train()
logging.info("final evaluation: %s", trainer.evaluate())
