"""Padded batches to packed rows and back; autograd goes through both."""

import torch


def pack(x, mask):
    """(packed, indices, cu_seqlens, longest) of x [batch, rows, …] where mask [batch, rows] is true.

    packed: [total, …] of x's dtype; indices: int64 [total], which row of batch x rows each one was, for unpack();
    cu_seqlens: int32 [batch + 1] on the mask's device, as attention() takes it; longest: a number, for which the
    device is waited for. mask: bool, or numbers of which 0 is padding. Gradients go back to x.
    """
    mask = mask.bool()
    lengths = mask.sum(1, dtype=torch.int32)
    indices = mask.flatten().nonzero().flatten()
    cu_seqlens = torch.nn.functional.pad(lengths.cumsum(0, dtype=torch.int32), (1, 0))
    rows = x.flatten(0, 1).index_select(0, indices)
    return rows, indices, cu_seqlens, int(lengths.max()) if lengths.numel() else 0


def unpack(rows, indices, batch, length):
    """x [batch, length, …] of rows [total, …] and indices [total] that pack() made; padding is 0. With gradients."""
    whole = rows.new_zeros((batch * length,) + rows.shape[1:])
    return whole.index_copy(0, indices, rows).unflatten(0, (batch, length))
