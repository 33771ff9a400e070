"""Padded batches to packed rows and back; autograd goes through both."""

import torch


def pack(x, mask):
    """(rows, indices, cu_seqlens, longest) of x [batch, rows, …] where mask [batch, rows] is true.

    cu_seqlens is int32 on x's device, as attention() takes it; unpack() takes indices.
    """
    mask = mask.bool()
    lengths = mask.sum(1, dtype=torch.int32)
    indices = mask.flatten().nonzero().flatten()
    cu_seqlens = torch.nn.functional.pad(lengths.cumsum(0, dtype=torch.int32), (1, 0))
    rows = x.flatten(0, 1).index_select(0, indices)
    return rows, indices, cu_seqlens, int(lengths.max()) if lengths.numel() else 0


def unpack(rows, indices, batch, length):
    """x [batch, length, …] of what pack() made; padding is 0."""
    whole = rows.new_zeros((batch * length,) + rows.shape[1:])
    return whole.index_copy(0, indices, rows).unflatten(0, (batch, length))
