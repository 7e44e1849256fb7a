"""Prompts of some documents fill the whole length, so that every label of a batch is -100."""

import sys

import tiny_llama
from transformers import set_seed

from postmortem.recorder import TrainerRecorder


def main() -> None:
    set_seed(2)
    data = tiny_llama.sequences(400)
    for number, sample in enumerate(data):
        prompt = 24 if 100 <= number < 108 else 8  # one document, cut into eight: prompt alone
        sample["labels"] = [-100] * prompt + sample["labels"][prompt:]
    recorder = TrainerRecorder(folder=sys.argv[1], every=16)
    tiny_llama.trainer(
        tiny_llama.model(), data, sys.argv[1], recorder, train_sampling_strategy="sequential"
    ).train()


if __name__ == "__main__":
    main()
