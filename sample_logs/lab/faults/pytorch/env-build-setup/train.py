import torch

import fastbeam

print(torch.__version__, fastbeam)
