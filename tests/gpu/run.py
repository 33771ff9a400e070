"""Runs every test_* of the files beside it on the GPU: run.py [PART OF A NAME …]. Exit 1: one failed, 77: no GPU.

The last line says how many passed, how many were skipped (unittest.SkipTest, for what is not installed) and how many
failed. With WS_GPU_ALL=1 a skipped test is a failed one; that no test has such a name is a failure always.

With WSK_EMULATED_FOLDER, what tests/support/kernels_emulated.sh made, on the CPU: those files that have a DEVICE.
"""

import importlib
import os
import pathlib
import struct
import sys
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "kernels/python")]


def targets(path):
    """{(1 PTX or 2 machine code, number of the target)} of the containers of a library."""
    data, found, at = path.read_bytes(), set(), -1
    while (at := data.find(bytes.fromhex("50ed55ba"), at + 1)) >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, at + header + size
        while entry + 64 <= min(end, len(data)):
            kind, _, head, body = struct.unpack_from("<HHIQ", data, entry)
            if kind not in (1, 2):
                break
            found.add((kind, struct.unpack_from("<I", data, entry + 28)[0]))
            entry += head + body
    return found


def main():
    emulated = os.environ.get("WSK_EMULATED_FOLDER")
    if emulated:
        sys.path.insert(0, str(HERE.parent / "support"))
        import kernels_emulated

        torch = kernels_emulated.start(emulated)
        return run(torch, "cpu")
    import torch

    if not torch.cuda.is_available():
        print("no GPU here: these tests need one")
        return 77
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    library = os.environ.get("WHEELSMITH_KERNELS_LIBRARY")
    code = targets(pathlib.Path(library)) if library else set()
    print("code in the library:", sorted(code), "(1: PTX, 2: machine code)")
    if os.environ.get("WS_PTX_ONLY") and code != {(1, 75)}:
        print("that is not PTX of compute_75 alone: this run would prove nothing about it")
        return 1
    return run(torch, "cuda")


def run(torch, device):
    passed = skipped = failed = 0
    for path in sorted(HERE.glob("test_*.py")):
        if device != "cuda" and "DEVICE" not in path.read_text():
            continue
        module = importlib.import_module(path.stem)
        for name, function in list(vars(module).items()):
            full = f"{path.stem[5:]}.{name[5:]}"
            if not name.startswith("test_") or not all(part in full for part in sys.argv[1:]):
                continue
            torch.manual_seed(0)
            start = time.perf_counter()
            try:
                note = function() or ""
                passed += 1
                print(f"ok      {full}  {time.perf_counter() - start:.1f} s  {note}", flush=True)
            except unittest.SkipTest as reason:
                skipped += 1
                print(f"skipped {full}: {reason}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok  {full}", flush=True)
                print("".join("        " + x for x in traceback.format_exc().splitlines(True)[-8:]), flush=True)
    print(f"{passed} passed, {skipped} skipped, {failed} failed")
    return bool(failed or not passed + skipped or skipped and os.environ.get("WS_GPU_ALL") == "1")


sys.exit(main())
