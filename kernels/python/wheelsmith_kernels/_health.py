"""Reports which kernels run on this host, for people and for a container's health check."""

import os

from . import __version__, _check_conv, _check_scan


def _outcome(call):
    """"runs", or why not. Never raises: a driver, a library, a device may fail with whatever it likes."""
    try:
        return "runs" if call() else "gives wrong results"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _device(index, torch, choose):
    properties = torch.cuda.get_device_properties(index)
    device = torch.device("cuda", index)
    found = {
        "index": index,
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory": properties.total_memory,
    }
    float16 = torch.float16
    found["head_dims"] = [
        d for d in choose.HEAD_DIMS if not choose.wsk_problem(device, float16, d)
    ]
    for name, call in {**_check_scan.quick(device), **_check_conv.quick(device)}.items():
        found[name] = _outcome(call)
    problems = {p: choose.flash_problem(device, float16, 64, p) for p in (False, True)}
    found["flash_attn"] = {"dense": problems[False] or "runs", "packed": problems[True] or "runs"}
    if not problems[False] and not problems[True]:
        found["attn"] = "flash_attention_2"
    else:
        found["attn"] = "wsk" if found["head_dims"] else "sdpa"
    return found


def health():
    """{"schema", "version", "attn", "ready", "devices", "batch", "override", "problem", "fallbacks"}.

    ready: every GPU computes attention by a kernel that was run just now and was right, or by SDPA because
    WHEELSMITH_ATTENTION says so; what it names is attn where that runs. batch: "packed"
    where sequences of different lengths need no padding, else "padded". fallbacks: how many calls of this process SDPA
    took in place of a kernel, by reason. A device's "selective_scan_fn",
    "selective_state_update", "mamba_inner_fn", "causal_conv1d_fn" and "causal_conv1d_update": "runs", or why not.
    """
    report = {
        "schema": "wheelsmith.kernels-health/1",
        "version": __version__,
        "attn": "sdpa",
        "ready": False,
        "devices": [],
        "batch": "padded",
        "override": os.environ.get("WHEELSMITH_ATTENTION"),
        "problem": None,
        "fallbacks": {},
    }
    try:
        import torch

        from . import _choose

        report["torch"] = torch.__version__
        report["devices"] = [
            _device(i, torch, _choose) for i in range(torch.cuda.device_count())
        ]
    except Exception as error:
        report["problem"] = f"{type(error).__name__}: {error}"
        return report
    kinds = [d["attn"] for d in report["devices"]]
    if not kinds:
        report["problem"] = "no GPU"
        return report
    report["attn"] = max(kinds, key=_choose.BACKENDS.index)
    report["problem"] = _override(report) if report["override"] else None
    report["ready"] = not report["problem"] and (report["attn"] != "sdpa" or bool(report["override"]))
    report["fallbacks"] = dict(_choose.fallbacks)
    report["batch"] = "packed" if report["attn"] != "sdpa" else "padded"
    if not report["ready"] and not report["problem"]:
        report["problem"] = "a GPU has neither flash_attn nor a kernel of this package"
    return report


def _override(report):
    """Sets attn to what was named; why that cannot be, or None."""
    named, devices = report["override"], report["devices"]
    runs = {
        "sdpa": True,
        "wsk": all(d["head_dims"] for d in devices),
        "flash_attention_2": all(d["attn"] == "flash_attention_2" for d in devices),
    }
    if not runs.get(named):
        return f"WHEELSMITH_ATTENTION={named} does not run on every GPU here"
    report["attn"] = named
    return None
