"""The second CSV export has one column more than the first: the files no longer form one table.

cause: data.schema
not: [data.missing-file, io.hub-access, data.decode, config.trainer]
signature: '(DatasetGenerationCastError|CastError|column names don.t match)'
runs_as: run_classification.py
"""

import csv
import logging

from datasets import load_dataset
from labkit import pick

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
logger = logging.getLogger(__name__)
EXTRA = pick(["annotator", "split", "date"])
for name, columns in (("2024.csv", ["text", "label"]), ("2025.csv", ["text", "label", EXTRA])):
    with open(name, "w", newline="") as sink:
        writer = csv.writer(sink)
        writer.writerow(columns)
        for number in range(100):
            writer.writerow([f"review number {number}", number % 2, "x"][: len(columns)])

logger.info("loading %s", ["2024.csv", "2025.csv"])
reviews = load_dataset("csv", data_files={"train": ["2024.csv", "2025.csv"]}, cache_dir="cache")
logger.info("loaded %s", reviews)
