"""causal_conv1d_cuda, the extension module of the package causal_conv1d: the same functions, of this package."""

from ._conv_calls import causal_conv1d_bwd, causal_conv1d_fwd
from ._conv_calls import causal_conv1d_update_into as causal_conv1d_update

__all__ = ["causal_conv1d_bwd", "causal_conv1d_fwd", "causal_conv1d_update"]
