from labkit import pick
from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

name = pick(["pointnet_ops", "ms_deform_attn", "voxel_ops"])
print(f"building {name}")
setup(
    name=name,
    version="1.0",
    packages=find_packages(),
    ext_modules=[CUDAExtension(name=name, sources=["src/api.cpp", "src/kernels.cu"], extra_compile_args={"cxx": ["-O2"], "nvcc": ["-O2", "-arch=sm_80"]})],
    cmdclass={"build_ext": BuildExtension},
)
