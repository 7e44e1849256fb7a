"""The encoder was left in evaluation mode: cuDNN's recurrent backward refuses.

cause: code.user-exception
also: [cuda.cudnn, code.autograd-no-grad]
not: [memory.cuda-oom, cuda.illegal-memory-access]
signature: 'backward can only be called in training mode'
runs_as: finetune_asr.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
rnn = torch.nn.LSTM(80, pick([128, 256, 192]), 2, batch_first=True).cuda()
head = torch.nn.Linear(rnn.hidden_size, 32).cuda()
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
for epoch in range(2):
    for step in range(5):
        h, _ = rnn(torch.randn(8, 120, 80, device="cuda"))
        loss = torch.nn.functional.cross_entropy(head(h[:, -1]), torch.randint(0, 32, (8,), device="cuda"))
        opt.zero_grad(); loss.backward(); opt.step()
        print(f"| epoch {epoch:3d} | {step:5d}/  5 batches | ms/batch  3.1 | loss {loss.item():5.2f} | ppl {loss.exp().item():8.2f}")
    rnn.eval()
    with torch.no_grad():
        rnn(torch.randn(8, 120, 80, device="cuda"))
    print(f"| end of epoch {epoch:3d} | valid wer 87.{epoch}")
