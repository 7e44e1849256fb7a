r"""The network runs in half precision and gets float32 images.

cause: code.dtype-mismatch
also: []
not: [memory.cuda-oom, code.device-mismatch, numerics.fp16-overflow]
signature: 'Input type \(torch.cuda.FloatTensor\) and weight type \(torch.cuda.HalfTensor\)|Input type \(float\) and bias type'
runs_as: detect.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
print(f"detect: weights=['best.pt'], source=data/images, imgsz=[{pick([640, 512, 416])}, 640], conf_thres=0.25, iou_thres=0.45, half=True, device=0")
print(f"Python torch-{torch.__version__} CUDA:0 ({torch.cuda.get_device_name(0)}, {torch.cuda.get_device_properties(0).total_memory / 2**20:.0f}MiB)\n")
model = nn.Sequential(nn.Conv2d(3, 16, 6, 2, 2), nn.BatchNorm2d(16), nn.SiLU()).cuda().eval().half()
print("Fusing layers... \nModel summary: 3 layers, 1776 parameters, 0 gradients")
im = torch.zeros(1, 3, 640, 640, device="cuda")
pred = model(im)
