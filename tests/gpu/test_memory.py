"""Kernels that are launched for the first time on a GPU whose memory is full: an error that torch has, and nothing is lost.

In a process of its own, where no kernel is on the device yet. Other programs on this GPU find its memory full meanwhile.
"""

import ctypes
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def calls():
    """{name: a call of kernels that no other one launches}, on small tensors that are made here."""
    import torch

    from wheelsmith_kernels import _attention_calls, _conv, _flash, _scan

    half = lambda *shape: torch.randn(*shape, device="cuda").half()
    q, k, v, none = half(1, 128, 4, 64), half(1, 128, 2, 64), half(1, 128, 2, 64), (None,) * 5
    wide = half(1, 64, 2, 256), half(1, 64, 2, 256), half(1, 64, 2, 256)
    cache, lengths = (half(1, 256, 2, 64), half(1, 256, 2, 64)), torch.tensor([5], dtype=torch.int32, device="cuda")
    lse, grad = torch.zeros(1, 4, 128, device="cuda"), half(1, 128, 4, 64)
    random = torch.zeros(2, dtype=torch.int64, device="cuda")
    u, weight, bias, state = half(2, 64, 256), torch.randn(64, 4, device="cuda"), torch.randn(64, device="cuda"), half(2, 64, 3)
    a, b, c, delta = -torch.rand(64, 16, device="cuda"), half(2, 1, 16, 256), half(2, 1, 16, 256), half(2, 64, 256).abs()
    step = half(2, 64, 16), half(2, 64), half(2, 64), a, half(2, 16), half(2, 16), torch.randn(64, device="cuda")
    forward = lambda q, k, v, *more: _attention_calls.forward_cuda(q, k, v, *none, 0, 0, 0.1, -1, 0, *more, parts=0)[0]
    dropping = _attention_calls.more_of(dropout=0.1, random=random)
    return {
        "forward": lambda: forward(q, k, v),
        "forward 256": lambda: forward(*wide),
        "forward with dropout": lambda: forward(q, k, v, *dropping),
        "backward": lambda: _attention_calls.backward_cuda(grad, q, k, v, grad, lse, *none, 0, 0, 0.1, -1, 0)[0],
        "decode": lambda: _attention_calls.decode_cuda(q[:, :2], k, v, None, None, 0.1, -1, 0, 2)[0],
        "append": lambda: _flash.append(q[:, :2], *cache, k[:, :2], v[:, :2], lengths, *(None,) * 4, False, True),
        "convolution": lambda: _conv._forward_op(u, weight, bias, None, None, False, True)[0],
        "its gradients": lambda: _conv._backward_op(u, u, weight, bias, None, None, None, True)[0],
        "its step": lambda: _conv._update_op(u[:, :, :1], state.clone(), weight, bias, True, None, None),
        "scan": lambda: _scan.fwd(u, delta, a, b, c, bias, None, bias, True)[0],
        "its gradients in time": lambda: _scan.bwd(u, delta, a, b, c, bias, None, bias, u, None, None, None, True, False)[0],
        "state update": lambda: _scan.selective_state_update(step[0].clone(), *step[1:], None, bias, True),
    }


def fill(driver):
    """All memory of the device that is left, to 4 KiB: addresses."""
    held, size, address = [], 1 << 30, ctypes.c_uint64()
    while size >= 1 << 12:
        if driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0:
            held.append(address.value)
        else:
            size //= 2
    return held


def child():
    import torch

    driver = ctypes.CDLL("libcuda.so.1")
    all_calls = calls()
    float(torch.zeros(16, device="cuda").half().float().abs().sum())  # torch's own kernels are there
    results = {}
    for turn in ("full", "full", "torch has memory that it does not use", "free"):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # what is left of it, beside the inputs, has room for the results
        spare = torch.empty(64 << 20, dtype=torch.uint8, device="cuda") if turn.startswith("torch") else None
        del spare
        held = [] if turn == "free" else fill(driver)
        for name in all_calls:
            try:
                x = all_calls[name]()
                torch.cuda.synchronize()
                results.setdefault(name, []).append(x.cpu())
                said = "ok"
            except torch.cuda.OutOfMemoryError as error:
                said = str(error).split("\n")[0][:90]
            print(f"{turn}: {name}: {said}", flush=True)
        for address in held:
            driver.cuMemFree_v2(ctypes.c_uint64(address))
    for name, found in results.items():
        assert len(found) >= 2 and all(torch.equal(x, found[0]) and x.isfinite().all() for x in found), name
    print("done")


def test_a_full_gpu_is_out_of_memory_and_loses_no_kernel():
    words = {"PYTHONPATH": os.pathsep.join([str(HERE.parents[1] / "kernels/python"), os.environ.get("PYTHONPATH", "")])}
    run = subprocess.run([sys.executable, __file__], env={**os.environ, **words}, capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0 and lines[-1:] == ["done"], run.stdout[-2000:] + run.stderr[-2000:]
    full = [line for line in lines if "no room for a kernel" in line]
    assert full, "every kernel found room: nothing was shown\n" + run.stdout
    assert all(line.startswith("full") for line in full), full
    assert all(line.endswith(": ok") for line in lines if line.startswith(("free", "torch"))), run.stdout
    return f"{len(full)} launches found no room"


if __name__ == "__main__":
    child()
