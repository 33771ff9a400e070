"""transformers' attention interface: one name, registered with a function and a mask.

The function gets [batch, heads, rows, head_dim] and what a model says of its attention; each keyword becomes one of
attention()'s, or is an error that names it. Parameters are not touched: a model in 4 bits stays so.
"""

import torch

from . import _attention_ops, _choose, _masks
from ._attention import attention
from ._native import NotSupported, refuse
from ._sequences import pack, unpack

NAME = "wheelsmith_kernels"

#: Keywords that models pass on and that do not concern attention.
_OF_OTHERS = frozenset((
    "cache_position", "deterministic", "labels", "layer_idx", "logits_to_keep", "num_items_in_batch",
    "output_hidden_states", "output_router_logits", "past_key_value", "past_key_values", "position_embeddings",
    "return_dict", "target_dtype", "use_cache",
))  # fmt: skip


def _refuse_others(words, packed):
    """seq_idx repeats the ends of packed rows for other kinds of layers."""
    for name, value in words.items():
        if value is not None and value is not False and name not in _OF_OTHERS and not (packed and name == "seq_idx"):
            raise NotSupported("no kernel for this", name, "None")


def _half(module, dtype):
    """The type that a model computes in where its rows came out float32, as after norms that are kept so."""
    config = getattr(module, "config", None)
    named = getattr(config, "dtype", None) or getattr(config, "torch_dtype", None)
    weights = (p.dtype for p in module.parameters(recurse=True))
    halves = (torch.float16, torch.bfloat16)
    return next((d for d in (named, *weights) if d in halves), dtype)


def _cast(module, *tensors):
    if tensors[0].dtype != torch.float32 or torch.is_autocast_enabled(tensors[0].device.type):
        return tensors
    dtype = _half(module, torch.float32)
    return tuple(t.to(dtype) for t in tensors)


def _with_holes(q, k, v, mask, words):
    """Keys that count lie apart: they are packed, and the queries that count."""
    batch, rows, keys = q.shape[0], q.shape[1], k.shape[1]
    if words["window"][0] >= 0:
        raise NotSupported("no kernel for this", "attention_mask", "without holes where there is a window")
    q_mask, k_mask = _masks.kept(mask, rows, keys)
    k_rows, indices_k, cu_k, max_k = pack(k, k_mask)
    v_rows = v.flatten(0, 1).index_select(0, indices_k)
    q_rows, indices_q, cu_q, max_q = pack(q, q_mask)
    longest = {"max_seqlen_q": max(max_q, 1), "max_seqlen_k": max(max_k, 1)}
    o = attention(q_rows, k_rows, v_rows, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, **longest, **words)
    return unpack(o, indices_q, batch, rows)


def _padded(q, k, v, mask, words):
    """By where each sequence starts and ends. A query of none is 0, but where it sees every key of its sequence."""
    at = _masks.places(mask, q.shape[1], k.shape[1])
    everywhere = words["window"] == (-1, -1)
    if at.holes is True:
        return _with_holes(q, k, v, mask, words)
    ends = {"seqstart_k": at.start_k, "seqused_k": at.used_k}
    if not everywhere:
        ends.update(seqstart_q=at.start_q, seqused_q=at.used_q)
    o = attention(q, k, v, **ends, **words)
    return o if at.holes is False else o.masked_fill(at.holes[:, None, None, None], float("nan"))


def _packed(q, k, v, ends_q, ends_k, longest_q, longest_k, words):
    """Documents behind one another, whatever the batch is."""
    flat = (t.reshape(-1, *t.shape[2:]) for t in (q, k, v))
    ends = {"cu_seqlens_q": ends_q.to(torch.int32), "cu_seqlens_k": ends_k.to(torch.int32)}
    longest = {"max_seqlen_q": int(longest_q), "max_seqlen_k": int(longest_k)}
    return attention(*flat, **ends, **longest, **words).view(q.shape)


def forward(
    module,
    query,
    key,
    value,
    attention_mask,
    scaling=None,
    dropout=0.0,
    sliding_window=None,
    softcap=None,
    s_aux=None,
    is_causal=None,
    position_ids=None,
    cu_seq_lens_q=None,
    cu_seq_lens_k=None,
    max_length_q=None,
    max_length_k=None,
    **others,
):
    """The function that a model's layer calls; returns [batch, rows, heads, head_dim] and no weights.

    Where the device cannot be waited for (a compiler, a CUDA graph), a mask with holes and positions that start
    again give NaN. KernelError names a keyword that nothing here has.
    """
    _refuse_others(others, cu_seq_lens_q is not None)
    q, k, v = (t.transpose(1, 2) for t in _cast(module, query, key, value))
    if scaling is None:
        scaling = q.shape[-1] ** -0.5
    columns = v.shape[-1]
    q, k, v = _as_wide(q, k, v)
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    beside = sliding_window - 1 if sliding_window else -1
    words = {"window": (beside, 0 if causal else beside), "scale": scaling, "dropout_p": dropout}
    words.update(softcap=softcap or 0.0, sinks=s_aux)
    o = _attend(q, k, v, attention_mask, position_ids, (cu_seq_lens_q, cu_seq_lens_k, max_length_q, max_length_k), words)
    return o[..., :columns] if columns != q.shape[-1] else o, None


def _as_wide(q, k, v):
    """Gives q, k and v the larger of two head dimensions if keys and values differ: columns of 0 change no score."""
    more = v.shape[-1] - q.shape[-1]
    if more < 0:
        return q, k, torch.nn.functional.pad(v, (0, -more))
    if more > 0:
        return torch.nn.functional.pad(q, (0, more)), torch.nn.functional.pad(k, (0, more)), v
    return q, k, v


def _attend(q, k, v, mask, position_ids, ends, words):
    if any(e is not None for e in ends[:2]):
        if mask is not None:
            refuse("attention_mask", "None where there are cu_seq_lens_q")
        if ends[0] is None or ends[1] is None:
            refuse("cu_seq_lens_k", "given together with cu_seq_lens_q")
        longest = ends[2] or q.shape[0] * q.shape[1], ends[3] or k.shape[0] * k.shape[1]
        return _packed(q, k, v, *ends[:2], *longest, words)
    if mask is not None:
        return _padded(q, k, v, mask, words)
    if q.shape[1] != k.shape[1]:
        return attention(q, k, v, **words)
    if not _masks.can_wait():
        again = _masks.starts_again(position_ids, q.shape[1])
        o = attention(q, k, v, **words)
        return o if again is None else o.masked_fill(again, float("nan"))
    documents = _masks.sequence_ends(position_ids, q.shape[1])
    if documents is None:
        return attention(q, k, v, **words)
    return _packed(q, k, v, documents[0], documents[0], documents[1], documents[1], words)


def register():
    """Makes NAME known to transformers; again does nothing new."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, forward)
    AttentionMaskInterface.register(NAME, _masks.make)
    return NAME


def attn_implementation(head_dim=80, dtype=torch.float16):
    """The name for from_pretrained(attn_implementation=…): "flash_attention_2", "wheelsmith_kernels" or "sdpa".

    flash_attn's where it runs on the current device for this head dimension and dtype, dense and packed; ours,
    which is registered then, where it runs; else torch's. Needs transformers for the second alone.
    """
    if not torch.cuda.is_available():
        return "sdpa"
    device = torch.device("cuda", torch.cuda.current_device())
    packed, dense = (_choose.flash_problem(device, dtype, head_dim, p) for p in (True, False))
    if not packed and not dense:
        return "flash_attention_2"
    return "sdpa" if _choose.wsk_problem(device, dtype, head_dim) else register()


def _layers(model):
    """Modules that transformers' attention interface serves: they know their heads."""
    for name, module in model.named_modules():
        if type(module).__name__.endswith("Attention") and hasattr(module, "head_dim"):
            yield name, module


def patch(model):
    """Sends the attention of a transformers model through attention(), and tells of what.

    Parameters stay the same objects. Returns {"layers", "patched", "heads", "kv_heads", "head_dim",
    "attn"}; raises where a model has no layer that the interface serves.
    """
    register()
    before = {name: p.data_ptr() for name, p in model.named_parameters()}
    model.set_attn_implementation(NAME)
    layers = list(_layers(model))
    if not layers:
        raise ValueError("this model has no attention layer that transformers' interface serves")
    patched = [m for _, m in layers if getattr(m.config, "_attn_implementation", None) == NAME]
    after = {name: p.data_ptr() for name, p in model.named_parameters()}
    if before != after:
        raise RuntimeError("parameters were replaced")
    config = layers[0][1].config
    heads = config.num_attention_heads
    return {
        "attn": NAME,
        "layers": len(layers),
        "patched": len(patched),
        "heads": heads,
        "kv_heads": getattr(config, "num_key_value_heads", None) or heads,
        "head_dim": layers[0][1].head_dim,
    }


def kernel_calls():
    """{operator: number}: how often a kernel of this package was launched in this process; a copy."""
    return dict(_attention_ops.calls)
