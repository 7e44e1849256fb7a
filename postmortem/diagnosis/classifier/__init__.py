"""The text classifier: suggests causes by the words of a failing run, without any rule.

In: a `Case`. Out: evidence of kind `classifier`. Not here: fitting a model (`learn`), weighing its
evidence with that of the rules (`inference`).
"""
