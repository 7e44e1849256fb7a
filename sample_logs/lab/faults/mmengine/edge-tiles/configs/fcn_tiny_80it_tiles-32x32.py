_base_ = ["./_base_/default_runtime.py", "./_base_/schedule_80.py", "./_base_/tiles.py"]
data_preprocessor = dict(type="ImgDataPreprocessor", mean=[100, 100, 100], std=[50, 50, 50])
model = dict(type="TinyFCN", channels=16, num_classes=3, data_preprocessor=data_preprocessor)
randomness = dict(seed=0)
