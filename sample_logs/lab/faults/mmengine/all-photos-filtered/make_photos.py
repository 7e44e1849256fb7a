"""Write photos of made-up birds: four colours of plumage, sizes as cameras give them."""

import json
import os

import numpy as np
from PIL import Image

PLUMAGE = np.array([(90, 110, 190), (190, 90, 60), (140, 110, 80), (170, 170, 60)])
draw = np.random.RandomState(3)
for split, size in (("train", 96), ("val", 32)):
    os.makedirs(f"data/birds/{split}", exist_ok=True)
    entries = []
    for number in range(size):
        label = int(draw.randint(4))
        width, height = (int(side) for side in draw.randint(40, 72, 2))
        pixels = draw.normal(PLUMAGE[label] + draw.normal(0, 40, 3), 45, (height, width, 3))
        path = f"{split}/bird_{number:03d}.jpg"
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(f"data/birds/{path}")
        entries.append({"img_path": path, "gt_label": label, "width": width, "height": height})
    with open(f"data/birds/{split}.json", "w", encoding="utf-8") as sink:
        json.dump({"metainfo": {}, "data_list": entries}, sink)
