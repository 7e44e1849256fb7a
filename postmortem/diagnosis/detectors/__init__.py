"""What curves, figures and the end of a log look like.

Hidden NaN, run-up against out of the blue, spike, plateau, a scaler settling or collapsing.

In: what was gathered of a job. Out: `Anomaly`s by id, each with a sentence of figures and the line
where it shows. Not here: what a shape means for a cause (`patterns/causes`).
"""
