import logging
import pathlib
import subprocess
import sys
import time

from labkit import pick

logging.basicConfig(format="%(asctime)s %(levelname)s pipeline: %(message)s", level=logging.INFO)
STAGES = pick([["prepare.py", "train.py", "export.py"], ["prepare.py", "train.py"], ["train.py", "export.py"]])


def main():
    pathlib.Path("stage_logs").mkdir()
    for number, script in enumerate(STAGES, 1):
        logging.info("stage %d/%d: %s", number, len(STAGES), script)
        begin = time.time()
        with open(f"stage_logs/{script[:-3]}.err", "w") as errors:
            subprocess.run([sys.executable, script, "--config", "conf/run7.json"], stderr=errors, check=True)
        logging.info("stage %d took %.1f s", number, time.time() - begin)


main()
