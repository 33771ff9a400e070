#!/usr/bin/env python3
"""lean_gpu.py UPSTREAM LEAN RUNS: import, first call and later calls of the same modules from two folders, in turn.

Each folder is a `pip install --no-deps --target` of causal-conv1d's and mamba-ssm's wheels; a GPU is needed. Each run
is a fork of a parent that has imported torch and never touched the GPU. The CUDA context, the inputs and a
synchronisation come before the first figure."""
import importlib
import json
import os
import statistics
import sys
import time

import torch

LATER = 300


def conv():
    x = torch.randn(2, 2048, 4096, device="cuda", dtype=torch.float16)
    weight = torch.randn(2048, 4, device="cuda", dtype=torch.float16)
    bias = torch.randn(2048, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)
    return lambda module: module.causal_conv1d_fwd(x, weight, bias, None, None, out, None, True)


def scan():
    def normal(*shape, dtype=torch.float32):
        return torch.randn(*shape, device="cuda", dtype=dtype)
    u, delta = normal(2, 1024, 2048, dtype=torch.float16), normal(2, 1024, 2048, dtype=torch.float16)
    a, b, c, d = -normal(1024, 16).abs(), normal(2, 1, 16, 2048, dtype=torch.float16), \
        normal(2, 1, 16, 2048, dtype=torch.float16), normal(1024)
    return lambda module: module.fwd(u, delta, a, b, c, d, None, None, True)


def child(folder, name, inputs, out):
    torch.cuda.init()
    call = inputs()
    torch.cuda.synchronize()
    sys.path.insert(0, folder)
    start = time.perf_counter()
    module = importlib.import_module(name)
    imported = time.perf_counter()
    call(module)
    torch.cuda.synchronize()
    first = time.perf_counter()
    later = []
    for _ in range(LATER):
        begin = time.perf_counter()
        call(module)
        torch.cuda.synchronize()
        later.append(time.perf_counter() - begin)
    assert module.__file__.startswith(folder), module.__file__
    figures = (imported - start) * 1e3, (first - imported) * 1e3, statistics.median(later) * 1e6
    os.write(out, json.dumps(figures).encode())


def run(*args):
    """The three figures of one fresh process: ms, ms, µs."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child(*args, theirs)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    os.close(theirs)
    data = b"".join(iter(lambda: os.read(ours, 4096), b""))
    os.close(ours)
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"a run failed: {args[:2]}")
    return json.loads(data)


def main():
    folders, runs = sys.argv[1:3], int(sys.argv[3])
    for name, inputs in (("causal_conv1d_cuda", conv), ("selective_scan_cuda", scan)):
        for folder in folders:  # what a first read of the file costs is not the question
            run(folder, name, inputs)
        rows = {folder: [] for folder in folders}
        for _ in range(runs):
            for folder in folders:
                rows[folder].append(run(folder, name, inputs))
        for column, (what, unit) in enumerate((("import", "ms"), ("first call", "ms"), ("later calls", "µs"))):
            median = []
            for folder in folders:
                values = sorted(row[column] for row in rows[folder])
                median.append(statistics.median(values))
                print(f"{name} {what} {os.path.basename(folder)}: median {median[-1]:.2f} {unit} "
                      f"(min {values[0]:.2f}, max {values[-1]:.2f})  {' '.join(f'{v:.2f}' for v in values)}")
            print(f"{name} {what}: lean / upstream = {median[1] / median[0]:.3f}", flush=True)


if __name__ == "__main__":
    main()
