"""Which attention the model calls: the kernels of wheelsmith_kernels, flash_attn's, or torch's own.

Each installed package is first tried in a separate process, because an extension built for a different torch may
kill the process that imports it. A package that fails there is skipped, and /health reports the reason.
"""

import json
import os
import re
import subprocess
import sys

import torch

# Seconds for one trial. Two may be needed, and deploy.yaml's startup probe waits longer than both.
TRIAL_S = 100

_FLASH = """
import torch
report = {"attn": "sdpa", "ready": False, "devices": [], "batch": "padded", "problem": None}
try:
    count = torch.cuda.device_count()
    report["devices"] = [{"index": i, "name": torch.cuda.get_device_name(i)} for i in range(count)]
    import flash_attn
    if not count:
        raise RuntimeError("no GPU")
    for i in range(count):
        q = torch.randn(1, 16, 2, 64, device=f"cuda:{i}", dtype=torch.float16)
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(x.transpose(1, 2) for x in (q, q, q)), is_causal=True).transpose(1, 2)
        if (flash_attn.flash_attn_func(q, q, q, causal=True) - expected).abs().max() > 0.05:
            raise RuntimeError("flash_attn computes something else")
    report.update(attn="flash_attention_2", ready=True, batch="packed")
except BaseException as error:
    report["problem"] = f"{type(error).__name__}: {error}"
import json
print(json.dumps(report))
"""


def _last_report(text):
    """The last JSON object at the start of a line that is a report, or None: a package may print, too."""
    for start in reversed([m.start() for m in re.finditer(r"^\{", text, re.MULTILINE)]):
        try:
            found = json.JSONDecoder().raw_decode(text, start)[0]
        except ValueError:
            continue
        if "attn" in found and "problem" in found:
            return found
    return None


def _ask(*words):
    """The report that a Python printed; one with a problem where it printed none."""
    try:
        child = subprocess.run(
            [sys.executable, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_S
        )
    except subprocess.TimeoutExpired:
        problem = f"did not answer in {TRIAL_S} s"
    else:
        found = _last_report(child.stdout.decode("utf-8", "replace"))
        if found:
            return found
        end = f"signal {-child.returncode}" if child.returncode < 0 else f"status {child.returncode}"
        problem = f"ended its process with {end}"
    problem = f"the attention that is installed {problem}"
    return {"attn": "sdpa", "ready": False, "devices": [], "batch": "padded", "problem": problem}


def _installed(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _is_of_ours(found):
    """wheelsmith_kernels made this report, and it can be imported."""
    return "schema" in found and bool(found["devices"] or found["problem"] == "no GPU")


def report():
    """The JSON of `python -m wheelsmith_kernels health`; the members that the server reads without that package."""
    if not _installed("wheelsmith_kernels"):
        return _ask("-c", _FLASH)
    ours = _ask("-m", "wheelsmith_kernels", "health")
    if _is_of_ours(ours) or "WHEELSMITH_ATTENTION" in os.environ:
        return ours
    flash = _ask("-c", _FLASH)
    return {**flash, "problem": ours["problem"]} if flash["ready"] else ours


def _mask_keys(lengths, keys):
    return (torch.arange(keys, device=lengths.device)[None] < lengths[:, None])[:, None, None]


def _sdpa_packed(q, k, v, ends):
    attend = torch.nn.functional.scaled_dot_product_attention
    parts = [
        attend(*(t[None, a:b].transpose(1, 2) for t in (q, k, v)), is_causal=True).transpose(1, 2)[0]
        for a, b in zip(ends, ends[1:])
    ]
    return torch.cat(parts)


def _sdpa_decode(q, k, v, lengths):
    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return attend(q, k, v, attn_mask=_mask_keys(lengths, k.shape[2])).transpose(1, 2)


def functions(found):
    """(prefill, decode) for a report.

    prefill(q, k, v, ends): [rows, heads, head_dim] of sequences that end where `ends` (from 0) says.
    decode(q, k, v, lengths): one query [batch, 1, heads, head_dim] each, and the keys so far.
    """
    if _is_of_ours(found):
        if found["attn"] == "sdpa":
            os.environ["WHEELSMITH_ATTENTION"] = "sdpa"
        from wheelsmith_kernels import attention

        def prefill(q, k, v, ends):
            cu = torch.tensor(ends, dtype=torch.int32, device=q.device)
            longest = max(b - a for a, b in zip(ends, ends[1:]))
            return attention(
                q, k, v, causal=True, cu_seqlens_q=cu, cu_seqlens_k=cu,
                max_seqlen_q=longest, max_seqlen_k=longest,
            )  # fmt: skip

        return prefill, lambda q, k, v, lengths: attention(q, k, v, causal=True, seqused_k=lengths)
    if found["attn"] == "flash_attention_2":
        from flash_attn import flash_attn_varlen_func, flash_attn_with_kvcache

        def prefill(q, k, v, ends):
            cu = torch.tensor(ends, dtype=torch.int32, device=q.device)
            longest = max(b - a for a, b in zip(ends, ends[1:]))
            return flash_attn_varlen_func(q, k, v, cu, cu, longest, longest, causal=True)

        return prefill, lambda q, k, v, lengths: flash_attn_with_kvcache(
            q, k, v, cache_seqlens=lengths, causal=True
        )
    return _sdpa_packed, _sdpa_decode
