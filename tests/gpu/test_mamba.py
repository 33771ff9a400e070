"""Small random Mamba models of transformers, with mamba_ssm and causal_conv1d installed: whose kernels run, and that they are right."""

import importlib
import importlib.util
import unittest

import torch

from wheelsmith_kernels import _attention_calls
from wheelsmith_kernels._reference import ratio

#: What each family asks for, of what wheelsmith_kernels has a kernel for; Mamba-2's scan stays Triton's.
FAMILIES = {
    "mamba": dict(hidden_size=64, num_hidden_layers=2, state_size=16),
    "falcon_mamba": dict(hidden_size=64, num_hidden_layers=2, state_size=16),
    "jamba": dict(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        attn_layer_offset=1, attn_layer_period=2, expert_layer_period=2, num_experts=2, mamba_d_state=16, mamba_dt_rank=8,
    ),
    "bamba": dict(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        attn_layer_indices=[1], mamba_n_heads=8, mamba_d_head=16, mamba_d_state=16, mamba_chunk_size=64,
    ),
    "granitemoehybrid": dict(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        layer_types=["mamba", "attention"], mamba_n_heads=8, mamba_d_head=16, mamba_d_state=16, mamba_chunk_size=64,
        num_local_experts=2, num_experts_per_tok=1, shared_intermediate_size=96,
    ),
}  # fmt: skip


def decorated(module):
    """{name: function} of what transformers resolves to a kernel or to its own torch function."""
    own = lambda f: hasattr(f, "__wrapped__") and f.__module__ == module.__name__ and callable(f)
    return {n: f for n, f in vars(module).items() if own(f) and ("mamba" in n or "conv1d" in n)}


def innermost(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def implementation(function):
    """A decorated function is in a closure cell behind functools.wraps."""
    while function is not None:
        for cell in getattr(function, "__closure__", None) or ():
            found = cell.cell_contents
            if callable(found) and getattr(found, "__module__", "").split(".")[0] in ("mamba_ssm", "causal_conv1d", "wheelsmith_kernels"):
                return found
        function = getattr(function, "__wrapped__", None)
    return None


def build(family, dtype=torch.float32):
    import transformers

    names = {"mamba": "Mamba", "falcon_mamba": "FalconMamba", "jamba": "Jamba", "bamba": "Bamba", "granitemoehybrid": "GraniteMoeHybrid"}
    config = getattr(transformers, names[family] + "Config")(vocab_size=128, pad_token_id=0, bos_token_id=1, eos_token_id=2, **FAMILIES[family])
    torch.manual_seed(0)
    model = getattr(transformers, names[family] + "ForCausalLM")(config).to("cuda", dtype)
    return model, importlib.import_module(f"transformers.models.{family}.modeling_{family}")


def run(model, ids):
    """Logits of a training step, its gradients, and what a greedy continuation says."""
    model.train()
    model.zero_grad()
    out = model(input_ids=ids, labels=ids)
    out.loss.backward()
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=ids).logits
        words = model.generate(ids, max_new_tokens=8, do_sample=False)
    return out.logits.detach(), logits, gradients, words


def require_packages():
    """These tests are of mamba_ssm 2.2.6.post3+any and causal_conv1d, installed: SkipTest without them."""
    missing = [n for n in ("mamba_ssm", "causal_conv1d") if importlib.util.find_spec(n) is None]
    if missing:
        raise unittest.SkipTest(f"without {' and '.join(missing)}")


def compare(family):
    require_packages()
    model, module = build(family)
    ids = torch.randint(3, 128, (2, 37), device="cuda")
    functions = decorated(module)
    if family == "falcon_mamba":
        # mamba_ssm's mamba_inner_fn norms delta behind its projection, transformers 5.17 before it: in training the
        # two differ whoever's kernels run. Without it training takes the scan.
        module.mamba_inner_fn = innermost(functions.pop("mamba_inner_fn"))
    taken = {n: implementation(f) for n, f in functions.items()}
    _attention_calls.calls.update(dict.fromkeys(_attention_calls.calls, 0))
    fast = run(model, ids)
    counts = {n: c for n, c in _attention_calls.calls.items() if c}
    for name, function in functions.items():
        setattr(module, name, innermost(function))
    try:
        before = dict(_attention_calls.calls)
        slow = run(model, ids)
        assert _attention_calls.calls == before, "the slow path called a kernel"
    finally:
        for name, function in functions.items():
            setattr(module, name, function)
    errors = ratio(fast[0], slow[0]), ratio(fast[1], slow[1])
    worst = max(ratio(fast[2][n], g) for n, g in slow[2].items() if g.norm() > 1e-6)
    assert max(errors) < 2e-3 and worst < 2e-2, (errors, worst)
    assert fast[3].shape == slow[3].shape
    ours = [n for n, f in taken.items() if f is not None]
    assert counts, f"no kernel ran; taken: {ours}"
    return f"{sorted(ours)} {counts} logits {max(errors):.1e} gradients {worst:.1e}"


def test_mamba():
    return compare("mamba")


def test_falcon_mamba():
    return compare("falcon_mamba")


def test_jamba():
    return compare("jamba")


def test_bamba():
    return compare("bamba")


def test_granitemoehybrid():
    return compare("granitemoehybrid")


def test_mamba_ssm_generates():
    require_packages()
    from mamba_ssm import MambaLMHeadModel
    from mamba_ssm.models.config_mamba import MambaConfig

    torch.manual_seed(0)
    config = MambaConfig(d_model=64, n_layer=2, vocab_size=128, ssm_cfg={"layer": "Mamba1"}, rms_norm=True, fused_add_norm=True)
    model = MambaLMHeadModel(config, device="cuda", dtype=torch.float16)
    ids = torch.randint(3, 128, (2, 9), device="cuda")
    _attention_calls.calls.update(dict.fromkeys(_attention_calls.calls, 0))
    words = model.generate(ids, max_length=20)
    assert words.shape == (2, 20) and torch.equal(words[:, :9], ids)
    assert _attention_calls.calls["selective_state_update"] and _attention_calls.calls["selective_scan"]
    return str({n: c for n, c in _attention_calls.calls.items() if c})
