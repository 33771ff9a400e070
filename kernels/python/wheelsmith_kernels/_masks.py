"""transformers' masks as the kernels have them: where each sequence starts and ends, on the device.

A layout is int32 [batch, keys]: 0 where a key does not count, 2 + i where query i of this call stands, KEY where none
does. It is still a mask of what counts: transformers hands its masks to itself once more. From it come the starts and
ends that attention() takes, without waiting for the device, once for all layers. A sequence that is padded in its
middle has none: it is packed.
"""

import typing

import torch

from ._native import NotSupported, refuse

KEY, QUERY = -1, 2

#: Mask functions of transformers whose masks the kernels' windows can express.
_KNOWN = (
    "causal_mask_function",
    "bidirectional_mask_function",
    "sliding_window_overlay",
    "sliding_window_bidirectional_overlay",
    "packed_sequence_mask_function",  # attention gets these through their positions
    "and_masks",
)


class Places(typing.NamedTuple):
    """For each sequence, int32 [batch]: the first valid row and the row after the last one, in q and in k."""

    start_q: typing.Any
    used_q: typing.Any
    start_k: typing.Any
    used_k: typing.Any
    holes: typing.Any  # bool, or a bool tensor [batch] where the device cannot be waited for


def can_wait():
    """May the device be asked for a number just now?"""
    return not (torch.compiler.is_compiling() or torch.cuda.is_current_stream_capturing())


def _names(function):
    """Yields the names of a mask function and of its parts."""
    yield function.__qualname__.split(".")[0]
    for cell in function.__closure__ or ():
        found = cell.cell_contents
        for inner in found if isinstance(found, tuple) else (found,):
            if callable(inner) and hasattr(inner, "__qualname__"):
                yield from _names(inner)


def _refuse_unknown(mask_function, use_vmap, in_chunks):
    """use_vmap: transformers' word for functions of a user. A compiler names the outermost function, and no more."""
    if torch.compiler.is_compiling():
        name = mask_function.__name__
        unknown = [] if name in _KNOWN or name == "and_mask" else [name]
        unknown += ["chunked_overlay"] if in_chunks else []
    else:
        unknown = [name for name in _names(mask_function) if name not in _KNOWN]
    if use_vmap or unknown:
        raise NotSupported("no kernel for this mask", "mask_function", f"causal or a window, not {unknown or 'one of your own'}")


def make(
    batch_size,
    q_length=None,
    kv_length=None,
    q_offset=0,
    kv_offset=0,
    mask_function=None,
    attention_mask=None,
    cache_position=None,
    use_vmap=False,
    device=None,
    local_size=None,
    config=None,
    **_,
):
    """The mask function that transformers calls (see above); returns None if every key counts and the queries are the
    last rows."""
    if mask_function is not None:
        in_chunks = local_size is not None and local_size == getattr(config, "attention_chunk_size", None)
        _refuse_unknown(mask_function, use_vmap, in_chunks)
    if cache_position is not None:  # transformers 4
        q_length, q_offset, device = cache_position.shape[0], cache_position[0], cache_position.device
    end, rows = q_offset + q_length - kv_offset, q_length
    if getattr(mask_function, "__name__", None) == "bidirectional_mask_function":
        end, q_length = kv_length, 0  # where queries stand says nothing
    at_end = isinstance(end, int) and end == kv_length
    if attention_mask is None and at_end:
        return None
    device = attention_mask.device if attention_mask is not None else device
    seen = (torch.arange(kv_length, device=device) < end).expand(batch_size, kv_length)
    if attention_mask is not None:
        given = attention_mask[:, kv_offset : kv_offset + kv_length].ne(0)
        given = torch.nn.functional.pad(given, (0, kv_length - given.shape[1]))
        if at_end and can_wait() and given.all():
            return None
        seen = seen & given
    found = _layout(seen, end - q_length, q_length)
    if not torch.compiler.is_compiling():
        found._wsk_layout = True
        places(found, rows, kv_length)
    return found


def _layout(seen, first, rows):
    """The layout for valid keys, bool [batch, keys], where the first query is at key `first`."""
    row = torch.arange(seen.shape[1], device=seen.device, dtype=torch.int32) - first
    return torch.where(seen, torch.where((row >= 0) & (row < rows), row + QUERY, KEY), 0).to(torch.int32)


def _of(mask, rows, keys):
    """The layout of a mask that may be one of ones and zeros, whose last columns are those of the queries."""
    seen = mask.ne(0)[:, -keys:]
    found = _layout(seen, seen.shape[1] - rows, rows)
    if mask.dtype == torch.int32:  # a layout has no ones
        found = torch.where((mask == 1).any(), found, mask[:, -keys:])
    return torch.nn.functional.pad(found, (0, keys - found.shape[1]))


def _bounds(seen):
    """First and behind the last that is true of each row [batch, n], both 0 where none is; and does one lie between?"""
    n = seen.shape[1]
    columns = torch.arange(n, device=seen.device, dtype=torch.int32)
    first = torch.where(seen, columns, n).amin(1)
    end = torch.where(seen, columns + 1, 0).amax(1)
    first = torch.minimum(first, end).to(torch.int32)
    return first, end.to(torch.int32), seen.sum(1) != end - first


def _places(layout, rows):
    keys = layout.shape[1]
    start_k, used_k, holes = _bounds(layout != 0)
    columns = torch.arange(keys, device=layout.device, dtype=torch.int32)
    first = torch.where(layout >= QUERY, columns - layout + QUERY, keys).amin(1)
    start_q, used_q = ((x - first).clamp(0, rows).to(torch.int32) for x in (start_k, used_k))
    return Places(torch.minimum(start_q, used_q), used_q, start_k, used_k, bool(holes.any()) if can_wait() else holes)


def places(mask, rows, keys):
    """Places of a mask [batch, columns] for so many queries and keys; remembered beside the mask, for each layer."""
    if mask.dim() != 2:
        refuse("attention_mask", f"[batch, keys] of ones and zeros, not of {mask.dim()} dimensions")
    if torch.compiler.is_compiling():
        return _places(_of(mask, rows, keys), rows)
    # A result found inside a CUDA graph is valid in that graph only, and no other result is valid there.
    version = _version(mask)
    key = version, rows, keys, can_wait()
    known = getattr(mask, "_wsk_places", None)
    if version is None or known is None or known[0] != key:
        known = mask._wsk_places = key, _places(_of(mask, rows, keys), rows)
    return known[1]


def _version(t):
    """A number that changes with the contents, or None where it is unavailable: foreign tensors made under
    inference_mode."""
    if not t.is_inference():
        return t._version
    return 0 if getattr(t, "_wsk_layout", False) else None


def kept(mask, rows, keys):
    """(queries, keys), bool [batch, rows] and [batch, keys]: the valid ones, also for masks with holes in the
    middle."""
    layout = _of(mask, rows, keys)
    if mask.shape[1] < rows:
        refuse("attention_mask", "of as many columns as there are queries, where it has holes")
    sequence, column = (layout >= QUERY).nonzero(as_tuple=True)
    queries = layout.new_zeros(layout.shape[0], rows, dtype=torch.bool)
    queries[sequence, layout[sequence, column] - QUERY] = True
    return queries, layout != 0


def sequence_ends(position_ids, rows):
    """(cu_seqlens, longest) of documents behind one another, by positions that start again; None where none does.

    [batch, rows], each a row of documents. Remembered beside the positions.
    """
    if position_ids is None or position_ids.dim() != 2 or position_ids.shape[1] != rows or rows == 1:
        return None
    version = _version(position_ids)
    known = getattr(position_ids, "_wsk_ends", None)
    if version is None or known is None or known[0] != version:
        starts = torch.ones_like(position_ids, dtype=torch.bool)
        starts[:, 1:] = position_ids.diff() != 1
        starts = starts.flatten().nonzero().flatten()
        found = None
        if len(starts) > len(position_ids):
            ends = torch.nn.functional.pad(starts, (0, 1), value=position_ids.numel()).to(torch.int32)
            found = ends, int(ends.diff().max())
        known = position_ids._wsk_ends = version, found
    return known[1]


def starts_again(position_ids, rows):
    """Bool tensor: does sequence_ends() find documents? For where the device cannot be waited for; None: it cannot."""
    if position_ids is None or position_ids.dim() != 2 or position_ids.shape[1] != rows or rows == 1:
        return None
    return (position_ids.diff() != 1).any()
