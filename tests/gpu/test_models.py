"""Small random models of transformers: our layers, logits and gradients beside its own."""

import torch

from wheelsmith_kernels import kernel_calls, patch


def models():
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM
    from transformers import PhiConfig, PhiForCausalLM

    common = dict(vocab_size=64, hidden_size=320, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4, max_position_embeddings=512)
    common.update(pad_token_id=0, bos_token_id=1, eos_token_id=2)
    return {
        "phi": PhiForCausalLM(PhiConfig(**common, partial_rotary_factor=0.4)),
        "llama": LlamaForCausalLM(LlamaConfig(**common, num_key_value_heads=2)),
        "mistral": MistralForCausalLM(MistralConfig(**common, num_key_value_heads=1, sliding_window=40)),
    }


def difference(x, y):
    return ((x - y).double().norm() / y.double().norm()).item()


def logits_of(model, ids, mask):
    return model(input_ids=ids, attention_mask=mask).logits


def test_logits_and_gradients_with_padding():
    notes = []
    for name, model in models().items():
        model = model.cuda().half().train()
        ids = torch.randint(3, 64, (3, 120), device="cuda")
        right = torch.ones_like(ids)
        right[1, 90:] = 0
        right[2, 5:] = 0
        for kind, mask in (("full", torch.ones_like(ids)), ("right", right), ("left", right.flip(1))):
            found = {}
            for attn in ("eager", "wheelsmith_kernels"):
                if attn == "eager":
                    model.set_attn_implementation("eager")
                else:
                    report = patch(model)
                    assert report["patched"] == report["layers"] == 3 and report["head_dim"] == 80, report
                before = kernel_calls()
                model.zero_grad()
                logits = logits_of(model, ids, mask)
                kept = logits.float() * mask[..., None]
                (kept.square().mean() * 100).backward()
                grad = model.model.embed_tokens.weight.grad.float().clone()
                found[attn] = kept.detach(), grad
                calls = {k: v - before[k] for k, v in kernel_calls().items()}
                assert attn == "eager" or (calls["forward"] >= 3 and calls["backward"] == 3), (name, calls)
            a, b = found["wheelsmith_kernels"], found["eager"]
            errors = difference(a[0], b[0]), difference(a[1], b[1])
            assert errors[0] < 1e-2 and errors[1] < 5e-2, (name, kind, errors)
            notes.append(f"{name} {kind} {errors[0]:.0e}/{errors[1]:.0e}")
    return "; ".join(notes)


def test_gradient_checkpointing_and_generation():
    for name, model in models().items():
        model = model.cuda().half()
        patch(model)
        ids = torch.randint(3, 64, (2, 40), device="cuda")
        model.train()
        grads = []
        for on in (False, True):
            model.zero_grad()
            (model.gradient_checkpointing_enable if on else model.gradient_checkpointing_disable)()
            model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
            grads.append(model.model.embed_tokens.weight.grad.clone())
        assert difference(grads[1], grads[0]) < 1e-3, name
        model.eval()
        mask = torch.ones_like(ids)
        mask[1, :7] = 0
        words = dict(attention_mask=mask, max_new_tokens=12, do_sample=False)
        with torch.no_grad():
            ours = model.generate(ids, **words)
            model.set_attn_implementation("eager")
            theirs = model.generate(ids, **words)
        same = (ours == theirs).float().mean().item()
        assert same > 0.8, (name, same)
