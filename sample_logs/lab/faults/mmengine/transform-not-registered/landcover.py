"""Models, data sets, transforms and metrics of the land cover project."""

import cv2
import numpy as np
import torch
import torch.nn.functional as F
from mmengine.dataset import BaseDataset
from mmengine.evaluator import BaseMetric
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, METRICS, MODELS, TRANSFORMS
from torch import nn


@DATASETS.register_module()
class TileDataset(BaseDataset):
    METAINFO = dict(classes=("forest", "field", "water"))


@TRANSFORMS.register_module()
class LoadTile:
    def __call__(self, results):
        results["img"] = cv2.imread(results["img_path"])
        results["gt_seg_map"] = cv2.imread(results["seg_map_path"], cv2.IMREAD_GRAYSCALE)
        return results


@TRANSFORMS.register_module()
class FlipTile:
    def __init__(self, prob):
        self.prob = prob

    def __call__(self, results):
        if np.random.rand() < self.prob:
            results["img"] = results["img"][:, ::-1]
            results["gt_seg_map"] = results["gt_seg_map"][:, ::-1]
        return results


@TRANSFORMS.register_module()
class PackTile:
    def __call__(self, results):
        image = torch.from_numpy(np.ascontiguousarray(results["img"].transpose(2, 0, 1)))
        return dict(inputs=image, data_samples=torch.from_numpy(np.ascontiguousarray(results["gt_seg_map"])).long())


@MODELS.register_module()
class TinyFCN(BaseModel):
    def __init__(self, channels, num_classes, data_preprocessor=None):
        super().__init__(data_preprocessor=data_preprocessor)
        self.backbone = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.decode_head = nn.Conv2d(channels, num_classes, 1)

    def forward(self, inputs, data_samples=None, mode="tensor"):
        logits = self.decode_head(self.backbone(inputs))
        if mode == "loss":
            target = torch.stack(list(data_samples))
            hits = (logits.argmax(1) == target).float().mean()
            return {"decode.loss_ce": F.cross_entropy(logits, target), "decode.acc_seg": 100 * hits}
        return [dict(pred=one, gt=other) for one, other in zip(logits.argmax(1), data_samples, strict=True)]


@METRICS.register_module()
class IoUMetric(BaseMetric):
    def process(self, data_batch, data_samples):
        size = len(self.dataset_meta["classes"])
        for sample in data_samples:
            self.results.append(np.bincount((sample["gt"] * size + sample["pred"]).flatten().numpy(), minlength=size * size).reshape(size, size))

    def compute_metrics(self, results):
        matrix = np.sum(results, axis=0)
        union = matrix.sum(0) + matrix.sum(1) - np.diag(matrix)
        with np.errstate(invalid="ignore"):
            iou = 100 * np.diag(matrix) / union
        rows = "".join(f"\n| {name:10s} | {value:6.2f} |" for name, value in zip(self.dataset_meta["classes"], iou, strict=True))
        MMLogger.get_current_instance().info(f"per class results:\n| Class      |    IoU |\n|------------+--------|{rows}")
        return {"aAcc": round(float(100 * np.trace(matrix) / matrix.sum()), 2), "mIoU": round(float(np.nanmean(iou)), 2)}
