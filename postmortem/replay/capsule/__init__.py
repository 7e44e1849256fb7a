"""A capsule: the suspect steps of a training, with all that is needed to run them again.

A folder of one JSON file and safetensors files. The package defines its content, reads it
with all checks and writes it atomically. It imports torch only when tensors are loaded, and of the
program only its errors, since the recorder uses it within a training.
"""
