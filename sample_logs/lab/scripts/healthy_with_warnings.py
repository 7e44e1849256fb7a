"""A healthy run that prints frightening lines: a scheduler warning, a tokenizer's length warning, newly initialised weights.

cause: healthy.completed
also: [healthy.running]
not: [data.sequence-too-long, numerics.corrupt-weights, config.trainer]
signature: 'training finished, saved model to /tmp/healthy.pt'
"""

import warnings

import torch

torch.manual_seed(0)
print("Some weights of BertForSequenceClassification were not initialized from the model checkpoint at bert-base-uncased and are newly initialized: ['classifier.bias', 'classifier.weight']")
print("You should probably TRAIN this model on a down-stream task to be able to use it for predictions and inference.")
print("Token indices sequence length is longer than the specified maximum sequence length for this model (642 > 512). Running this sequence through the model will result in indexing errors")
model = torch.nn.Linear(20, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 50)
scheduler.step()
warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=1)
inputs = torch.randn(300, 20)
labels = (inputs @ torch.randn(20, 3)).argmax(-1)
for epoch in range(1, 31):
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch {epoch}/30 - train_loss: {loss.item():.4f} - lr: {scheduler.get_last_lr()[0]:.2e}")
torch.save(model.state_dict(), "/tmp/healthy.pt")
print("training finished, saved model to /tmp/healthy.pt")
