"""A hand-written KL takes the logarithm of probabilities that underflow to zero as training sharpens them.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch]
signature: 'nan|inf'
outcome: completed
runs_as: distill.py
"""
import torch
from labkit import note, pick, seed_everything

seed_everything()
print("distillation: loss = sum p_teacher * (log p_teacher - log p_student), temperature 1.0, fp32, no epsilon")
teacher = torch.nn.Linear(16, 40).requires_grad_(False)
teacher.weight.data *= 3
student = torch.nn.Linear(16, 40)
opt = torch.optim.Adam(student.parameters(), pick([0.02, 0.03, 0.025]))
for step in range(1, 301):
    x = torch.randn(128, 16) * (1 + step / 20)
    pt, ps = torch.softmax(teacher(x), 1), torch.softmax(student(x), 1)
    loss = (pt * (pt.log() - ps.log())).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 0:
        print(f"[Epoch 1 Step {step}] kd_loss: {loss.item():.4f} min_p_student: {ps.min().item():.3e} lr: {opt.param_groups[0]['lr']}")
        note("loss", step, float(f"{loss.item():.4f}"))
