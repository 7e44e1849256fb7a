"""Some documents are longer than the table of learned positions: the look-up of a position beyond its end fails. The program prints both lengths at its start.

cause: data.sequence-too-long
also: [cuda.device-side-assert]
not: [data.missing-file, data.collation, code.shape-mismatch]
signature: 'IndexError: index out of range in self'
runs_as: train_gpt.py
launch: |
  python train_gpt.py
  code=$?
  python -m mmnotes work_dirs
  exit $code
"""

import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.logging import print_log
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, FUNCTIONS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


@DATASETS.register_module()
class Documents(Dataset):
    metainfo = dict(language="toy")

    def __init__(self, size, long_every, longest):
        draw = torch.Generator().manual_seed(9)
        self.texts = []
        for number in range(size):
            length = longest if number % long_every == long_every - 1 else int(torch.randint(20, 110, (), generator=draw))
            start = int(torch.randint(0, 50, (), generator=draw))
            self.texts.append((start + torch.arange(length) * 3) % 97)
        lengths = sorted(len(text) for text in self.texts)
        print_log(f"{size} documents, {sum(lengths)} tokens, length median {lengths[size // 2]}, longest {lengths[-1]}", "current")

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return {"tokens": self.texts[index]}


@FUNCTIONS.register_module()
def pad_documents(batch):
    return {"tokens": pad_sequence([item["tokens"] for item in batch], batch_first=True)}


@MODELS.register_module()
class TinyGPT(BaseModel):
    def __init__(self, vocab_size, max_position_embeddings, hidden_size):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, hidden_size)
        self.position_embedding = nn.Embedding(max_position_embeddings, hidden_size)
        self.block = nn.TransformerEncoderLayer(hidden_size, 4, 2 * hidden_size, batch_first=True)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, tokens, mode):
        positions = torch.arange(tokens.size(1) - 1)
        hidden = self.token_embedding(tokens[:, :-1]) + self.position_embedding(positions)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1) - 1)
        logits = self.lm_head(self.block(hidden, src_mask=mask, is_causal=True))
        return {"loss": nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])}


longest, place = pick([(300, 160), (513, 96), (200, 120)])
cfg = Config(dict(
    work_dir="work_dirs/tiny_gpt",
    model=dict(type="TinyGPT", vocab_size=100, max_position_embeddings=128, hidden_size=48),
    train_dataloader=dict(batch_size=8, num_workers=0, dataset=dict(type="Documents", size=320, long_every=place, longest=longest), sampler=dict(type="DefaultSampler", shuffle=False), collate_fn=dict(type="pad_documents")),
    train_cfg=dict(by_epoch=True, max_epochs=2),
    optim_wrapper=dict(optimizer=dict(type="AdamW", lr=1e-3)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=3)),
    randomness=dict(seed=SEED),
))
Runner.from_cfg(cfg).train()
