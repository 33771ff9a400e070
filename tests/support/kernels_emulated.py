"""wheelsmith_kernels on a host without a GPU: its kernels emulated on the CPU, over torch's tensors of the CPU.

    import kernels_emulated; kernels_emulated.start(FOLDER)

before anything of wheelsmith_kernels is imported. FOLDER is what kernels_emulated.sh made. Everything above the
driver is the package's own; a CUDA device is the CPU here.
"""

import ctypes
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def start(folder):
    folder = str(pathlib.Path(folder).resolve())
    os.environ["WSK_EMULATED_FOLDER"] = folder
    os.environ["WHEELSMITH_KERNELS_LIBRARY"] = folder + "/_wsk.so"
    sys.path[:0] = [str(ROOT / "kernels/python"), str(ROOT / "tests/gpu")]
    import torch

    ctypes.CDLL(folder + "/libcuda.so.1", mode=ctypes.RTLD_GLOBAL)  # found by its name from here on
    torch.cuda.get_device_properties = lambda *_: type("Properties", (), {"multi_processor_count": 8})
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.synchronize = lambda *_: None
    from wheelsmith_kernels import _tensors

    _tensors.is_gpu = lambda device: True
    _tensors.current_device = lambda: None
    _tensors.raw_stream = lambda device: 0
    from wheelsmith_kernels import _attention_ops

    _tensors.current_device()
    for name, function in (("forward", _attention_ops.forward_cuda), ("backward", _attention_ops._backward)):
        _attention_ops._library.impl(name, function, "CPU")
    return torch
