from labkit import pick
from setuptools import Extension, setup

setup(name="fastbeam", version="0.3.1", ext_modules=[Extension("fastbeam", [pick(["beam.c", "beam_simd.c", "beam.c"])], extra_compile_args=["-O2"], define_macros=[("LM", pick(["1", "0", "2"]))])])
