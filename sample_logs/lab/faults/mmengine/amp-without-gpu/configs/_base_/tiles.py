data_root = "data/tiles/"
train_pipeline = [dict(type="LoadTile"), dict(type="FlipTile", prob=0.5), dict(type="PackTile")]
test_pipeline = [dict(type="LoadTile"), dict(type="PackTile")]
train_dataloader = dict(
    batch_size=8, num_workers=0, sampler=dict(type="InfiniteSampler", shuffle=True),
    dataset=dict(type="TileDataset", ann_file="train.json", data_root=data_root, data_prefix=dict(img_path="", seg_map_path=""), pipeline=train_pipeline),
)
val_dataloader = dict(
    batch_size=4, num_workers=0, sampler=dict(type="DefaultSampler", shuffle=False),
    dataset=dict(type="TileDataset", ann_file="val.json", data_root=data_root, data_prefix=dict(img_path="", seg_map_path=""), pipeline=test_pipeline),
)
val_evaluator = dict(type="IoUMetric")
