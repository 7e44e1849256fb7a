"""A regression table has an empty field in one row: that row's NaN makes loss, gradients and then all weights NaN.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown, data.schema]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, healthy.completed]
signature: "'grad_norm': 'nan'"
step_basis: ordinal
runs_as: price_regression.py
launch: python price_regression.py
"""

import io

import numpy
import pandas
import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import Trainer, TrainingArguments
from transformers.utils import ModelOutput

seed_everything()
rng = numpy.random.default_rng(pick([4, 5, 6]))
names = ["area", "rooms", "age", "distance", "floor", "lift"]
table = pandas.DataFrame(rng.normal(size=(600, 6)), columns=names)
table["price"] = table @ numpy.array([3.0, 1.0, -0.5, -2.0, 0.3, 0.2]) + 5 + rng.normal(size=600) * 0.1
lines = table.to_csv(index=False, float_format="%.4f").splitlines()
row, field = pick([412, 377, 520]), pick([2, 3, 4])
cells = lines[row].split(",")
lines[row] = ",".join([*cells[:field], "", *cells[field + 1 :]])
frame = pandas.read_csv(io.StringIO("\n".join(lines)))
print(frame.describe().round(3))
print(frame.isna().sum())


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))

    def forward(self, features, labels=None):
        prediction = self.layers(features).squeeze(-1)
        return ModelOutput(loss=torch.nn.functional.mse_loss(prediction, labels), logits=prediction)


data = [{"features": torch.tensor(values[:6]), "labels": torch.tensor(values[6])} for values in frame.to_numpy(dtype="float32")]
args = TrainingArguments("prices", num_train_epochs=2, per_device_train_batch_size=pick([8, 12, 6]), learning_rate=1e-3, logging_steps=pick([5, 2, 10]), report_to="none", use_cpu=True, save_strategy="no", remove_unused_columns=False, logging_nan_inf_filter=pick([True, False, True]))
Trainer(Regressor(), args, train_dataset=data, callbacks=[trainer_notes()]).train()
