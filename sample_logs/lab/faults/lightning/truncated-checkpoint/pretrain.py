import lightning as L
import torch
from common import data, model
from labkit import seed_everything

seed_everything()
trainer = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(model(), torch.utils.data.DataLoader(data(), batch_size=32))
trainer.save_checkpoint("weights/pretrained.ckpt")
