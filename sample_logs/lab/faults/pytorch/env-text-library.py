"""torchtext (or torchaudio) is a binary of an older torch: its shared library does not load beside this torch.

cause: environment.abi-mismatch
also: [environment.version-incompatible]
not: [environment.missing-package, data.missing-file, environment.extension-build]
signature: '^OSError: Could not load this library'
first_failure: '^OSError: '
environment: extensions
runs_as: preprocess.py
launch: python preprocess.py --split train
dump_command: python -m torch.utils.collect_env
seeds: [0, 1]
"""

import argparse
import logging

import torch
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
log = logging.getLogger("preprocess")
parser = argparse.ArgumentParser()
parser.add_argument("--split")
options = parser.parse_args()
seed_everything()
log.info("torch %s, split %s", torch.__version__, options.split)
if pick(["text", "audio"]) == "text":
    import torchtext

    log.info("torchtext %s", torchtext.__version__)
    vocabulary = torchtext.vocab.build_vocab_from_iterator([["a", "b"]])
else:
    import torchaudio

    log.info("torchaudio %s", torchaudio.__version__)
    spectrogram = torchaudio.transforms.MelSpectrogram(16000)
