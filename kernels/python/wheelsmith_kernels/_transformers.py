"""transformers' attention interface: one name, registered with a function and a mask.

The function gets [batch, heads, rows, head_dim] and, where there is padding, a mask [batch, keys] of ones
and zeros, left or right; it packs what counts. Parameters are not touched: a model in 4 bits stays so.
"""

import torch

from . import _dispatch, _ops
from ._dispatch import attention
from ._sequences import pack, unpack

NAME = "wheelsmith_kernels"


def _padded(q, k, v, mask, words):
    """Packs the keys by the mask, and the queries by its end: they are the last rows."""
    batch, rows, keys = q.shape[0], q.shape[1], k.shape[1]
    mask = mask[:, :keys].bool()
    k_rows, indices_k, cu_k, max_k = pack(k, mask)
    v_rows = v.flatten(0, 1).index_select(0, indices_k)
    q_mask = mask[:, keys - rows :] if rows > 1 else mask.new_ones(batch, 1)
    q_rows, indices_q, cu_q, max_q = pack(q, q_mask)
    o = attention(
        q_rows,
        k_rows,
        v_rows,
        cu_seqlens_q=cu_q,
        cu_seqlens_k=cu_k,
        max_seqlen_q=max(max_q, 1),
        max_seqlen_k=max(max_k, 1),
        **words,
    )
    return unpack(o, indices_q, batch, rows)


def forward(
    module,
    query,
    key,
    value,
    attention_mask,
    scaling=None,
    dropout=0.0,
    sliding_window=None,
    is_causal=None,
    **_,
):
    """What a model's layer calls; returns [batch, rows, heads, head_dim] and no weights."""
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    window = (sliding_window - 1 if sliding_window else -1, 0 if causal else -1)
    words = {"window": window, "scale": scaling, "dropout_p": dropout if module.training else 0.0}
    module._wheelsmith_calls = getattr(module, "_wheelsmith_calls", 0) + 1
    if attention_mask is not None:
        return _padded(q, k, v, attention_mask, words), None
    return attention(q, k, v, **words), None


def register():
    """Makes NAME known to transformers; again does nothing new."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, flash_attention_mask

    AttentionInterface.register(NAME, forward)
    AttentionMaskInterface.register(NAME, flash_attention_mask)
    return NAME


def attn_implementation(head_dim=80, dtype=torch.float16):
    """The name for from_pretrained(attn_implementation=…): "flash_attention_2", "wheelsmith_kernels" or "sdpa".

    flash_attn's where it runs on the current device for this head dimension and dtype, dense and packed; ours,
    which is registered then, where it runs; else torch's. Needs transformers for the second alone.
    """
    if not torch.cuda.is_available():
        return "sdpa"
    device = torch.device("cuda", torch.cuda.current_device())
    packed, dense = (_dispatch.flash_problem(device, dtype, head_dim, p) for p in (True, False))
    if not packed and not dense:
        return "flash_attention_2"
    return "sdpa" if _dispatch.wsk_problem(device, dtype, head_dim) else register()


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
    return dict(_ops.calls)
