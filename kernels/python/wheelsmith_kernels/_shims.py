"""WHEELSMITH_SHIMS=1: extension modules of other packages, by this one's kernels, for upstream's Python without them.

Only for missing modules: a module that is imported, or can be imported, is not replaced. No file is written.
"""

import importlib
import importlib.util
import os
import sys

#: The module's name, and the one of this package that has its functions.
MODULES = {
    "causal_conv1d_cuda": "_shim_causal_conv1d_cuda",
    "flash_attn_2_cuda": "_shim_flash_attn_2_cuda",
    "selective_scan_cuda": "_shim_selective_scan_cuda",
}


def install():
    """Puts the modules into sys.modules where WHEELSMITH_SHIMS=1 asks for it; returns the names of those it put."""
    if os.environ.get("WHEELSMITH_SHIMS") != "1":
        return []
    found = []
    for name, ours in MODULES.items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            sys.modules[name] = importlib.import_module("." + ours, __package__)
            found.append(name)
    return found
