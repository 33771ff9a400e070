"""The extension module of flash_attn, by these kernels: fwd, varlen_fwd, bwd, varlen_bwd and fwd_kvcache.

Arguments, results and their layouts are those of flash_attn 2.8.3, whose own Python calls these functions. A feature
that the kernels lack raises a NotImplementedError that names it; a row that sees no key has an lse of -infinity.
"""

import ctypes

import torch

from ._attention_calls import forward_cuda, gradients_cuda, more_of
from ._native import APPEND_IMAGE, KernelError, NotSupported, native, refuse
from ._reference import visible
from ._structs import APPEND
from ._tensors import TYPES, address, is_on_gpu, launch, require_plain

_NOTHING = (None,) * 5
_NO_TENSOR = (0, 0, 0, 0)


def _refuse_alibi(slopes):
    if slopes is not None:
        raise NotSupported("no kernel for this", "alibi_slopes", "None")


def _window(causal, left, right):
    return int(left), 0 if causal else int(right)


def _random(q, dropout, batch, generator=None):
    """Seed and offset of the generator for dropout; backward receives them again. The generator advances as far as with
    upstream's kernels, so the same elements are dropped."""
    if not dropout:
        return torch.empty(2, dtype=torch.int64, device=q.device)
    if generator is None and q.device.type == "cuda":
        generator = torch.cuda.default_generators[q.device.index]
    if not hasattr(generator, "set_offset") or torch.cuda.is_current_stream_capturing():
        return torch.randint(-(1 << 63), (1 << 63) - 1, (2,), device=q.device, generator=generator)
    seed, offset = generator.initial_seed(), generator.get_offset()
    generator.set_offset(offset + batch * q.shape[-2] * 32)
    signed = seed - (seed >> 63 << 64)
    return torch.tensor([signed, offset], dtype=torch.int64).to(q.device, non_blocking=True)


def _round_up(n, of=128):
    return -(-n // of) * of


def _multiply(a, b):
    """High and low half of products of 32 bits, which are in int64."""
    product = a * b
    return product >> 32 & 0xFFFFFFFF, product & 0xFFFFFFFF


def kept(random, sequence, heads, m, n, dropout):
    """[heads, m, n]: which probabilities of a sequence random.cuh keeps. For tests: it takes 100 bytes for each."""
    device = random.device
    i, j = torch.arange(m, device=device)[:, None], torch.arange(n, device=device)[None, :]
    lane = i % 8 * 4 + j % 8 // 2
    head = torch.arange(heads, device=device)[:, None, None] + sequence * heads
    seed, offset = (int(x) & (1 << 64) - 1 for x in random.tolist())
    low = (offset & 0xFFFFFFFF) + head * 32 + lane
    c = [low & 0xFFFFFFFF, (offset >> 32) + (low >> 32) & 0xFFFFFFFF, i // 16, j // 32]
    c = [t.expand(heads, m, n) for t in c]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(7):
        (high0, low0), (high1, low1) = _multiply(c[0], 0xD2511F53), _multiply(c[2], 0xCD9E8D57)
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    word = j // 8 % 4
    bits = sum(torch.where(word == w, c[w], 0) for w in range(4)) >> 8 * (i // 8 % 2 * 2 + j % 2) & 0xFF
    rate = ctypes.c_float(1 - ctypes.c_float(dropout).value).value
    return bits <= int(rate * 255.0)


def _block_of_keys(head_dim):
    """Over how many keys upstream's kernel, with dropout, goes at once."""
    return 128 if head_dim <= 32 else 32 if 96 < head_dim <= 128 else 64


def _probabilities(q, k, scale, left, right, softcap):
    """[heads, m, n]: what S_dmask of one sequence is, without its signs. Upstream goes over blocks of keys from the last to
    the first, and each is relative to the largest score seen until then."""
    group = q.shape[2] // k.shape[2]
    q, k = q[0].float().transpose(0, 1), k[0].float().transpose(0, 1).repeat_interleave(group, 0)
    s = q @ k.transpose(1, 2) * scale
    s = softcap * torch.tanh(s / softcap) if softcap else s
    s = s.masked_fill(~visible(*s.shape[1:], left, right, s.device), float("-inf"))
    n, size = s.shape[2], _block_of_keys(q.shape[-1])
    top = torch.stack([block.amax(-1) for block in s.split(size, -1)], -1)
    top = top.flip(-1).cummax(-1).values.flip(-1).repeat_interleave(size, -1)[..., :n]
    return torch.where(torch.isfinite(top), (s - top).exp(), 0)


def _softmax(q, k, words, random, dropout, ends):
    """S_dmask of all sequences, for tests: by torch, negative where random.cuh drops. ends: of packed ones, (ends of q, ends
    of k, longest q, longest k)."""
    packed = ends is not None
    sizes = ends[2:] if packed else (q.shape[1], k.shape[1])
    batch = len(ends[0]) - 1 if packed else q.shape[0]
    p = torch.zeros(batch, q.shape[-2], *map(_round_up, sizes), dtype=q.dtype, device=q.device)
    for b in range(batch):
        if packed:
            of = q[None, ends[0][b] : ends[0][b + 1]], k[None, ends[1][b] : ends[1][b + 1]]
        else:
            of = q[b : b + 1], k[b : b + 1]
        (_, m, heads, _), n = of[0].shape, of[1].shape[1]
        if m and n:
            p[b, :, :m, :n] = _probabilities(*of, *words)
            p[b, :, :m, :n][~kept(random, b, heads, m, n, dropout)] *= -1
    return p


def _check_softmax(return_softmax, dropout):
    if return_softmax and not dropout > 0:
        raise RuntimeError("return_softmax is only supported when p_dropout > 0.0")


def fwd(
    q, k, v, out, alibi_slopes, p_dropout, softmax_scale, is_causal, window_size_left, window_size_right, softcap,
    return_softmax, gen,
):  # fmt: skip
    """[out, softmax_lse [batch, heads, rows], S_dmask, rng_state] of q [batch, rows, heads, head_dim]."""
    _refuse_alibi(alibi_slopes)
    _check_softmax(return_softmax, p_dropout)
    random, window = _random(q, p_dropout, q.shape[0], gen), _window(is_causal, window_size_left, window_size_right)
    more = more_of(softcap, p_dropout, random if p_dropout else None)
    words = *_NOTHING, 0, 0, softmax_scale, *window
    out, lse = forward_cuda(q, k, v, *words, *more, out=out)
    p = q.new_empty(0)
    if return_softmax:
        p = _softmax(q, k, (softmax_scale, *window, softcap), random, p_dropout, None)
    return [out, lse, p, random]


def varlen_fwd(
    q, k, v, out, cu_seqlens_q, cu_seqlens_k, seqused_k, leftpad_k, block_table, alibi_slopes, max_seqlen_q, max_seqlen_k,
    p_dropout, softmax_scale, zero_tensors, is_causal, window_size_left, window_size_right, softcap, return_softmax, gen,
):  # fmt: skip
    """As fwd, of q [rows, heads, head_dim]; softmax_lse is [heads, rows]. Rows of no sequence are 0."""
    _refuse_alibi(alibi_slopes)
    _check_softmax(return_softmax, p_dropout)
    random, window = _random(q, p_dropout, cu_seqlens_q.numel() - 1, gen), _window(is_causal, window_size_left, window_size_right)
    longest = int(max_seqlen_q), int(max_seqlen_k)
    more = more_of(
        softcap, p_dropout, random if p_dropout else None, seqstart_k=leftpad_k, pages=block_table
    )
    sequences = cu_seqlens_q, cu_seqlens_k, None, seqused_k, None
    out, lse = forward_cuda(q, k, v, *sequences, *longest, softmax_scale, *window, *more, out=out)
    p = q.new_empty(0)
    if return_softmax:
        if seqused_k is not None or leftpad_k is not None or block_table is not None:
            raise NotSupported("no kernel for this", "return_softmax", "false where there are seqused_k, leftpad_k or pages")
        ends = cu_seqlens_q.tolist(), cu_seqlens_k.tolist(), *longest
        p = _softmax(q, k, (softmax_scale, *window, softcap), random, p_dropout, ends)
    return [out, lse, p, random]


def _more_of_backward(softcap, dropout, random):
    if dropout > 0 and random is None:
        refuse("rng_state", "what forward returned, where there is dropout")
    return more_of(softcap, dropout, random if dropout else None)


def bwd(
    dout, q, k, v, out, softmax_lse, dq, dk, dv, alibi_slopes, p_dropout, softmax_scale, is_causal, window_size_left,
    window_size_right, softcap, deterministic, gen, rng_state,
):  # fmt: skip
    """[dq, dk, dv, softmax_d [batch, heads, rows rounded up]]; written into those that are given. Always deterministic."""
    _refuse_alibi(alibi_slopes)
    window = _window(is_causal, window_size_left, window_size_right)
    batch, rows, heads, _ = q.shape
    softmax_d = torch.empty(batch, heads, _round_up(rows), dtype=torch.float32, device=q.device)
    grads = gradients_cuda(
        dout, None, q, k, v, out, softmax_lse, _NOTHING, 0, 0, softmax_scale, *window,
        _more_of_backward(softcap, p_dropout, rng_state), (dq, dk, dv), softmax_d[:, :, :rows],
    )  # fmt: skip
    return [*grads[:3], softmax_d]


def varlen_bwd(
    dout, q, k, v, out, softmax_lse, dq, dk, dv, cu_seqlens_q, cu_seqlens_k, alibi_slopes, max_seqlen_q, max_seqlen_k,
    p_dropout, softmax_scale, zero_tensors, is_causal, window_size_left, window_size_right, softcap, deterministic, gen,
    rng_state,
):  # fmt: skip
    """As bwd, of packed sequences; softmax_d is [heads, rows and 128 for each sequence]."""
    _refuse_alibi(alibi_slopes)
    window = _window(is_causal, window_size_left, window_size_right)
    rows, heads, _ = q.shape
    spare = 128 * (cu_seqlens_q.numel() - 1)
    softmax_d = torch.empty(heads, rows + spare, dtype=torch.float32, device=q.device)
    grads = gradients_cuda(
        dout, None, q, k, v, out, softmax_lse, (cu_seqlens_q, cu_seqlens_k, None, None, None), int(max_seqlen_q),
        int(max_seqlen_k), softmax_scale, *window, _more_of_backward(softcap, p_dropout, rng_state), (dq, dk, dv),
        softmax_d[:, :rows],
    )  # fmt: skip
    return [*grads[:3], softmax_d]


# ---- the cache ----


def _like(name, t, shape, q, dtype=None):
    dtype = q.dtype if dtype is None else dtype
    if t.dtype != dtype or t.device != q.device or tuple(t.shape) != tuple(shape):
        refuse(name, f"{dtype} of shape {tuple(shape)} on q's device, not {t.dtype} of {tuple(t.shape)}")


def _tensor(t):
    return _NO_TENSOR if t is None else (t.data_ptr(), *t.stride()[:3])


def _check_turning(q, cos, sin, capacity):
    if (cos is None) != (sin is None):
        refuse("rotary_sin", "given together with rotary_cos")
    if cos is None:
        return
    if cos.dim() != 2 or not cos.is_contiguous() or not sin.is_contiguous():
        refuse("rotary_cos", "[positions, rotary_dim / 2], contiguous, as rotary_sin")
    _like("rotary_cos", cos, cos.shape, q)
    _like("rotary_sin", sin, cos.shape, q)
    if cos.shape[0] < capacity or 2 * cos.shape[1] > q.shape[-1] or cos.shape[1] % 8:
        refuse("rotary_cos", f"of at least {capacity} positions and a rotary_dim that 16 divides, at most head_dim")


def append(q, kcache, vcache, k, v, lengths, cos, sin, entries, pages, interleaved, each_row):
    """Puts k and v into the cache behind `lengths` rows, turned by cos and sin; returns q, turned as well, where there are."""
    batch, rows, heads, d = q.shape
    capacity = kcache.shape[1] * (1 if pages is None else pages.shape[1])
    for name, t in (("k_cache", kcache), ("v_cache", vcache)):
        require_plain(name, t)
    q, k, v = (t.resolve_neg() for t in (q, k, v))
    _like("k", k, (batch, k.shape[1], kcache.shape[2], d), q)
    _like("v", v, k.shape, q)
    _check_turning(q, cos, sin, capacity)
    turned = q if cos is None else torch.empty_like(q, memory_format=torch.contiguous_format)
    if not k.numel() or not kcache.numel():
        if cos is None or not q.numel():
            return turned
    for name, t in (("q", q), ("k", k), ("v", v), ("k_cache", kcache), ("v_cache", vcache)):
        if t.stride(-1) != 1:
            refuse(name, "contiguous in its last dimension")
    native().load(APPEND_IMAGE)
    paged = (0, 0, 0) if pages is None else (max(pages.stride(0), pages.shape[1]), kcache.shape[1], kcache.shape[0])
    packed = APPEND.whole.pack(
        APPEND.size, TYPES[q.dtype], batch, heads, kcache.shape[2], d, rows, k.shape[1], capacity,
        0 if cos is None else 2 * cos.shape[1], 0 if cos is None else cos.shape[0], int(interleaved), int(each_row),
        0 if entries is None else kcache.shape[0], *paged[1:],
        *_tensor(q), *_tensor(None if cos is None else turned), *_tensor(k), *_tensor(v), *_tensor(kcache),
        *_tensor(vcache), lengths.data_ptr(), address(cos), address(sin), address(entries), address(pages), paged[0],
    )  # fmt: skip
    launch("append", packed, q.device.index)
    return turned


def _check_cache(q, kcache, vcache, k, v, seqlens_k, cos, entries, leftpad_k, pages):
    if not is_on_gpu(q) or q.dim() != 4 or q.dtype not in (torch.float16, torch.bfloat16):
        refuse("q", "[batch, rows, heads, head_dim] of float16 or bfloat16 on a CUDA device")
    for name, t in (("k_cache", kcache), ("v_cache", vcache)):
        if t.dim() != 4:
            refuse(name, "[batch, rows, heads, head_dim], or [pages, rows, heads, head_dim]")
        _like(name, t, kcache.shape, q)
    if pages is not None and leftpad_k is not None:
        raise NotSupported("no kernel for this", "leftpad_k", "None where there is a block_table")
    if pages is not None and entries is not None:
        raise NotSupported("no kernel for this", "cache_batch_idx", "None where there is a block_table")
    if (k is None) != (v is None):
        refuse("v", "given together with k")
    if k is not None and seqlens_k is None:
        refuse("cache_seqlens", "given where there are new keys")
    if cos is not None and k is None:
        refuse("rotary_cos", "None where there are no new keys")
    for name, t in (("cache_seqlens", seqlens_k), ("cache_batch_idx", entries), ("cache_leftpad", leftpad_k)):
        if t is not None:
            _like(name, t, q.shape[:1], q, torch.int32)
            if not t.is_contiguous():
                refuse(name, "contiguous")
    if pages is not None and (
        pages.dtype != torch.int32 or pages.device != q.device or pages.dim() != 2 or pages.shape[0] != q.shape[0]
        or pages.stride(1) != 1
    ):  # fmt: skip
        refuse("block_table", f"int32, of shape ({q.shape[0]}, pages), on q's device")


def fwd_kvcache(
    q, kcache, vcache, k, v, seqlens_k, rotary_cos, rotary_sin, cache_batch_idx, leftpad_k, block_table, alibi_slopes, out,
    softmax_scale, is_causal, window_size_left, window_size_right, softcap, is_rotary_interleaved, num_splits,
):  # fmt: skip
    """[out, softmax_lse] of q over a cache, into which k and v go first."""
    _refuse_alibi(alibi_slopes)
    _check_cache(q, kcache, vcache, k, v, seqlens_k, rotary_cos, cache_batch_idx, leftpad_k, block_table)
    d = q.shape[-1]
    if d % 8:
        return _padded(locals(), 8 - d % 8)
    if q.dim() == 4 and d > 256:
        raise NotSupported("no kernel for this", "head_dim", "at most 256")
    window = _window(is_causal, window_size_left, window_size_right)
    if k is not None:
        each_row = window != (-1, -1) if window[0] < 0 and window[1] < 0 else True
        words = rotary_cos, rotary_sin, cache_batch_idx, block_table, is_rotary_interleaved, each_row
        q = append(q, kcache, vcache, k, v, seqlens_k, *words)
        seqlens_k = seqlens_k + k.shape[1]
    more = more_of(softcap, seqstart_k=leftpad_k, entries=cache_batch_idx, pages=block_table)
    parts = None if num_splits < 1 else min(int(num_splits), 256)
    words = None, None, None, seqlens_k, None, 0, 0, softmax_scale, *window
    out, lse = forward_cuda(q, kcache, vcache, *words, *more, parts=parts, out=out)
    return [out, lse]


def _padded(arguments, columns):
    """A head dimension that is not a multiple of 8: the cache is copied, as in upstream."""
    wide = dict(arguments, out=None)
    for name in ("q", "kcache", "vcache", "k", "v"):
        if arguments[name] is not None:
            wide[name] = torch.nn.functional.pad(arguments[name], (0, columns))
    out, lse = fwd_kvcache(**{n: wide[n] for n in fwd_kvcache.__code__.co_varnames[: fwd_kvcache.__code__.co_argcount]})
    d = arguments["q"].shape[-1]
    if arguments["k"] is not None:
        arguments["kcache"].copy_(wide["kcache"][..., :d])
        arguments["vcache"].copy_(wide["vcache"][..., :d])
    if arguments["out"] is not None:
        return [arguments["out"].copy_(out[..., :d]), lse]
    return [out[..., :d], lse]


assert issubclass(NotSupported, (KernelError, NotImplementedError))
