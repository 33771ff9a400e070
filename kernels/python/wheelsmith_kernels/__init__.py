"""Attention, causal convolution and the selective scan for every torch and Python, for GPUs of compute capability 7.5
and newer.

attention() takes a call to flash_attn, to this package's kernels or to torch's own; pack() and unpack()
turn padded batches into packed rows; attn_implementation() and patch() are for transformers; causal_conv1d_fn()
and causal_conv1d_update() are called like those of causal_conv1d; selective_scan_fn(), selective_state_update()
and mamba_inner_fn() like those of mamba_ssm. torch is imported with the first of them, or where
WHEELSMITH_SHIMS=1 asks for extension modules of other packages (_shims.py).
"""

from ._shims import install as _install_shims

__version__ = "0.3.0"

_WHERE = {
    "attention": "_attention",
    "choose": "_attention",
    "select_blocks": "_attention",
    "pack": "_sequences",
    "unpack": "_sequences",
    "attn_implementation": "_transformers",
    "patch": "_transformers",
    "register": "_transformers",
    "kernel_calls": "_transformers",
    "health": "_health",
    "KernelError": "_native",
    "selective_scan_fn": "_scan",
    "selective_state_update": "_scan",
    "mamba_inner_fn": "_mamba_inner",
    "causal_conv1d_fn": "_conv",
    "causal_conv1d_update": "_conv",
}
__all__ = sorted(_WHERE)


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module("." + _WHERE[name], __name__), name)
    return found  # next time it is found without this function


_install_shims()
