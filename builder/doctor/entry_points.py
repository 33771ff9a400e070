"""Runs the functions that model libraries look for, in the Python that is asked about.

Started by functions.c, one process for each group, because a function that fails may take its process
along. Prints one JSON object a line as soon as it is known:

    {"name": "flash_attn.flash_attn_func", "state": "works", "text": "agrees with torch within 0.001"}

States: "works" was called on the GPU and agrees with a reference; "imported" is there and was not called,
`text` says why; "absent" its package is not installed; "fails" raised, `text` is the error; "wrong" gave
another result. Output of the packages goes to stderr. Knows no network: Hugging Face's hub is switched off.
"""
import importlib
import importlib.util
import json
import os
import sys

OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
# Drop the folder of this file: it is not part of the environment.
sys.path.pop(0)
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", USE_HUB_KERNELS="NO")


def say(name, state, text=None):
    print(json.dumps({"name": name, "state": state, "text": text}), file=OUT, flush=True)


def error_text(error):
    """A line for each exception, those that it was raised from first."""
    seen = []
    while error and error not in seen:
        seen.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(f"{type(e).__name__}: {' '.join(str(e).split())[:1000]}" for e in reversed(seen[:4]))


def is_there(package):
    return importlib.util.find_spec(package) is not None


def without_gpu():
    """Why nothing can be called; None: it can."""
    import torch
    if not torch.cuda.is_available():
        return "torch sees no GPU here"
    return None


def far_apart(got, wanted):
    """The largest difference, relative to the largest value; of tuples the worst pair's."""
    if isinstance(wanted, (tuple, list)):
        return max(far_apart(g, w) for g, w in zip(got, wanted))
    got, wanted = got.float(), wanted.float()
    if got.shape != wanted.shape or not got.isfinite().all():
        return float("inf")
    return ((got - wanted).abs().max() / wanted.abs().max().clamp(min=1e-6)).item()


def try_function(module, name, call, bound=0.03):
    """Imports module.name; calls `call(function)`, which gives what came and what should have."""
    full = f"{module}.{name}"
    try:
        function = getattr(importlib.import_module(module), name)
        why = without_gpu() if call else "it is looked for only"
        if why:
            return say(full, "imported", why)
        import torch
        torch.manual_seed(0)
        got, wanted = call(function)
        torch.cuda.synchronize()
        far = far_apart(got, wanted)
        if far <= bound:
            say(full, "works", f"agrees with its reference within {far:.1g}")
        else:
            say(full, "wrong", f"differs from its reference by {far:.2g} of the largest value")
    except BaseException as error:  # a module may raise SystemExit
        say(full, "fails", error_text(error))


# ---- flash-attn ----

def attention(q, k, v, causal):
    """(batch, length, heads, size) in float."""
    import torch.nn.functional as F
    q, k, v = (x.float().transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)


def qkv(grad=False):
    import torch
    return [torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.float16, requires_grad=grad) for _ in range(3)]


def run_flash(function):
    q, k, v = qkv(grad=True)
    out = function(q, k, v, causal=True)
    out.float().sum().backward()
    got = [out, q.grad, k.grad, v.grad]
    q, k, v = (x.detach().float().requires_grad_() for x in (q, k, v))
    want = attention(q, k, v, True)
    want.sum().backward()
    return got, [want, q.grad, k.grad, v.grad]


def run_varlen(function):
    import torch
    q, k, v = qkv()
    ends = torch.tensor([0, 128, 256], device="cuda", dtype=torch.int32)
    packed = [x.reshape(256, 4, 64) for x in (q, k, v)]
    out = function(*packed, ends, ends, 128, 128, causal=True)
    return out, attention(q, k, v, True).reshape(256, 4, 64)


def run_kvcache(function):
    q, k, v = qkv()
    return function(q[:, :1], k, v, cache_seqlens=128), attention(q[:, :1], k, v, False)


def flash_attn():
    try_function("flash_attn", "flash_attn_func", run_flash)
    try_function("flash_attn", "flash_attn_varlen_func", run_varlen)
    try_function("flash_attn", "flash_attn_with_kvcache", run_kvcache)
    try_function("flash_attn.bert_padding", "unpad_input", None)


# ---- causal-conv1d ----

def randn(*shape):
    import torch
    return torch.randn(*shape, device="cuda")


def run_conv(function):
    import torch.nn.functional as F
    x, weight, bias = randn(2, 64, 100), randn(64, 4), randn(64)
    want = F.silu(F.conv1d(x, weight.unsqueeze(1), bias, padding=3, groups=64)[..., :100])
    return function(x, weight, bias, activation="silu"), want


def run_conv_update(function):
    import torch
    import torch.nn.functional as F
    x, state, weight, bias = randn(2, 64), randn(2, 64, 4), randn(64, 4), randn(64)
    after = torch.cat([state[..., 1:], x.unsqueeze(-1)], -1)
    want = F.silu((after * weight).sum(-1) + bias)
    return [function(x, state, weight, bias, activation="silu"), state], [want, after]


def causal_conv1d():
    try_function("causal_conv1d", "causal_conv1d_fn", run_conv)
    try_function("causal_conv1d", "causal_conv1d_update", run_conv_update)


# ---- mamba-ssm ----

SCAN = "mamba_ssm.ops.selective_scan_interface"
UPDATE = "mamba_ssm.ops.triton.selective_state_update"
SSD = "mamba_ssm.ops.triton.ssd_combined"


def reference(module, name):
    return getattr(importlib.import_module(module), name)


def run_scan(function):
    import torch
    d, n, length = 64, 16, 100
    given = [randn(2, d, length), torch.rand(2, d, length, device="cuda"), -torch.rand(d, n, device="cuda"),
             randn(2, n, length), randn(2, n, length)]
    more = dict(D=randn(d), z=randn(2, d, length), delta_bias=torch.rand(d, device="cuda"), delta_softplus=True)
    return function(*given, **more), reference(SCAN, "selective_scan_ref")(*given, **more)


def run_state_update(function):
    import torch
    d, n = 64, 16
    state = randn(2, d, n)
    given = [randn(2, d), torch.rand(2, d, device="cuda"), -torch.rand(d, n, device="cuda"), randn(2, n), randn(2, n)]
    more = dict(D=randn(d), z=randn(2, d), dt_bias=torch.rand(d, device="cuda"), dt_softplus=True)
    other = state.clone()
    want = reference(UPDATE, "selective_state_update_ref")(other, *given, **more)
    return [function(state, *given, **more), state], [want, other]


def run_inner(function):
    import torch
    d, n, rank, model, length = 64, 16, 8, 32, 100
    given = [randn(2, 2 * d, length), randn(d, 1, 4) * 0.1, randn(d), randn(rank + 2 * n, d) * 0.1,
             randn(d, rank) * 0.1, randn(model, d) * 0.1, None, -torch.rand(d, n, device="cuda")]
    more = dict(D=randn(d), delta_bias=torch.rand(d, device="cuda"), delta_softplus=True)
    return function(*given, **more), reference(SCAN, "mamba_inner_ref")(*given, **more)


def run_chunk_scan(function):
    import torch
    length, heads, size, n = 64, 4, 32, 16
    x, dt = randn(2, length, heads, size), torch.rand(2, length, heads, device="cuda") * 0.1
    decay, b, c = -torch.rand(heads, device="cuda"), randn(2, length, 1, n), randn(2, length, 1, n)
    state, want = torch.zeros(2, heads, size, n, device="cuda"), []
    for t in range(length):
        step = dt[:, t, :, None, None]
        state = state * torch.exp(step * decay[:, None, None])
        state = state + step * x[:, t, :, :, None] * b[:, t, :, None, :]
        want.append((state * c[:, t, :, None, :]).sum(-1))
    return function(x, dt, decay, b, c, chunk_size=32), torch.stack(want, 1)


def mamba_ssm():
    try_function(UPDATE, "selective_state_update", run_state_update)
    try_function(SCAN, "selective_scan_fn", run_scan)
    try_function(SCAN, "mamba_inner_fn", run_inner)
    try_function(SSD, "mamba_chunk_scan_combined", run_chunk_scan)
    try_function(SSD, "mamba_split_conv1d_scan_combined", None)


# ---- transformers: does it take the fast path? ----

# Module, class of the mixer, its configuration made small, the functions that must be there.
FIVE = ("selective_state_update", "selective_scan_fn", "causal_conv1d_fn", "causal_conv1d_update", "mamba_inner_fn")
THREE = ("selective_state_update", "causal_conv1d_fn", "causal_conv1d_update")
SMALL = dict(hidden_size=32, num_hidden_layers=1, vocab_size=32, intermediate_size=64,
             num_attention_heads=2, num_key_value_heads=2)
SMALL_2 = dict(SMALL, mamba_n_heads=4, mamba_d_head=16, mamba_d_state=16, mamba_expand=2)
MODELS = {
    "mamba": ("MambaMixer", "MambaConfig", dict(hidden_size=32, num_hidden_layers=1, vocab_size=32), FIVE),
    "jamba": ("JambaMambaMixer", "JambaConfig", SMALL, FIVE),
    "bamba": ("BambaMixer", "BambaConfig", SMALL_2, THREE),
    "granitemoehybrid": ("GraniteMoeHybridMambaLayer", "GraniteMoeHybridConfig", SMALL_2, THREE),
}


AT_IMPORT = "each function is replaced at import"


def cell_of(function, name):
    """A variable that a decorator keeps in its closure; the decorated function may be wrapped again."""
    for _ in range(10):
        code = getattr(function, "__code__", None)
        if code and name in code.co_freevars:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        function = getattr(function, "__wrapped__", None)
    return None


def decorated(module):
    """From 5.16 on: each function is replaced when the module is imported, or silently is not."""
    taken = {}
    for value in vars(module).values():
        if cell_of(value, "is_new_implementation") is not None:
            taken[cell_of(value, "func_name")] = cell_of(value, "is_new_implementation")
    return taken


def looked_up(module, model):
    """Before: names of the module, which the mixer fills from 5.0 on, and 4.57's mamba when it runs."""
    mixer, config, small, names = MODELS[model]
    import torch
    import transformers
    with torch.device("meta"):
        getattr(module, mixer)(getattr(transformers, config)(**small), layer_idx=0)
    values = dict(vars(module))
    if hasattr(module, "_lazy_load_causal_conv1d"):
        values["causal_conv1d_update"], values["causal_conv1d_fn"] = module._lazy_load_causal_conv1d()
    return {name: bool(values.get(name)) for name in names}


def try_model(model):
    import transformers
    name = f"transformers {transformers.__version__}: {model}"
    try:
        module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
        if hasattr(module, "use_kernel_func_from_hub_with_fallback"):
            how, taken = AT_IMPORT, decorated(module)
        elif hasattr(module, "lazy_load_kernel"):
            how, taken = "looked up when the layer is made", looked_up(module, model)
        else:
            how, taken = "looked up at import", looked_up(module, model)
        missing = sorted(f for f in taken if not taken[f])
        # Before 5.16 a host without a GPU has no fast path, whatever is installed.
        why = without_gpu() if missing and how != AT_IMPORT else None
        if why:
            say(name, "imported", f"{why}, so it takes the slow path")
        elif not taken:
            say(name, "imported", "its way to choose functions is not known")
        elif missing:
            say(name, "fails", f"the fast path is not available ({how}): {', '.join(missing)}")
        else:
            say(name, "works", f"takes the fast path ({how})")
    except BaseException as error:
        say(name, "fails", error_text(error))


def models():
    for model in sys.argv[2:] or MODELS:
        if model in MODELS and is_there(f"transformers.models.{model}"):
            try_model(model)


GROUPS = {
    "flash-attn": ("flash_attn", flash_attn),
    "causal-conv1d": ("causal_conv1d", causal_conv1d),
    "mamba-ssm": ("mamba_ssm", mamba_ssm),
    "transformers": ("transformers", models),
}

if __name__ == "__main__":
    package, run = GROUPS[sys.argv[1]]
    if is_there(package):
        run()
    else:
        say(package, "absent")
