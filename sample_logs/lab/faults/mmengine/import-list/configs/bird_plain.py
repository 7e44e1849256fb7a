custom_imports = dict(imports=["birds", "mmpretrain.models"], allow_failed_imports=False)
model = dict(type="BirdClassifier", num_classes=4, data_preprocessor=dict(type="ImgDataPreprocessor", mean=[120, 120, 120], std=[60, 60, 60]))
pipeline = [dict(type="LoadPhoto"), dict(type="ResizePhoto", scale=32), dict(type="PackPhoto")]
dataset_type = "PhotoFolder"
data_root = "data/birds"
train_dataloader = dict(
    batch_size=8, num_workers=2, persistent_workers=True, sampler=dict(type="DefaultSampler", shuffle=True),
    dataset=dict(type=dataset_type, data_root=data_root, ann_file="train.json", data_prefix=dict(img_path=""), pipeline=pipeline),
)
train_cfg = dict(by_epoch=True, max_epochs=20)
optim_wrapper = dict(optimizer=dict(type="AdamW", lr=2e-3, weight_decay=0.05))
param_scheduler = dict(type="CosineAnnealingLR", eta_min=1e-5, begin=0, end=20)
default_hooks = dict(logger=dict(type="LoggerHook", interval=10), checkpoint=dict(type="CheckpointHook", interval=5))
