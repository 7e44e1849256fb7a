"""The loop catches the first CUDA error and goes on with the next batch; every later call fails with the same error, the emergency checkpoint too.

cause: cuda.device-side-assert
also: []
not: [memory.cuda-oom, checkpoint.save-failed]
signature: 'device-side assert triggered'
first_failure: 'Assertion .* failed'
environment: transformers
runs_as: train_tts.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from tqdm import tqdm

seed_everything()
symbols = pick([148, 178, 256])
encoder = torch.nn.Embedding(symbols, 192).cuda()
decoder = torch.nn.LSTM(192, 80, batch_first=True).cuda()
optim = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], 2e-4, betas=(0.8, 0.99))
bad = 0
for batch_idx in tqdm(range(40), desc="Epoch 12"):
    text = torch.randint(0, symbols, (16, 90))
    if batch_idx >= 25:
        text[2, 10] = symbols
    try:
        mel, _ = decoder(encoder(text.cuda()))
        loss = (mel - 0.3).abs().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if batch_idx % 5 == 0:
            tqdm.write(f"[{batch_idx}] mel {loss.item():.5f}, lr 0.0002, grad_norm {torch.nn.utils.get_total_norm([p.grad for p in decoder.parameters()]).item():.3f}")
    except RuntimeError as e:
        bad += 1
        tqdm.write(f"skipping batch {batch_idx}: {str(e).splitlines()[0]}")
        if bad == 5:
            break
print("too many bad batches, saving emergency checkpoint")
torch.save({"enc": encoder.state_dict(), "dec": decoder.state_dict()}, "emergency.pt")
