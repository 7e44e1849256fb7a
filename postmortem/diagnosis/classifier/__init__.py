"""A small model of text: what a failing run says, without any rule, and which cause it sounds like.

In: a `Case`. Out: evidence of kind `classifier`. Not here: fitting a model (`learn`), weighing its
evidence with that of the rules (`inference`).
"""
