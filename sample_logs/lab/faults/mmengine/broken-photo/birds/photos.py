import numpy as np
import torch
from mmengine.dataset import BaseDataset
from mmengine.registry import DATASETS, TRANSFORMS
from PIL import Image


@DATASETS.register_module()
class PhotoFolder(BaseDataset):
    METAINFO = dict(classes=("jay", "robin", "wren", "finch"))

    def filter_data(self):
        wanted = (self.filter_cfg or {}).get("min_side", 0)
        return [entry for entry in self.data_list if min(entry["width"], entry["height"]) >= wanted]


@TRANSFORMS.register_module()
class LoadPhoto:
    def __call__(self, results):
        with Image.open(results["img_path"]) as photo:
            results["img"] = np.asarray(photo.convert("RGB"))
        return results


@TRANSFORMS.register_module()
class ResizePhoto:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, results):
        results["img"] = np.asarray(Image.fromarray(results["img"]).resize((self.scale, self.scale)))
        return results


@TRANSFORMS.register_module()
class PackPhoto:
    def __call__(self, results):
        return dict(inputs=torch.from_numpy(results["img"].transpose(2, 0, 1).copy()), data_samples=results["gt_label"])
