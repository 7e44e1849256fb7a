import torch
from labkit import note, pick, seed_everything

seed_everything()
features = torch.randn(400, 30)
model = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.ReLU(), torch.nn.Linear(40, 30))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 41):
    rows = features[torch.randint(0, 400, (pick([20, 16, 25]),))]
    loss = torch.nn.functional.mse_loss(model(rows), rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"  [train] step {step:02d}/40 reconstruction {loss.item():.4f}")
    note("loss", step, float(f"{loss.item():.4f}"))
torch.save(model.state_dict(), "results/model.pt")
