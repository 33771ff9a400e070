"""selective_scan_cuda, the extension module of the package mamba_ssm: the same functions, of this package."""

from ._scan import bwd, fwd

__all__ = ["bwd", "fwd"]
