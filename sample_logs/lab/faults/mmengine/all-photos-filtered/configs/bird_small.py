from birds import Accuracy, BirdClassifier, LoadPhoto, PackPhoto, PhotoFolder, ResizePhoto
from mmengine.dataset import DefaultSampler
from mmengine.dataset.utils import default_collate
from mmengine.hooks import CheckpointHook, IterTimerHook, LoggerHook, ParamSchedulerHook
from mmengine.model import ImgDataPreprocessor
from mmengine.optim import CosineAnnealingLR, OptimWrapper
from mmengine.runner import EpochBasedTrainLoop, ValLoop
from torch.optim import AdamW

max_epochs = 3
model = dict(type=BirdClassifier, num_classes=4, widths=(16, 32), data_preprocessor=dict(type=ImgDataPreprocessor, mean=[120, 120, 120], std=[60, 60, 60]))
pipeline = [dict(type=LoadPhoto), dict(type=ResizePhoto, scale=32), dict(type=PackPhoto)]
train_dataloader = dict(
    batch_size=8, num_workers=0, collate_fn=dict(type=default_collate), sampler=dict(type=DefaultSampler, shuffle=True),
    dataset=dict(type=PhotoFolder, data_root="data/birds", ann_file="train.json", data_prefix=dict(img_path=""), pipeline=pipeline),
)
val_dataloader = dict(
    batch_size=8, num_workers=0, collate_fn=dict(type=default_collate), sampler=dict(type=DefaultSampler, shuffle=False),
    dataset=dict(type=PhotoFolder, data_root="data/birds", ann_file="val.json", data_prefix=dict(img_path=""), pipeline=pipeline),
)
val_evaluator = dict(type=Accuracy)
train_cfg = dict(type=EpochBasedTrainLoop, max_epochs=max_epochs, val_interval=1)
val_cfg = dict(type=ValLoop)
optim_wrapper = dict(type=OptimWrapper, optimizer=dict(type=AdamW, lr=2e-3, weight_decay=0.05))
param_scheduler = [dict(type=CosineAnnealingLR, eta_min=1e-5, by_epoch=True, begin=0, end=max_epochs)]
default_hooks = dict(
    timer=dict(type=IterTimerHook), logger=dict(type=LoggerHook, interval=4), param_scheduler=dict(type=ParamSchedulerHook),
    checkpoint=dict(type=CheckpointHook, interval=1, save_best="accuracy/top1", rule="greater"),
)
randomness = dict(seed=0)
