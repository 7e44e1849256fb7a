r"""The launch script leaves out (or misspells) an option that the script's argparse needs: a usage text and exit status 2.

cause: config.arguments
also: []
not: [config.trainer, data.missing-file, code.user-exception]
signature: 'train\.py: error: '
runs_as: train.py
launch: |
  options=("--lr 2e-5 --epochs 3" "--model ./roberta --scheduler cosin --epochs 3" "--model ./roberta --epochs three")
  chosen=${options[$LAB_SEED]}
  set -x
  python train.py --output_dir exp/roberta-mnli $chosen
"""

import argparse

from labkit import seed_everything
from transformers import RobertaConfig, RobertaForSequenceClassification, set_seed


def parse_args():
    parser = argparse.ArgumentParser(description="Fine-tune an encoder on a text classification task")
    parser.add_argument("--model", required=True, help="name or path of the model")
    parser.add_argument("--output_dir", required=True)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--scheduler", choices=["linear", "cosine", "constant"], default="linear")
    return parser.parse_args()


args = parse_args()
seed_everything()
set_seed(42)
model = RobertaForSequenceClassification(RobertaConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64))
print(args, model.num_parameters())
