"""A capsule: the suspect steps of a training, with all that is needed to run them again.

A folder of one JSON file and safetensors files. What stands in it, reading it with every refusal,
writing it whole or not at all. It imports no torch until tensors are asked for, and nothing of the
program but its errors: the recorder, which runs within a training, uses it too.
"""
