"""torch's scaled_dot_product_attention for what has no kernel here, by the backend of it that is fast."""

import torch

from ._native import refuse

_HAS_GQA = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 5)


def _mask(m, n, used, starts, left, right, device):
    """[batch or 1, 1, m, n]: who sees whom, aligned at the bottom right of what is used."""
    ends = [torch.tensor([c], device=device) if u is None else u.long().clamp(0, c) for u, c in zip(used, (m, n))]
    firsts = [torch.zeros_like(e) if f is None else torch.minimum(f.long().clamp(min=0), e) for f, e in zip(starts, ends)]
    rows, keys = torch.arange(m, device=device)[None, :, None], torch.arange(n, device=device)[None, None, :]
    (end_q, end_k), (first_q, first_k) = ([x[:, None, None] for x in pair] for pair in (ends, firsts))
    i = rows + end_k - end_q
    seen = (keys < end_k) & (keys >= first_k) & (rows < end_q) & (rows >= first_q)
    if left >= 0:
        seen = seen & (keys >= i - left)
    if right >= 0:
        seen = seen & (keys <= i + right)
    return seen[:, None]


def _takes_groups(q, k, v, words):
    """Does SDPA take K and V of fewer heads with something better than MATH, which is slower than copies?"""
    if not _HAS_GQA or q.device.type != "cuda":
        return _HAS_GQA
    try:
        what = torch.backends.cuda.SDPAParams(
            q, k, v, words.get("attn_mask"), words["dropout_p"], words.get("is_causal", False), True
        )
        return torch.backends.cuda.can_use_flash_attention(what)
    except (AttributeError, TypeError):  # of another torch
        return False


def sdpa(q, k, v, used, starts, dropout, scale, left, right):
    """o [batch, rows, heads, head_dim] of the same. used, starts: of q and of k. Rows that see no key are 0.

    K and V are expanded where SDPA would else compute by its reference, MATH.
    """
    attend = torch.nn.functional.scaled_dot_product_attention
    m, n, heads, heads_k = q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    if heads_k == 0 or heads % heads_k:
        refuse("q", "of a number of heads that is a multiple of k's")
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    plain = all(t is None for t in (*used, *starts)) and left < 0
    words, seen = {"dropout_p": dropout, "scale": scale}, None
    if plain and right < 0:
        pass
    elif plain and right == 0 and m == n:
        words["is_causal"] = True
    else:
        seen = _mask(m, n, used, starts, left, right, q.device)
        words["attn_mask"] = seen | ~seen.any(-1, keepdim=True)
    if heads == heads_k:
        o = attend(q, k, v, **words)
    elif _takes_groups(q, k, v, words):
        o = attend(q, k, v, enable_gqa=True, **words)
    else:
        o = attend(q, *(t.repeat_interleave(heads // heads_k, 1) for t in (k, v)), **words)
    o = o.transpose(1, 2)
    return o if seen is None else torch.where(seen.any(-1).transpose(1, 2)[..., None], o, torch.zeros_like(o))


def sdpa_packed(q, k, v, cu_q, cu_k, dropout, scale, left, right):
    """One sequence after the other: the lengths are read from the device. Rows of none are 0."""
    ends_q, ends_k, parts, at = cu_q.tolist(), cu_k.tolist(), [], 0
    nothing = lambda rows: q.new_zeros(rows, q.shape[1], v.shape[-1])
    for a, b, c, d in zip(ends_q, ends_q[1:], ends_k, ends_k[1:]):
        if b > a:
            of = (t[None, part] for t, part in ((q, slice(a, b)), (k, slice(c, d)), (v, slice(c, d))))
            parts += nothing(a - at), sdpa(*of, (None, None), (None, None), dropout, scale, left, right)[0]
            at = b
    return torch.cat([*parts, nothing(q.shape[0] - at)])
