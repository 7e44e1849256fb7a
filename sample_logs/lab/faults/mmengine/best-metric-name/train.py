import argparse
import os.path as osp

from mmengine.config import Config, DictAction
from mmengine.runner import Runner

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="bird classification with mmengine")
    parser.add_argument("config")
    parser.add_argument("--work-dir", default=None)
    parser.add_argument("--resume-from", default=None)
    parser.add_argument("--launcher", choices=["none", "pytorch", "slurm", "mpi"], default="none")
    parser.add_argument("--cfg-options", nargs="+", action=DictAction)
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    cfg.merge_from_dict(args.cfg_options or {})
    cfg.launcher = args.launcher
    cfg.work_dir = args.work_dir or osp.join("work_dirs", osp.splitext(osp.basename(args.config))[0])
    if args.resume_from:
        cfg.resume, cfg.load_from = True, args.resume_from
    Runner.from_cfg(cfg).train()
