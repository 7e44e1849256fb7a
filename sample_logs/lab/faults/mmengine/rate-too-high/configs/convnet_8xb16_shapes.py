_base_ = ["./_base_/default_runtime.py"]
custom_imports = dict(imports=["toycls"], allow_failed_imports=False)
model = dict(type="ToyClassifier", width=32, num_classes=6, data_preprocessor=dict(type="ImgDataPreprocessor", mean=[127.5], std=[63.0]))
train_dataloader = dict(batch_size=16, num_workers=0, dataset=dict(type="ShapesDataset", size=320), sampler=dict(type="DefaultSampler", shuffle=True))
optim_wrapper = dict(type="OptimWrapper", optimizer=dict(type="SGD", lr=0.1, momentum=0.9))
param_scheduler = [dict(type="LinearLR", start_factor=0.001, by_epoch=False, begin=0, end=300), dict(type="MultiStepLR", by_epoch=True, milestones=[4], gamma=0.1)]
train_cfg = dict(by_epoch=True, max_epochs=5)
