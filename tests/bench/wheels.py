"""Judging wheels: what it costs beside reading them at all."""
import glob
import os
import subprocess
import sys
import time

import lab

BIG = "fbgemm-gpu==1.0.0"      # 350 MB
SMALL = "torchaudio==2.5.1"
ONE = "lib/_torchaudio.so"     # the one module of it that is kept


def brought(bench, what):
    folder = f"{bench.work}/wheels/{what}"
    if not glob.glob(f"{folder}/*.whl"):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder,
                        "--python-version=3.11", "--platform=manylinux1_x86_64", "--platform=manylinux2014_x86_64", what],
                       check=True)
    return glob.glob(f"{folder}/*.whl")[0]


# Between the bench and the command: what exec replaces counts as the command's peak, and the bench is large.
SPAWN = """
import os, sys
_, status, used = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]), 0)
print(used.ru_maxrss * 1024, used.ru_utime + used.ru_stime)
"""


def measured(argv):
    """Cost of a command and all it started: the peak is the largest of its processes, 9 MB at least (SPAWN's own)."""
    began = time.monotonic()
    told = subprocess.run([sys.executable, "-ISc", SPAWN, *argv], text=True, stdout=subprocess.PIPE).stdout.split()
    return lab.Cost(time.monotonic() - began, float(told[1]), "", peak_bytes=int(told[0]))


def one_module(bench):
    """A wheel of torchaudio's with one module left."""
    target = f"{bench.work}/one-1.0-cp311-cp311-linux_x86_64.whl"
    if not os.path.exists(target):
        module = f"{bench.work}/one.so"
        with open(module, "wb") as out:
            wheel = brought(bench, SMALL)
            member = next(m for m in subprocess.run(["unzip", "-Z1", wheel], text=True, capture_output=True).stdout.split()
                          if m.endswith(ONE))
            subprocess.run(["unzip", "-p", wheel, member], check=True, stdout=out)
        maker = os.path.join(os.path.dirname(__file__), "../support/make_wheel.py")
        subprocess.run([sys.executable, maker, target, f"one.so={module}"], check=True)
    return target


def verify(bench):
    """A wheel of 350 MB beside sha256sum and unzip -t of it, in turn; one module against one release and against all."""
    from bench import RELEASE
    store = f"{bench.work}/store"
    judge = lambda wheel, torch: measured([f"{RELEASE}/wheelsmith", "verify", wheel, "--torch", torch, "--store", store])
    big, one = brought(bench, BIG), one_module(bench)
    ours, theirs = [], []

    def both(_):
        ours.append(judge(big, "2.5.1"))
        hashed, tested = measured(["sha256sum", big]), measured(["unzip", "-tq", big])
        theirs.append(lab.Cost(hashed.wall_s + tested.wall_s, hashed.cpu_s + tested.cpu_s, ""))
        return ours[-1]

    judge(one, "2.5.1")
    _, busy = bench.repeat(5, 2, both)
    single, _ = bench.repeat(20, 5, lambda _: judge(one, "2.5.1"))
    window, _ = bench.repeat(10, 3, lambda _: judge(one, "all"))
    bench.commands += ["wheelsmith verify fbgemm_gpu-1.0.0-*.whl --torch 2.5.1", "sha256sum; unzip -tq (the same wheel)",
                       "wheelsmith verify one.whl --torch 2.5.1", "wheelsmith verify one.whl --torch all"]
    return [
        lab.Number("verify of a 350 MB wheel, CPU", [c.cpu_s for c in ours], "s", None, busy),
        lab.Number("sha256sum and unzip -t of it, CPU", [c.cpu_s for c in theirs], "s", None, busy),
        lab.Number("the first by the second, CPU", [o.cpu_s / t.cpu_s for o, t in zip(ours, theirs)], "", 2, busy),
        lab.Number("the first by the second, time", [o.wall_s / t.wall_s for o, t in zip(ours, theirs)], "", 2, busy),
        lab.Number("verify of a 350 MB wheel, resident", [c.peak_bytes / 1e6 for c in ours], "MB", 100),
        lab.Number("one module against one release, CPU", [c.cpu_s * 1e3 for c in single], "ms", 50),
        lab.Number("one module against one release, resident", [c.peak_bytes / 1e6 for c in single], "MB", 25),
        lab.Number("one module against 13 releases, CPU", [c.cpu_s for c in window], "s", 0.5),
    ]
