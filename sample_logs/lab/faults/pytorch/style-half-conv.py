"""The network runs in half precision and gets float32 images.

cause: code.dtype-mismatch
also: []
not: [code.device-mismatch, numerics.fp16-overflow]
signature: 'should be the same|bias type'
runs_as: detect.py
kept: []
"""
import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
size = pick([640, 512, 416])
print(f"detect: weights=['best.pt'], source=data/images, imgsz=[{size}, {size}], conf_thres=0.25, iou_thres=0.45, half=True, device=cpu")
model = nn.Sequential(nn.Conv2d(3, 16, 6, 2, 2), nn.BatchNorm2d(16), nn.SiLU()).eval().half()
print("Fusing layers... \nModel summary: 3 layers, 1776 parameters, 0 gradients")
pred = model(torch.zeros(1, 3, size, size))
