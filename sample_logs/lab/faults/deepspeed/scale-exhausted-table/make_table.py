"""The data set: a table with a few empty cells, as exports have them."""

import random

from labkit import SEED, pick

random.seed(SEED)
with open("stations.csv", "w", encoding="utf-8") as sink:
    sink.write("km_to_city,pumps,traffic,brand,oil,price\n")
    for _ in range(2048):
        row = [random.uniform(0, 60), random.randint(1, 12), random.uniform(0, 1), random.randint(0, 7), random.uniform(60, 95)]
        cells = [f"{value:.3f}" for value in [*row, 1.1 + 0.01 * row[0] - 0.02 * row[1]]]
        if random.random() < pick([0.3, 0.2, 0.25]):
            cells[random.randrange(5)] = ""
        sink.write(",".join(cells) + "\n")
