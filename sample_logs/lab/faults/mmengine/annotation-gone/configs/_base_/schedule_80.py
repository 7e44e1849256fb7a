optimizer = dict(type="SGD", lr=0.05, momentum=0.9, weight_decay=0.0005)
optim_wrapper = dict(type="OptimWrapper", optimizer=optimizer, clip_grad=None)
param_scheduler = [dict(type="PolyLR", eta_min=1e-4, power=0.9, begin=0, end=80, by_epoch=False)]
train_cfg = dict(type="IterBasedTrainLoop", max_iters=80, val_interval=40)
val_cfg = dict(type="ValLoop")
default_hooks = dict(
    timer=dict(type="IterTimerHook"),
    logger=dict(type="LoggerHook", interval=10, log_metric_by_epoch=False),
    param_scheduler=dict(type="ParamSchedulerHook"),
    checkpoint=dict(type="CheckpointHook", by_epoch=False, interval=40),
    sampler_seed=dict(type="DistSamplerSeedHook"),
)
