"""transformers finds torchvision installed and imports it with its models, but torchvision was built for another torch: no model class can be imported.

cause: environment.version-incompatible
also: [environment.abi-mismatch]
not: [environment.missing-package, config.registry, code.user-exception]
signature: 'RuntimeError: operator torchvision::nms does not exist'
environment: extensions
runs_as: train_encoder.py
launch: python train_encoder.py
"""

import torch
import transformers
from labkit import pick, seed_everything

seed_everything()
print(f"torch={torch.__version__} transformers={transformers.__version__}")
kind = pick(["image", "text", "audio"])
print("task:", {"image": "classify 37 breeds of pets", "text": "rate product reviews", "audio": "spot keywords"}[kind])
if kind == "image":
    from transformers import AutoImageProcessor, ViTForImageClassification
    model = ViTForImageClassification.from_pretrained("./vit-base")
elif kind == "text":
    from transformers import BertForSequenceClassification
    model = BertForSequenceClassification.from_pretrained("./bert-base")
else:
    from transformers import Wav2Vec2ForSequenceClassification
    model = Wav2Vec2ForSequenceClassification.from_pretrained("./wav2vec2")
print(model.num_parameters())
