import argparse
import os.path as osp
import sys

from mmengine.config import Config, DictAction
from mmengine.runner import Runner

sys.path.insert(0, osp.dirname(osp.dirname(osp.abspath(__file__))))


def parse_args():
    parser = argparse.ArgumentParser(description="Train a model")
    parser.add_argument("config", help="train config file path")
    parser.add_argument("--work-dir", help="the dir to save logs and models")
    parser.add_argument("--resume", nargs="?", type=str, const="auto", help="resume from this checkpoint, or from the latest one")
    parser.add_argument("--cfg-options", nargs="+", action=DictAction, help="override some settings in the used config")
    parser.add_argument("--launcher", choices=["none", "pytorch", "slurm", "mpi"], default="none", help="job launcher")
    return parser.parse_args()


def main():
    args = parse_args()
    cfg = Config.fromfile(args.config)
    cfg.launcher = args.launcher
    if args.cfg_options is not None:
        cfg.merge_from_dict(args.cfg_options)
    cfg.work_dir = args.work_dir or cfg.get("work_dir") or osp.join("./work_dirs", osp.splitext(osp.basename(args.config))[0])
    if args.resume == "auto":
        cfg.resume, cfg.load_from = True, None
    elif args.resume is not None:
        cfg.resume, cfg.load_from = True, args.resume
    runner = Runner.from_cfg(cfg)
    runner.train()


if __name__ == "__main__":
    main()
