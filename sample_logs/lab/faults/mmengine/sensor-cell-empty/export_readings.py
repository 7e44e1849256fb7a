"""Write the readings of a pump test bench; the logger of one channel missed a beat."""

import numpy as np
from labkit import pick

draw = np.random.RandomState(11)
readings = draw.normal([21.0, 3.2, 1480.0, 0.8, 55.0], [2.0, 0.4, 25.0, 0.1, 6.0], (960, 5))
flow = 0.4 * readings[:, 0] - 2.0 * readings[:, 1] + 0.01 * readings[:, 2] + draw.normal(0, 0.2, 960)
row, column = pick([(403, 3), (611, 1), (248, 4)])
with open("readings.csv", "w", encoding="utf-8") as sink:
    sink.write("temperature,pressure,speed,current,humidity,flow\n")
    for index, values in enumerate(np.column_stack([readings, flow])):
        sink.write(",".join("" if (index, place) == (row, column) else f"{value:.3f}" for place, value in enumerate(values)) + "\n")
