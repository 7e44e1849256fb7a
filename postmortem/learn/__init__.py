"""Train the text classifier from labelled logs, and measure how good it is.

In: folders of logs with their labels. Out: a model's file, figures. Not here: using a model
(`diagnosis.classifier`, `inference.second_opinion`).
"""
