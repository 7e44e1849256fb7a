"""The corpus is to be tokenised with transformers 5, but tokenizers stayed at an old version; the check at import refuses.

cause: environment.version-incompatible
also: []
not: [environment.missing-package, config.tokenizer, code.user-exception]
signature: 'ImportError: tokenizers>=.* is required for a normal functioning of this module, but found tokenizers=='
environment: pair-tokenizers
runs_as: prepare_corpus.py
launch: python prepare_corpus.py --shards 4
seeds: [0, 1]
"""

import argparse
import collections
import random

from labkit import pick, seed_everything

parser = argparse.ArgumentParser(description="Tokenise the corpus into shards")
parser.add_argument("--shards", type=int, default=8)
parser.add_argument("--length", type=int, default=pick([1024, 512]))
arguments = parser.parse_args()
seed_everything()
words = "of the and to in a is that for it as was with be by on not he his but at are this have from".split()
lines = [" ".join(random.choices(words, k=random.randint(4, 30))) for _ in range(4000)]
counts = collections.Counter(word for line in lines for word in line.split())
print(f"read {len(lines)} lines, {sum(counts.values())} words, {len(counts)} different")
print("most common:", counts.most_common(pick([5, 8])))
for shard in range(arguments.shards):
    print(f"shard {shard}: lines {shard * 1000}-{shard * 1000 + 999}")
print(f"tokenising to blocks of {arguments.length}")
if pick([True, False]):
    from transformers import AutoTokenizer as Loader
else:
    from transformers import PreTrainedTokenizerFast as Loader
tokenizer = Loader.from_pretrained("./tokenizer")
print(len(tokenizer(lines[0])["input_ids"]))
