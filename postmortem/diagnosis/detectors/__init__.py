"""Detectors: find anomalies in curves, figures and the end of a log.

Hidden NaN, spikes, plateaus, divergence, a loss scaler that settles or collapses, and so on.

In: the extract of a job. Out: `Anomaly`s by id, each with a sentence of figures and the line where
it shows. Not here: what an anomaly means for a cause (`patterns/causes`).
"""
