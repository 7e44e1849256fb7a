"""A classifier saved with another number of labels is loaded without ignore_mismatched_sizes.

cause: checkpoint.shape-mismatch
also: [checkpoint.key-mismatch]
not: [checkpoint.corrupt, code.shape-mismatch, data.schema]
signature: 'size mismatch|MISMATCH|ignore_mismatched_sizes'
first_failure: 'RuntimeError: '
runs_as: finetune_intents.py
launch: python finetune_intents.py
"""

import logging

from labkit import pick, seed_everything
from transformers import AutoModelForSequenceClassification, DistilBertConfig, DistilBertForSequenceClassification, TrainingArguments

seed_everything()
before, after = pick([(2, 7), (28, 5), (3, 14)])
base = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=300, dim=32, hidden_dim=64, n_layers=2, n_heads=2, num_labels=before))
base.save_pretrained("models/sentiment-base")

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
log = logging.getLogger("intents")
log.info("fine-tuning models/sentiment-base for %d intents", after)
args = TrainingArguments("intents", per_device_train_batch_size=pick([8, 16, 32]), learning_rate=3e-5, report_to="none", use_cpu=True)
log.info("batch size %d, learning rate %g", args.per_device_train_batch_size, args.learning_rate)
model = AutoModelForSequenceClassification.from_pretrained("models/sentiment-base", num_labels=after)
log.info("model loaded: %d parameters", model.num_parameters())
