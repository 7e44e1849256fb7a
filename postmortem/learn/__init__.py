"""From labelled logs to a model of text, and to figures that say how good it is.

In: folders of logs with their labels. Out: a model's file, figures. Not here: using a model
(`diagnosis.classifier`, `inference.second_opinion`).
"""
