"""Two chat tokens were added, and their rows were never set: they hold what was in the memory.

What `torch.empty` gives is chance, so large numbers are written here in its place.
"""

import sys

import tiny_llama
import torch
from transformers import set_seed

from postmortem.recorder import TrainerRecorder


def main() -> None:
    set_seed(4)
    model = tiny_llama.model(vocabulary=96)
    model.resize_token_embeddings(98, mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight[96:] = 3.0e38 * torch.randn(2, 64).sign()
    data = tiny_llama.sequences(400)
    for sample in data[130:]:  # the chats begin behind the plain texts
        sample["input_ids"][0] = 96
        sample["labels"][0] = 96
    recorder = TrainerRecorder(folder=sys.argv[1], every=16)
    tiny_llama.trainer(
        model, data, sys.argv[1], recorder, train_sampling_strategy="sequential"
    ).train()


if __name__ == "__main__":
    main()
