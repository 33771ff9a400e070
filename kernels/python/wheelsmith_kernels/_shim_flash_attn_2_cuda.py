"""flash_attn_2_cuda, the extension module of the package flash_attn: the same functions, of this package."""

from ._flash import bwd, fwd, fwd_kvcache, varlen_bwd, varlen_fwd

#: So that attention() knows whose kernels flash_attn has.
wheelsmith = True

__all__ = ["bwd", "fwd", "fwd_kvcache", "varlen_bwd", "varlen_fwd"]
