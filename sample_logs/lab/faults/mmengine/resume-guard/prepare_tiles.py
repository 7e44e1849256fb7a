"""Write tiles of a made-up land cover map: images, masks, annotation files."""

import json
import os

import cv2
import numpy as np

for split, size in (("train", 48), ("val", 16)):
    os.makedirs(f"data/tiles/{split}", exist_ok=True)
    entries = []
    draw = np.random.RandomState(len(split))
    for number in range(size):
        mask = np.zeros((32, 32), np.uint8)
        mask[draw.randint(4, 20):, :] = 1
        mask[:, draw.randint(8, 28):] = 2
        colour = np.array([[60, 120, 60], [160, 110, 70], [70, 70, 170]])[mask]
        cv2.imwrite(f"data/tiles/{split}/{number:04d}.png", np.clip(colour + draw.normal(0, 55, (32, 32, 3)), 0, 255).astype(np.uint8))
        cv2.imwrite(f"data/tiles/{split}/{number:04d}_mask.png", mask)
        entries.append({"img_path": f"{split}/{number:04d}.png", "seg_map_path": f"{split}/{number:04d}_mask.png"})
    with open(f"data/tiles/{split}.json", "w", encoding="utf-8") as sink:
        json.dump({"metainfo": {"classes": ["forest", "field", "water"]}, "data_list": entries}, sink)
