"""Attention kernels for every torch and Python, from compute capability 7.5 on.

attention() takes a call to flash_attn, to this package's kernels or to torch's own; pack() and unpack()
turn padded batches into packed rows; attn_implementation() and patch() are for transformers. torch is
imported with the first of them.
"""

__version__ = "0.1.0"

_WHERE = {
    "attention": "_dispatch",
    "choose": "_dispatch",
    "select_blocks": "_dispatch",
    "pack": "_sequences",
    "unpack": "_sequences",
    "attn_implementation": "_transformers",
    "patch": "_transformers",
    "register": "_transformers",
    "kernel_calls": "_transformers",
    "health": "_health",
    "KernelError": "_native",
}
__all__ = sorted(_WHERE)


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("." + _WHERE[name], __name__), name)
