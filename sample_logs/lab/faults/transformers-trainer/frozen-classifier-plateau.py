"""By a wrong condition everything but one layer norm is frozen, so that the classifier cannot learn: loss and accuracy stay at chance over all epochs.

cause: learning.plateau
also: []
not: [numerics.lr-divergence, healthy.completed, data.schema]
signature: 'trainable%: 0[.]'
outcome: completed
step_basis: ordinal
runs_as: train_topic.py
launch: python train_topic.py
"""

import numpy
from labkit import pick, seed_everything, trainer_notes
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

seed_everything()
rng = numpy.random.default_rng(0)
CLASSES = pick([4, 8, 5])


def rows(count):
    return [{"input_ids": (rng.integers(0, 40, 16) + 40 * (i % CLASSES)).tolist(), "attention_mask": [1] * 16, "labels": i % CLASSES} for i in range(count)]


model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=40 * CLASSES, dim=32, hidden_dim=64, n_layers=2, n_heads=2, num_labels=CLASSES))
for name, parameter in model.named_parameters():
    parameter.requires_grad = pick(["transformer.layer.1.output_layer_norm.bias", "embeddings.LayerNorm.bias", "transformer.layer.0.sa_layer_norm.bias"]) in name
total, free = model.num_parameters(), model.num_parameters(only_trainable=True)
print(f"classes: {CLASSES} (chance loss {numpy.log(CLASSES):.3f})")
print(f"trainable params: {free:,} || all params: {total:,} || trainable%: {100 * free / total:.4f}")
args = TrainingArguments("topics", num_train_epochs=pick([4, 5, 3]), per_device_train_batch_size=16, per_device_eval_batch_size=64, learning_rate=pick([5e-5, 1e-4, 2e-5]), eval_strategy="epoch", logging_steps=10, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, True, False]))
trainer = Trainer(model, args, train_dataset=rows(640), eval_dataset=rows(160), compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}, callbacks=[trainer_notes()])
trainer.train()
