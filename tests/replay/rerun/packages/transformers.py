"""What transformers does with a configuration, as far as it is dangerous; if it is not installed."""

import importlib
from typing import Any

import torch

__version__ = "0"


class Config:
    """A configuration with whatever is given."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)
        self.layer_types = ["full" for _ in range(given.get("num_hidden_layers", 1))]

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Config":
        """As transformers has it."""
        return cls(**given)


class PreTrainedModel(torch.nn.Module):
    """The base of all models."""

    config_class = Config


class LlamaForCausalLM(PreTrainedModel):
    """A model that imports what its configuration names, and has as many layers as it says."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        for name in getattr(config, "auto_map", {}).values():
            importlib.import_module(name.partition(".")[0])
        self.embed = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(config.hidden_size, config.hidden_size)
            for _ in range(config.num_hidden_layers)
        )
