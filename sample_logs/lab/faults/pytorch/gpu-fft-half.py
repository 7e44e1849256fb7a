"""A spectral loss under autocast: cuFFT does half precision only for powers of two.

cause: code.user-exception
also: [code.dtype-mismatch, cuda.insufficient-precision-support, code.shape-mismatch]
not: [memory.cuda-oom, cuda.driver-too-old]
signature: 'cuFFT only supports'
runs_as: train_vocoder.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
generator = torch.nn.Conv1d(80, 1, 7, padding=3).cuda().half()
print("Epoch: 1")
for steps in range(10):
    length = 1024 if steps < 4 else pick([1000, 1200, 960])
    y = generator(torch.randn(4, 80, length, device="cuda").half()).squeeze(1)
    mag = torch.fft.rfft(y).abs()
    print("Steps : {:d}, Gen Loss Total : {:4.3f}, Mel-Spec. Error : {:4.3f}, s/b : {:4.3f}".format(steps, mag.float().mean().item(), y.float().abs().mean().item(), 0.021))
