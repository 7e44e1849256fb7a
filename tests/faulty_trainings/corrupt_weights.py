"""Training goes on from a checkpoint in which the exponent of one weight is all ones."""

import sys
from pathlib import Path

import tiny_llama
from transformers import LlamaForCausalLM, set_seed

from postmortem.recorder import TrainerRecorder


def main() -> None:
    set_seed(8)
    folder = Path(sys.argv[1]) / "checkpoint"
    tiny_llama.model().save_pretrained(folder)
    file = folder / "model.safetensors"
    spoil(file, "model.layers.1.mlp.up_proj.weight", place=777)
    model = LlamaForCausalLM.from_pretrained(folder)
    recorder = TrainerRecorder(folder=sys.argv[1])
    tiny_llama.trainer(model, tiny_llama.sequences(200), sys.argv[1], recorder, max_steps=8).train()


def spoil(file: Path, name: str, place: int) -> None:
    """Set the exponent of one float32 of a safetensors file to all ones: it is no number then."""
    import json

    data = bytearray(file.read_bytes())
    length = int.from_bytes(data[:8], "little")
    begin = json.loads(data[8 : 8 + length])[name]["data_offsets"][0] + 8 + length + 4 * place
    data[begin + 2] |= 0xC0
    data[begin + 3] |= 0x7F
    file.write_bytes(data)


if __name__ == "__main__":
    main()
