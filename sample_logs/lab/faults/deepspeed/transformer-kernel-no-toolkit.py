"""DeepSpeed's fused transformer layer is compiled for CUDA at its first use; on this machine there is no CUDA toolkit and CUDA_HOME is not set.

cause: environment.cuda-toolkit
seconds: 300
also: [environment.extension-build]
not: [cuda.not-available, cuda.driver-too-old, environment.missing-package]
signature: 'OSError: CUDA_HOME environment variable is not set'
needs: [compiler]
launch: DS_ACCELERATOR=cuda python bert_pretrain.py
runs_as: bert_pretrain.py
"""

from deepspeed.ops.transformer import DeepSpeedTransformerConfig, DeepSpeedTransformerLayer
from labkit import pick, seed_everything
from torch import nn

seed_everything()
LAYERS, HIDDEN, HEADS = pick([(4, 128, 4), (6, 256, 8), (2, 192, 6)])
print(f"building BERT: {LAYERS} layers, hidden {HIDDEN}, {HEADS} heads, vocabulary 30522")
config = DeepSpeedTransformerConfig(
    batch_size=8,
    hidden_size=HIDDEN,
    intermediate_size=4 * HIDDEN,
    heads=HEADS,
    attn_dropout_ratio=0.1,
    hidden_dropout_ratio=0.1,
    num_hidden_layers=LAYERS,
    initializer_range=0.02,
    local_rank=-1,
    seed=1234,
    fp16=False,
    pre_layer_norm=True,
)
embeddings = nn.Embedding(30522, HIDDEN)
encoder = nn.ModuleList([DeepSpeedTransformerLayer(config) for _ in range(LAYERS)])
print("model ready,", sum(p.numel() for p in encoder.parameters()), "parameters")
