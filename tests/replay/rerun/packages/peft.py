"""What peft does with a configuration, as far as it is dangerous; for where it is not installed."""

import dataclasses
import importlib
import re
from typing import Any


@dataclasses.dataclass
class LoraConfig:
    """The fields in question."""

    task_type: Any = None
    peft_type: Any = None
    auto_mapping: Any = None
    r: int = 8
    target_modules: Any = None
    exclude_modules: Any = None
    modules_to_save: Any = None
    layers_to_transform: Any = None
    layers_pattern: Any = None
    rank_pattern: Any = dataclasses.field(default_factory=dict)
    alpha_pattern: Any = dataclasses.field(default_factory=dict)
    init_lora_weights: Any = True
    layer_replication: Any = None
    megatron_config: Any = None
    megatron_core: Any = "megatron.core"
    corda_config: Any = None
    eva_config: Any = None
    loftq_config: Any = dataclasses.field(default_factory=dict)

    @classmethod
    def from_peft_type(cls, **given: Any) -> "LoraConfig":
        """As peft has it."""
        return cls(**given)


def get_peft_model(model: Any, config: LoraConfig) -> Any:
    """Import what is named, match what is given, put small layers in."""
    import torch

    if config.megatron_config:
        importlib.import_module(config.megatron_core)
    for name, module in list(model.named_modules()):
        for pattern in (config.target_modules, config.exclude_modules):
            if isinstance(pattern, str):
                re.fullmatch(pattern, name)
        for pattern in [*(config.rank_pattern or {}), *(config.modules_to_save or [])]:
            re.match(rf"(.*\.)?({pattern})$", name)
        if isinstance(module, torch.nn.Linear):
            module.add_module("lora_A", torch.nn.Linear(module.in_features, config.r, bias=False))
    return model
