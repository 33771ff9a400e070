"""Attention as models of transformers use it, with small random models: logits and gradients beside its eager ones."""

import types
import unittest
import warnings

import torch
from test_attention import DEVICE

from wheelsmith_kernels import KernelError, _attention_ops, _choose, _transformers, attention, kernel_calls, register
from wheelsmith_kernels._reference import attend, ratio, visible

SIZES = dict(
    vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=256,
    pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip


def decoders():
    import transformers as t

    gemma = dict(SIZES, num_key_value_heads=2, head_dim=64, sliding_window=24)
    return {
        "llama": t.LlamaForCausalLM(t.LlamaConfig(**SIZES, num_key_value_heads=2)),
        "phi": t.PhiForCausalLM(t.PhiConfig(**SIZES, partial_rotary_factor=0.5)),
        "gemma2": t.Gemma2ForCausalLM(t.Gemma2Config(**gemma, attn_logit_softcapping=5.0, query_pre_attn_scalar=4)),
        "gemma3": t.Gemma3ForCausalLM(t.Gemma3TextConfig(**dict(gemma, head_dim=256), query_pre_attn_scalar=16)),
        "gpt_oss": t.GptOssForCausalLM(
            t.GptOssConfig(**SIZES, num_key_value_heads=2, head_dim=64, sliding_window=24, num_local_experts=2, num_experts_per_tok=1)
        ),
    }


def ready(model, seed=0):
    """In float16 where the kernels are, with weights that make attention matter."""
    generator = torch.Generator().manual_seed(seed)
    for p in model.parameters():
        if p.dim() > 1:
            p.data = torch.randn(p.shape, generator=generator) * p.shape[-1] ** -0.5 * 1.5
        elif "sink" in next((n for n, x in model.named_parameters() if x is p), ""):
            p.data = torch.randn(p.shape, generator=generator)
    return model.to(DEVICE).half()


def use(model, ours):
    """ours: by our own name, or by the name that is given; else transformers' own."""
    name = ours if isinstance(ours, str) else register() if ours else "eager"
    model.set_attn_implementation(name)


def difference(x, y):
    return ((x - y).double().norm() / y.double().norm()).item()


def run(model, ours, kept, **words):
    """Logits of what is kept, gradients of the first parameters, and launches by it."""
    use(model, ours)
    model.zero_grad()
    before = kernel_calls()
    logits = model(**words).logits.float()
    logits = logits * kept[..., None]
    (logits.square().mean() * 10).backward()
    grads = [p.grad.float().clone() for n, p in model.named_parameters() if "q_proj" in n or "Wqkv" in n or "sinks" in n]
    calls = {n: c - before.get(n, 0) for n, c in kernel_calls().items()}
    return logits.detach(), torch.cat([g.flatten() for g in grads]), calls


def compare(name, model, kept, limits=(1e-2, 5e-2), by=True, **words):
    a, b = run(model, by, kept, **words), run(model, False, kept, **words)
    errors = difference(a[0], b[0]), difference(a[1], b[1])
    assert errors[0] < limits[0] and errors[1] < limits[1], (name, errors)
    assert a[2]["forward"] + a[2]["decode"] > 0 and a[2]["backward"] > 0, (name, a[2])
    assert b[2]["backward"] == 0
    return f"{name} {errors[0]:.0e}/{errors[1]:.0e}"


def tokens(batch, rows):
    ids = torch.randint(3, 64, (batch, rows), device=DEVICE)
    right = torch.ones_like(ids)
    for b in range(1, batch):
        right[b, rows - 9 * b :] = 0
    return ids, right


def test_decoders_with_padding():
    notes = []
    for name, model in decoders().items():
        model = ready(model).eval()
        ids, right = tokens(3, 40)
        for kind, mask in (("full", torch.ones_like(ids)), ("right", right), ("left", right.flip(1))):
            notes.append(compare(f"{name} {kind}", model, mask, input_ids=ids, attention_mask=mask, use_cache=False))
    return "; ".join(notes)


def test_documents_behind_one_another():
    """Packed training: positions that start again, or cu_seq_lens: each document is what it is alone."""
    model = ready(decoders()["llama"]).eval()
    lengths = [7, 1, 20, 12]
    ids = torch.randint(3, 64, (1, 40), device=DEVICE)
    positions = torch.cat([torch.arange(n) for n in lengths])[None].to(DEVICE)
    ends = torch.tensor([0, 7, 8, 28, 40], device=DEVICE)
    use(model, False)
    with torch.no_grad():
        wanted = torch.cat([model(x, use_cache=False).logits for x in ids.split(lengths, 1)], 1).float()
        use(model, True)
        by_ends = dict(cu_seq_lens_q=ends, cu_seq_lens_k=ends, max_length_q=20, max_length_k=20)
        for words in ({}, by_ends, dict(by_ends, cu_seq_lens_q=ends.int(), max_length_q=torch.tensor(20))):
            found = model(ids, position_ids=positions, use_cache=False, **words).logits.float()
            assert difference(found, wanted) < 1e-2, (list(words), difference(found, wanted))
        twice = model(ids.repeat(2, 1), position_ids=positions.repeat(2, 1), use_cache=False).logits.float()
        assert difference(twice[1:], wanted) < 1e-2
    compare("packed", model, torch.ones_like(ids), input_ids=ids, position_ids=positions, use_cache=False)


def encoders():
    import transformers as t

    sizes = {n: v for n, v in SIZES.items() if n not in ("bos_token_id", "eos_token_id", "num_hidden_layers")}
    config = t.ModernBertConfig(**sizes, num_hidden_layers=3, global_attn_every_n_layers=3, local_attention=16)
    return {"modernbert": t.ModernBertForMaskedLM(config)}


def test_windows_to_both_sides():
    notes = []
    for name, model in encoders().items():
        model = ready(model).eval()
        ids, right = tokens(3, 60)
        for kind, mask in (("full", torch.ones_like(ids)), ("right", right), ("left", right.flip(1))):
            notes.append(compare(f"{name} {kind}", model, mask, input_ids=ids, attention_mask=mask))
    return "; ".join(notes)


def test_cross_attention_over_what_is_padded():
    import transformers as t

    sizes = dict(vocab_size=64, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4)
    sizes.update(encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    model = ready(t.BartForConditionalGeneration(t.BartConfig(**sizes))).eval()
    ids, right = tokens(3, 40)
    notes = []
    for mask in (right, right.flip(1)):
        words = dict(input_ids=ids, attention_mask=mask, decoder_input_ids=ids[:, :11], use_cache=False)
        notes.append(compare("bart", model, torch.ones_like(ids[:, :11]), **words))
        padded = right[:, -11:].flip(1)
        notes.append(compare("bart", model, padded, **words, decoder_attention_mask=padded))
    return "; ".join(notes)


def generated(model, ours, ids, mask, **words):
    use(model, ours)
    with torch.no_grad():
        found = model.generate(
            ids, attention_mask=mask, max_new_tokens=6, min_new_tokens=6, do_sample=False, output_logits=True, return_dict_in_generate=True, **words
        )
    return torch.stack(found.logits).float(), found.sequences


def agree(found, wanted, ours, same):
    """The largest difference of logits [steps, batch, ...], of each row as long as its tokens are the same."""
    steps, errors = len(found), []
    for b in range(found.shape[1]):
        alike = (ours[b, -steps:] == same[b, -steps:]).long().cumprod(0).sum().item()
        errors.append(difference(found[: min(alike + 1, steps), b], wanted[: min(alike + 1, steps), b]))
    return max(errors)


def test_generation_by_every_cache():
    """Left-padded, one row a step; a static cache has more rows than there are keys."""
    notes = []
    for name, model in decoders().items():
        model = ready(model).eval()
        ids, right = tokens(2, 30)
        for kind, mask in (("full", torch.ones_like(ids)), ("left", right.flip(1))):
            for words in ({}, {"cache_implementation": "static", "disable_compile": True}):
                wanted, same = generated(model, False, ids, mask, **words)
                before = kernel_calls()
                found, ours = generated(model, True, ids, mask, **words)
                assert sum(kernel_calls().values()) - sum(before.values()) >= 12
                error = agree(found, wanted, ours, same)
                assert error < 2e-2, (name, kind, words, error)
                notes.append(f"{name} {kind} {error:.0e}")
    return "; ".join(notes)


def test_by_the_name_of_flash_attn():
    """transformers' own code over flash_attn, whose extension module is ours: the wheel 2.8.3.post2+any."""
    try:
        import flash_attn_2_cuda
    except ImportError:
        raise unittest.SkipTest("flash_attn is not installed") from None
    if not getattr(flash_attn_2_cuda, "wheelsmith", False):
        raise unittest.SkipTest("flash_attn has kernels of its own")
    notes, by = [], "flash_attention_2"
    for name, model in {**decoders(), **encoders()}.items():
        if name == "gpt_oss":
            continue  # flash_attn has no sinks, and transformers says so
        model = ready(model).eval()
        ids, right = tokens(3, 40)
        for kind, mask in (("full", torch.ones_like(ids)), ("right", right), ("left", right.flip(1))):
            words = {} if name == "modernbert" else {"use_cache": False}
            notes.append(compare(f"{name} {kind}", model, mask, by=by, input_ids=ids, attention_mask=mask, **words))
        if name == "modernbert":
            continue
        wanted, same = generated(model, False, ids[:2], right.flip(1)[:2])
        found, ours = generated(model, by, ids[:2], right.flip(1)[:2])
        assert agree(found, wanted, ours, same) < 2e-2, name
        positions = torch.cat([torch.arange(n) for n in (7, 1, 20, 12)])[None].to(DEVICE)
        words = dict(input_ids=ids[:1], position_ids=positions, use_cache=False)
        notes.append(compare(f"{name} packed", model, torch.ones_like(ids[:1]), by=by, **words))
    return "; ".join(notes)


def layer(**words):
    class Layer(torch.nn.Module):
        is_causal = True

    found = Layer()
    found.config = types.SimpleNamespace(dtype=torch.float16)
    for name, value in words.items():
        setattr(found, name, value)
    return found


def heads(batch, heads, rows, d=64, dtype=torch.float16):
    return torch.randn(batch, heads, rows, d, device=DEVICE).to(dtype)


def by_mask(q, k, v, seen, **words):
    return attend(*(t.transpose(1, 2) for t in (q, k, v)), q.shape[-1] ** -0.5, seen=seen, **words)[0]


def causal(m, n, mask):
    """[batch, 1, m, n] of a mask [batch, n] whose last m columns are the queries."""
    return (visible(m, n, -1, 0, DEVICE)[None] & mask.bool()[:, None])[:, None]


def test_masks_of_other_lengths_and_with_holes():
    module = layer()
    q, k, v = heads(2, 4, 5), heads(2, 2, 30), heads(2, 2, 30)
    for columns, start in ((30, 4), (20, 4), (45, 18)):  # as keys; shorter: a static cache; longer: a sliding one
        mask = torch.ones(2, columns, dtype=torch.bool, device=DEVICE)
        mask[1, :start] = False
        o = _transformers.forward(module, q, k, v, mask)[0]
        keys = min(columns, 30)
        seen = causal(5, keys, mask[:, -keys:])
        wanted = by_mask(q, k[:, :, :keys], v[:, :, :keys], seen)
        assert ratio(o, wanted) < 2e-3, (columns, ratio(o, wanted))
    q = heads(2, 4, 30)
    mask = torch.ones(2, 30, dtype=torch.bool, device=DEVICE)
    mask[1, 7:11] = mask[1, 28:] = False
    o = _transformers.forward(module, q, k, v, mask)[0]
    wanted = by_mask(q, k, v, causal(30, 30, mask)) * mask[..., None, None]
    assert ratio(o, wanted) < 2e-3, ratio(o, wanted)
    again = _transformers.forward(module, q, k, v, mask)[0]
    assert torch.equal(o, again)
    mask[1, 7:11] = True  # in place: what is remembered of it is no longer so
    o = _transformers.forward(module, q, k, v, mask)[0]
    wanted = by_mask(q, k, v, causal(30, 30, mask)) * mask[..., None, None]
    assert ratio(o, wanted) < 2e-3, ratio(o, wanted)


def named(call, *words):
    """The argument that the error of a call names."""
    try:
        call()
    except KernelError as error:
        assert all(word in str(error) for word in words), error
        return error.argument
    raise AssertionError("no error")


def test_what_is_not_understood_is_an_error():
    module = layer()
    q, k, v = heads(1, 4, 5), heads(1, 2, 5), heads(1, 2, 5)
    call = lambda mask=None, **words: _transformers.forward(module, q, k, v, mask, **words)
    assert named(lambda: call(position_bias=torch.zeros(1, device=DEVICE))) == "position_bias"
    assert named(lambda: call(something_new=3)) == "something_new"
    assert named(lambda: call(output_attentions=True)) == "output_attentions"
    for dims in ((1, 1, 5, 5), (5,)):
        assert named(lambda: call(torch.ones(dims, device=DEVICE, dtype=torch.bool))) == "attention_mask"
    ends = torch.tensor([0, 5], device=DEVICE)
    both = torch.ones(1, 5, device=DEVICE)
    assert named(lambda: call(both, cu_seq_lens_q=ends, cu_seq_lens_k=ends)) == "attention_mask"
    assert named(lambda: call(cu_seq_lens_q=ends)) == "cu_seq_lens_k"
    assert named(lambda: call(seq_idx=both)) == "seq_idx"
    call(cu_seq_lens_q=ends, cu_seq_lens_k=ends, seq_idx=both)
    call(use_cache=True, output_attentions=False, position_bias=None, cache_position=ends)
    overlay = lambda b, h, q, k: q >= k
    for mask_function, use_vmap in ((overlay, False), (None, True)):
        from transformers.masking_utils import causal_mask_function

        words = dict(mask_function=mask_function or causal_mask_function, use_vmap=use_vmap)
        found = lambda: _transformers._masks.make(1, 5, 5, attention_mask=None, device=DEVICE, **words)
        assert named(found) == "mask_function"


def test_a_value_longer_than_its_key():
    """Either may be: what has fewer columns has zeros behind them, and the scale is the key's."""
    module = layer()
    for of_key, of_value in ((32, 64), (64, 32)):
        q, k, v = heads(1, 4, 9, of_key), heads(1, 2, 9, of_key), heads(1, 2, 9, of_value)
        o = _transformers.forward(module, q, k, v, None)[0]
        p = (q.double() @ k.double().repeat_interleave(2, 1).transpose(2, 3)) * of_key**-0.5
        p = p.masked_fill(~visible(9, 9, -1, 0, DEVICE), float("-inf")).softmax(-1)
        wanted = (p @ v.double().repeat_interleave(2, 1)).transpose(1, 2)
        assert o.shape == wanted.shape and ratio(o, wanted) < 2e-3, (of_key, of_value, o.shape)


def test_what_changes_under_inference_mode_is_not_remembered():
    """Such tensors have no version: a buffer of masks or positions that is filled anew says something else."""
    module = layer()
    with torch.inference_mode():
        q, k, v = heads(1, 4, 12), heads(1, 2, 12), heads(1, 2, 12)
        mask = torch.ones(1, 12, dtype=torch.bool, device=DEVICE)
        positions = torch.arange(12, device=DEVICE)[None].clone()
        for at in (3, 5):
            mask.fill_(True)[:, :at] = False
            o = _transformers.forward(module, q, k, v, mask)[0]
            wanted = by_mask(q, k, v, causal(12, 12, mask)) * mask[..., None, None]
            assert ratio(o, wanted) < 2e-3, at
            positions.copy_(torch.cat([torch.arange(at), torch.arange(12 - at)])[None])
            o = _transformers.forward(module, q, k, v, None, position_ids=positions)[0]
            alone = [by_mask(*(t[:, :, part] for t in (q, k, v)), visible(n, n, -1, 0, DEVICE)) for part, n in ((slice(0, at), at), (slice(at, 12), 12 - at))]
            assert ratio(o, torch.cat(alone, 1)) < 2e-3, at


def test_a_compiled_mask_function_that_is_not_known_is_an_error():
    from transformers import masking_utils as m

    def mask_of(function, **words):
        def made(x):
            made_of = function() if function else None
            return _transformers._masks.make(2, 9, 9, mask_function=made_of, attention_mask=x, **words)

        return torch.compile(made, backend=Counting(), fullgraph=True)

    x = torch.ones(2, 9, dtype=torch.bool, device=DEVICE)
    padding = torch.zeros(2, dtype=torch.int32, device=DEVICE)
    chunked = types.SimpleNamespace(attention_chunk_size=4)
    for function in (lambda: m.causal_mask_function, lambda: m.sliding_window_causal_mask_function(5)):
        torch._dynamo.reset()
        assert mask_of(function, local_size=5, config=chunked)(x).shape == x.shape
    for function, words in (
        (lambda: m.causal_mask_function, {"use_vmap": True}),
        (lambda: m.or_masks(m.causal_mask_function, m.blockwise_overlay(padding[:, None].expand(2, 9))), {}),
        (lambda: m.chunked_causal_mask_function(4, padding), {"local_size": 4, "config": chunked}),
    ):
        torch._dynamo.reset()
        try:
            mask_of(function, **words)(x)
        except Exception as error:
            assert "mask_function" in str(error) or "NotSupported" in str(error), error
        else:
            raise AssertionError(words)
    torch._dynamo.reset()


class Four(torch.nn.Module):
    """A linear layer as those of 4 bits are: numbers in bytes, and what comes out has its input's type."""

    def __init__(self, linear):
        super().__init__()
        self.weight = torch.nn.Parameter(linear.weight.data.mul(50).round().clamp(-127, 127).to(torch.int8), requires_grad=False)

    def forward(self, x):
        return x @ (self.weight.to(x.dtype) / 50).T


def test_float32_rows():
    """A model with norms in float32, with and without linear layers of 4 bits, and under autocast."""
    for four in (False, True):
        model = ready(decoders()["llama"])
        for module in list(model.modules()):
            if "Norm" in type(module).__name__:
                module.float()
                module.forward = types.MethodType(lambda s, x: torch.nn.functional.rms_norm(x.float(), x.shape[-1:], s.weight), module)
            for name, child in list(module.named_children()):
                if four and isinstance(child, torch.nn.Linear) and name != "lm_head":
                    setattr(module, name, Four(child))
        model.config.dtype = torch.float16
        model.model.embed_tokens.weight.requires_grad_()
        if not four:
            continue  # half layers refuse float32 rows by themselves
        model.lm_head.float()
        ids, right = tokens(2, 30)
        found = {}
        for ours in (True, False):
            use(model, ours)
            model.zero_grad()
            before = kernel_calls()
            logits = model(ids, attention_mask=right, use_cache=False).logits * right[..., None]
            logits.float().square().mean().backward()
            found[ours] = logits.detach().float(), model.model.embed_tokens.weight.grad.float()
            assert ours == (kernel_calls()["backward"] - before["backward"] == 2)
        assert difference(found[True][0], found[False][0]) < 1e-2
        assert difference(found[True][1], found[False][1]) < 5e-2
    if DEVICE == "cuda":
        model = ready(decoders()["llama"]).float()
        ids, right = tokens(2, 30)
        use(model, True)
        before = kernel_calls()
        with torch.autocast("cuda", dtype=torch.float16):
            model(ids, attention_mask=right, use_cache=False).logits.float().sum().backward()
        assert kernel_calls()["backward"] - before["backward"] == 2


class Counting:
    def __init__(self):
        self.count = 0

    def __call__(self, graph, inputs):
        self.count += 1
        return graph.forward


def test_compiled_once():
    """Five equal calls are one compilation; five lengths with dynamic=True at most two."""
    model = ready(decoders()["llama"]).eval()
    use(model, True)
    ids, _ = tokens(2, 30)
    for mask in (None, "left"):
        torch._dynamo.reset()
        counting = Counting()
        compiled = torch.compile(model.model, backend=counting, fullgraph=True)
        words = {"use_cache": False}
        if mask:
            words["attention_mask"] = tokens(2, 30)[1].flip(1)
        with torch.no_grad():
            wanted = model.model(ids, **words).last_hidden_state
            for _ in range(5):
                found = compiled(ids, **words).last_hidden_state
        assert counting.count == 1, (mask, counting.count)
        if mask:
            found, wanted = (t * words["attention_mask"][..., None] for t in (found, wanted))
        assert difference(found, wanted) < 1e-2
    torch._dynamo.reset()
    counting = Counting()
    compiled = torch.compile(lambda q, k, v: attention(q, k, v, causal=True), backend=counting, dynamic=True, fullgraph=True)
    for rows in (33, 40, 57, 64, 90):
        q, k, v = (heads(1, h, rows).transpose(1, 2) for h in (4, 2, 2))
        assert ratio(compiled(q, k, v), attend(q, k, v, 64**-0.5, -1, 0)[0]) < 2e-3
    assert counting.count <= 2, counting.count
    torch._dynamo.reset()


def test_a_compiled_mask_with_holes_is_not_passed_over():
    """The device cannot be asked while a compiler looks: what would be wrong is NaN."""
    torch._dynamo.reset()
    module = layer()
    compiled = torch.compile(lambda q, k, v, mask: _transformers.forward(module, q, k, v, mask)[0], backend=Counting(), fullgraph=True)
    q, k, v = heads(2, 4, 30), heads(2, 2, 30), heads(2, 2, 30)
    mask = torch.ones(2, 30, dtype=torch.bool, device=DEVICE)
    mask[1, :7] = False
    o = compiled(q, k, v, mask)
    assert torch.isfinite(o).all()
    mask[1, 9] = mask[1, 3] = True
    mask[1, 10] = False
    o = compiled(q, k, v, mask)
    assert torch.isfinite(o[0]).all() and torch.isnan(o[1]).all()
    torch._dynamo.reset()


def test_a_first_call_that_fails_is_not_remembered():
    from torch._subclasses.fake_tensor import FakeTensorMode

    q, k, v = (heads(1, h, 20, 88).transpose(1, 2) for h in (4, 2, 2))
    _choose.forget()
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert attention(q, k, v).shape == q.shape
    assert attention(q, k, v, return_why=True)[1][0] == "wsk"
    _choose.forget()
    real = _attention_ops.forward_cuda

    def no_memory(*words):
        raise torch.cuda.OutOfMemoryError("none")

    _attention_ops.forward_cuda = no_memory
    try:
        attention(q, k, v)
        raise AssertionError("no error")
    except torch.cuda.OutOfMemoryError:
        pass
    finally:
        _attention_ops.forward_cuda = real
    assert attention(q, k, v, return_why=True)[1][0] == "wsk"


def test_what_sdpa_takes_is_told_and_counted():
    q, k, v = (heads(1, h, 20, 260).transpose(1, 2) for h in (4, 2, 2))
    _choose.forget()
    _choose.fallbacks.clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            o = attention(q, k, v, causal=True)
    assert ratio(o, attend(q, k, v, 260**-0.5, -1, 0)[0]) < 5e-3
    assert len([w for w in told if issubclass(w.category, _choose.FallbackWarning)]) == 1
    assert list(_choose.fallbacks.values()) == [3] and "260" in next(iter(_choose.fallbacks)), _choose.fallbacks
