import logging
from dataclasses import dataclass, field

import hydra
import torch
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

logger = logging.getLogger("experiment")


@dataclass
class Model:
    width: int = 48
    depth: int = 2


@dataclass
class Data:
    path: str = MISSING
    batch: int = 20


@dataclass
class Run:
    epochs: int = 4
    seed: int = 0
    lr: float = 0.05


@dataclass
class Experiment:
    model: Model = field(default_factory=Model)
    data: Data = field(default_factory=Data)
    run: Run = field(default_factory=Run)


ConfigStore.instance().store(name="experiment", node=Experiment)


@hydra.main(version_base="1.3", config_path=None, config_name="experiment")
def main(config):
    torch.manual_seed(config.run.seed)
    layers = [torch.nn.Linear(10, config.model.width)]
    for _ in range(config.model.depth):
        layers += [torch.nn.ReLU(), torch.nn.Linear(config.model.width, config.model.width)]
    network = torch.nn.Sequential(*layers)
    logger.info("network of %d parameters", sum(p.numel() for p in network.parameters()))
    warm = torch.optim.SGD(network.parameters(), lr=config.run.lr)
    for step in range(10):
        loss = network(torch.randn(config.data.batch, 10)).square().mean()
        warm.zero_grad()
        loss.backward()
        warm.step()
        logger.info("self-check step %d: %.4f", step, loss.item())
    logger.info("reading tables")
    rows = torch.load(config.data.path)
    for epoch in range(config.run.epochs):
        logger.info("epoch %d: %.4f", epoch, network(rows).mean().item())


if __name__ == "__main__":
    main()
