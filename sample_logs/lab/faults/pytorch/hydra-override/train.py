import logging

import hydra
import torch
from labkit import seed_everything
from omegaconf import DictConfig, OmegaConf

log = logging.getLogger(__name__)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    log.info("\n%s", OmegaConf.to_yaml(cfg))
    seed_everything()
    model = torch.nn.Linear(cfg.data.features, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.optimizer.lr)
    for step in range(cfg.trainer.max_steps):
        loss = model(torch.randn(cfg.data.batch_size, cfg.data.features)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % cfg.trainer.log_every == 0:
            log.info("step %d loss %.4f", step, loss.item())


if __name__ == "__main__":
    main()
