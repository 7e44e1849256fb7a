"""Statuses of native runtimes and the wrappers in which programs print them.

In: nothing. Out: `STATUSES`, `wrapped`, `LIBRARIES`, `LINES`, `SILENT`. Not here: what is asked of
them (`test_runtime_statuses.py`).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple


class Status(NamedTuple):
    """One status of the CUDA runtime and what it stands for."""

    number: int
    before: int
    """Its number before CUDA 10.1."""
    name: str
    driver: str
    """Its name in the driver; empty where it has none."""
    text: str
    cause: str


STATUSES: Final = [
    Status(*row)
    for row in (
        (
            2,
            2,
            "cudaErrorMemoryAllocation",
            "CUDA_ERROR_OUT_OF_MEMORY",
            "out of memory",
            "memory.cuda-oom",
        ),
        (
            3,
            3,
            "cudaErrorInitializationError",
            "CUDA_ERROR_NOT_INITIALIZED",
            "initialization error",
            "cuda.not-available",
        ),
        (
            35,
            35,
            "cudaErrorInsufficientDriver",
            "",
            "CUDA driver version is insufficient for CUDA runtime version",
            "cuda.driver-too-old",
        ),
        (
            46,
            46,
            "cudaErrorDevicesUnavailable",
            "CUDA_ERROR_DEVICE_UNAVAILABLE",
            "all CUDA-capable devices are busy or unavailable",
            "cuda.not-available",
        ),
        (
            98,
            8,
            "cudaErrorInvalidDeviceFunction",
            "",
            "invalid device function",
            "cuda.no-kernel-image",
        ),
        (
            100,
            38,
            "cudaErrorNoDevice",
            "CUDA_ERROR_NO_DEVICE",
            "no CUDA-capable device is detected",
            "cuda.not-available",
        ),
        (
            101,
            10,
            "cudaErrorInvalidDevice",
            "CUDA_ERROR_INVALID_DEVICE",
            "invalid device ordinal",
            "distributed.device-count",
        ),
        (
            200,
            47,
            "cudaErrorInvalidKernelImage",
            "CUDA_ERROR_INVALID_IMAGE",
            "device kernel image is invalid",
            "cuda.no-kernel-image",
        ),
        (
            209,
            48,
            "cudaErrorNoKernelImageForDevice",
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "no kernel image is available for execution on the device",
            "cuda.no-kernel-image",
        ),
        (
            214,
            39,
            "cudaErrorECCUncorrectable",
            "CUDA_ERROR_ECC_UNCORRECTABLE",
            "uncorrectable ECC error encountered",
            "cuda.hardware-ecc",
        ),
        (
            218,
            78,
            "cudaErrorInvalidPtx",
            "CUDA_ERROR_INVALID_PTX",
            "a PTX JIT compilation failed",
            "cuda.no-kernel-image",
        ),
        (
            220,
            80,
            "cudaErrorNvlinkUncorrectable",
            "CUDA_ERROR_NVLINK_UNCORRECTABLE",
            "uncorrectable NVLink error detected during the execution",
            "cuda.hardware-xid",
        ),
        (
            222,
            222,
            "cudaErrorUnsupportedPtxVersion",
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "the provided PTX was compiled with an unsupported toolchain.",
            "cuda.driver-too-old",
        ),
        (
            304,
            63,
            "cudaErrorOperatingSystem",
            "CUDA_ERROR_OPERATING_SYSTEM",
            "OS call failed or operation not supported on this OS",
            "cuda.not-available",
        ),
        (
            500,
            13,
            "cudaErrorSymbolNotFound",
            "CUDA_ERROR_NOT_FOUND",
            "named symbol not found",
            "cuda.no-kernel-image",
        ),
        (
            700,
            77,
            "cudaErrorIllegalAddress",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "an illegal memory access was encountered",
            "cuda.illegal-memory-access",
        ),
        (
            701,
            7,
            "cudaErrorLaunchOutOfResources",
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "too many resources requested for launch",
            "cuda.launch-failure",
        ),
        (
            702,
            6,
            "cudaErrorLaunchTimeout",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            "the launch timed out and was terminated",
            "cuda.launch-failure",
        ),
        (
            710,
            59,
            "cudaErrorAssert",
            "CUDA_ERROR_ASSERT",
            "device-side assert triggered",
            "cuda.device-side-assert",
        ),
        (
            715,
            73,
            "cudaErrorIllegalInstruction",
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "an illegal instruction was encountered",
            "cuda.launch-failure",
        ),
        (
            716,
            74,
            "cudaErrorMisalignedAddress",
            "CUDA_ERROR_MISALIGNED_ADDRESS",
            "misaligned address",
            "cuda.illegal-memory-access",
        ),
        (
            719,
            719,
            "cudaErrorLaunchFailure",
            "CUDA_ERROR_LAUNCH_FAILED",
            "unspecified launch failure",
            "cuda.launch-failure",
        ),
        (
            720,
            82,
            "cudaErrorCooperativeLaunchTooLarge",
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
            "too many blocks in cooperative launch",
            "cuda.launch-failure",
        ),
        (
            802,
            802,
            "cudaErrorSystemNotReady",
            "CUDA_ERROR_SYSTEM_NOT_READY",
            "system not yet initialized",
            "cuda.not-available",
        ),
        (
            803,
            803,
            "cudaErrorSystemDriverMismatch",
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "system has unsupported display driver / cuda driver combination",
            "cuda.driver-too-old",
        ),
        (
            804,
            804,
            "cudaErrorCompatNotSupportedOnDevice",
            "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            "forward compatibility was attempted on non supported HW",
            "cuda.not-available",
        ),
        (
            805,
            805,
            "cudaErrorMpsConnectionFailed",
            "CUDA_ERROR_MPS_CONNECTION_FAILED",
            "MPS client failed to connect to the MPS control daemon or the MPS server",
            "cuda.not-available",
        ),
        (999, 30, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error", "cuda.not-available"),
    )
]

WRAPPERS: Final = {
    "glog": "F0302 10:11:12.131415  77 store.cpp:22] Check failed: error == cudaSuccess"
    " ({before} vs. 0)  {text}",
    "glog, the number alone": "store.cpp:22: Check failed: error == cudaSuccess ({before} vs. 0)",
    "Caffe2": "RuntimeError: [enforce fail at blob.cu:12] error == cudaSuccess. {number} vs 0."
    " Error at: /src/blob.cu:12: {text}",
    "MXNet": "mxnet.base.MXNetError: [10:11:12] src/a.h:31: Check failed: e == cudaSuccess"
    " ({before} vs. 0) : CUDA: {text}",
    "MXNet's kernels": "Check failed: err == cudaSuccess: Name: plan_kernel ErrStr:{text}",
    "CuPy": "cupy_backends.cuda.api.runtime.CUDARuntimeError: {name}: {text}",
    "PyCUDA": "pycuda._driver.LogicError: cuCtxCreate failed: {text}",
    "Numba": "CudaAPIError: [{number}] Call to cuMemcpyDtoH results in {driver}",
    "driver": "cuda_driver.cc:99] failed call to cuInit: {driver}: {text}",
    "JAX": "JaxRuntimeError: INTERNAL: jaxlib/gpu/a.cc:33: operation gpuGetLastError() failed:"
    " {text}",
    "Theano": "RuntimeError: Cuda error: kernel_sum_m3: {text}. (grid: 1 x 1; block: 8 x 1 x 1)",
    "darknet": "CUDA Error: {text}: Resource temporarily unavailable",
    "Paddle": "ExternalError: Cuda error({number}), {text}.",
    "Kaldi": 'ERROR (tool[5.5]:f():cu.cc:9) cudaError_t {number} : "{text}" returned from'
    " 'cudaMemset(p)'",
    "Marian": "Error: CUDA error {number} '{text}' - /src/device.cu:38: cudaMemset(p)",
    "helper_cuda.h": 'CUDA error at a.cu:18 code={number}({name}) "cudaMemset(p)"',
    "Thrust": "  what():  parallel_for failed: {name}: {text}",
    "GPUassert": "GPUassert: {text} a.cu 18",
    "CNTK": "CUDA failure {number}: {text} ; GPU=0 ; hostname=n1 ; expr=cudaMemset(p)",
    "own": "engine 3 gave up: cuda status {name}",
}


def wrapped(status: Status) -> Iterator[tuple[str, str]]:
    """The status in each wrapper that can print it."""
    for wrapper, form in WRAPPERS.items():
        if status.driver or "{driver}" not in form:
            yield wrapper, form.format(**status._asdict())


LIBRARY_WRAPPERS: Final = (
    "F0302 10:11:12.131415  77 math.cu:28] Check failed: status == 0 (4 vs. 0)  {name}",
    "ExternalError: LIBRARY error(4), {name}.",
    "engine 3 gave up: {name}",
)
LIBRARIES: Final = [
    ("CUBLAS_STATUS_EXECUTION_FAILED", "cuda.cublas"),
    ("CUBLAS_STATUS_LICENSE_ERROR", "cuda.cublas"),
    ("CUBLAS_STATUS_ALLOC_FAILED", "memory.cuda-oom"),
    ("CUDNN_STATUS_MAPPING_ERROR", "cuda.cudnn"),
    ("CUDNN_STATUS_EXECUTION_FAILED", "cuda.cudnn"),
    ("CUSOLVER_STATUS_INTERNAL_ERROR", "cuda.cublas"),
    ("CUSPARSE_STATUS_NOT_INITIALIZED", "cuda.cublas"),
    ("CUFFT_INTERNAL_ERROR", "cuda.cublas"),
    ("CUFFT_ALLOC_FAILED", "memory.cuda-oom"),
    ("CURAND_STATUS_INITIALIZATION_FAILED", "cuda.cublas"),
    ("CURAND_STATUS_ALLOCATION_FAILED", "memory.cuda-oom"),
    ("CURAND_STATUS_LAUNCH_FAILURE", "cuda.launch-failure"),
    ("HIPFFT_PARSE_ERROR", "cuda.cublas"),
    ("rocblas_status_internal_error", "cuda.cublas"),
    ("miopenStatusUnknownError", "cuda.cudnn"),
    ("miopenStatusAllocFailed", "memory.cuda-oom"),
    ("ncclInvalidUsage", "distributed.nccl-init"),
    ("ncclInternalError", "distributed.nccl-init"),
    ("ncclSystemError", "distributed.nccl-network"),
    ("hipErrorIllegalAddress", "cuda.illegal-memory-access"),
    ("hipErrorOutOfMemory", "memory.cuda-oom"),
    ("HSA_STATUS_ERROR_INVALID_ISA", "cuda.no-kernel-image"),
    ("HCCL_E_TIMEOUT", "distributed.nccl-timeout"),
    ("ACL_ERROR_RT_AICORE_EXCEPTION", "cuda.launch-failure"),
    ("synOutOfDeviceMemory", "memory.cuda-oom"),
    ("synNoDeviceFound", "cuda.not-available"),
]
LINES: Final = [
    ("InvalidArgumentError: required broadcastable shapes [Op:SubV2]", "code.shape-mismatch"),
    (
        "InvalidArgumentError: Input to reshape is a tensor with 9 values, but the requested shape"
        " has 8",
        "code.shape-mismatch",
    ),
    (
        "InvalidArgumentError: indices[0,4] = 90 is not in [0, 90) [Op:ResourceGather]",
        "cuda.device-side-assert",
    ),
    (
        "InvalidArgumentError: Feature: w (data type: float) is required but could not be found.",
        "data.schema",
    ),
    (
        "InvalidArgumentError: Unknown image file format. One of JPEG, PNG, GIF, BMP required.",
        "data.decode",
    ),
    ("NotFoundError: Key fc/bias/Adam_1 not found in checkpoint", "checkpoint.key-mismatch"),
    ("NotFoundError: d/a.rec; No such file or directory [Op:IteratorGetNext]", "data.missing-file"),
    (
        "DataLossError: Unable to open table file m: Data loss: not an sstable (bad magic number)",
        "checkpoint.corrupt",
    ),
    (
        "OutOfRangeError: FIFOQueue '_2_q' is closed and has insufficient elements (requested 4,"
        " current size 0)",
        "data.exhausted",
    ),
    (
        "FailedPreconditionError: Attempting to use uninitialized value fc/bias",
        "code.user-exception",
    ),
    ("InternalError: Blas xGEMV launch failed : a.shape=[1,2], b.shape=[2,1]", "cuda.cublas"),
    ("InternalError: GPU sync failed", "cuda.launch-failure"),
    ("UnknownError: Fail to find the dnn implementation. [Op:CudnnRNN]", "cuda.cudnn"),
    (
        "node w was explicitly assigned to /device:GPU:0 but available devices are"
        " [ /device:CPU:0 ]",
        "cuda.not-available",
    ),
    ("ValueError: Data cardinality is ambiguous:", "code.shape-mismatch"),
    ("ValueError: No gradients provided for any variable.", "code.autograd-no-grad"),
    (
        "F0302 10:11:12.131415  77 pool.cpp:33] Check failed: bottom[0]->count() == top[0]->count()"
        " (12 vs. 14) ",
        "code.shape-mismatch",
    ),
    (
        "F0302 10:11:12.131415  77 common.cpp:66] Cannot use GPU in CPU-only Caffe: check mode.",
        "cuda.not-available",
    ),
    ("src/recordio.cc:65: Check failed: p[0] == RecordIOWriter::kMagic ", "data.decode"),
    (
        "ValueError: (InvalidArgument) Input(X) and Input(Y) shall have the same shape. But"
        " received: the shape of Input(X) is [2], the shape of Input(Y) is [3].",
        "code.shape-mismatch",
    ),
    (
        "TypeError: incompatible array types are mixed in the forward input (Convolution).",
        "code.device-mismatch",
    ),
    (
        "MemoryError: Error allocating 8192 bytes of device memory (out of memory).",
        "memory.cuda-oom",
    ),
    (
        "Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)",
        "cuda.launch-failure",
    ),
    ("aclrtSynchronizeStream failed, errorCode = 507015", "cuda.launch-failure"),
    ("nvrtc: error: invalid value for --gpu-architecture (-arch)", "cuda.no-kernel-image"),
    ("RuntimeError: synStatus=26 [Generic failure] Device acquire failed.", "cuda.not-available"),
]
SILENT: Final = (
    "CUDA 11.2 driver 460, 2 GPUs",
    "cudaSuccess (0 vs. 0)",
    "CUDA runtime 700 ms, driver 35 ms",
    "INFO: cuda graphs are off, misaligned address ranges are merged",
    "rocblas_status_success",
    "ncclSuccess after 3 retries",
)
