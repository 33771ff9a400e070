"""Whole matrices of causal-conv1d against a loop of `pip wheel` over the same cells, without and with ccache."""
import contextlib
import glob
import itertools
import json
import os
import shutil
import subprocess
import sys

import lab

NEEDED = "numpy", "ninja", "packaging", "setuptools<81", "wheel", "typing_extensions", "filelock", "sympy", "networkx", "jinja2", "fsspec"


class Cells:
    """The cells of a matrix, and a Python with torch for each cell's loop."""

    def __init__(self, bench, torches, pythons, archs):
        self.bench, self.torches, self.pythons, self.archs = bench, torches, pythons, archs
        self.path = bench.matrix("cells", torch=torches, cuda=["13.0"], python=pythons, arch=archs)
        self.store, self.rows = "cells", []
        bench.wheelsmith(self.store, "fetch", "--matrix", self.path, "--kits", "host")

    def each(self):
        return itertools.product(self.torches, self.pythons, self.archs)

    def add(self, *words):
        self.rows.append(lab.Number(*words))
        print("  ".join(filter(None, self.rows[-1].row())), file=sys.stderr)

    def build(self, store, dist, *words):
        return self.bench.wheelsmith(store, "build", "--matrix", self.path, "--kits", "host", "-o", f"{{work}}/{dist}", "--json", *words)


# ---- ours ----


def events(cost):
    return [json.loads(line) for line in cost.out.splitlines() if line.startswith("{")]


def done(cost, outcome):
    return [e for e in events(cost) if e["event"] == "action-done" and e["outcome"] == outcome]


def unused_share(path, own_cpu_s):
    """(Slot-seconds without a command, from the first to the last, + our own CPU) by wall-seconds of commands. Those
    in which nothing was ready, as behind the last unit, count too: more than what was promised to be small."""
    with open(path) as file:
        spans = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    busy_s = sum(e["dur"] for e in spans) / 1e6
    wall_s = (max(e["ts"] + e["dur"] for e in spans) - min(e["ts"] for e in spans)) / 1e6
    return (wall_s * lab.CORES - busy_s + own_cpu_s) / busy_s * 100


def ours(c):
    """From kits alone, then with nothing to do, then into another folder."""
    lab.clone(f"{c.bench.work}/{c.store}", f"{c.bench.work}/cold")
    others = lab.Others()
    cold = c.build("cold", "dist-cold", "--trace", f"{c.bench.work}/trace.json")
    busy = f"{others.share(cold.cpu_s):.0%}"
    c.add("ours: CPU", [cold.cpu_s], "s", None, busy)
    c.add("ours: time", [cold.wall_s], "s", None, busy)
    c.add("ours: commands that ran", [len(done(cold, "ran"))], "")
    c.add("ours: resident", [cold.peak_bytes / 1e6], "MB", 50)
    c.add("slots without a command, and own CPU, by the commands' wall", [unused_share(f"{c.bench.work}/trace.json", cold.own_cpu_s)], "%", 5)
    again, busy = c.bench.repeat(5, 2, lambda _: c.build("cold", "dist-cold"))
    cells = len(list(c.each()))
    c.add(f"nothing to do, {cells} cells: time", [a.wall_s for a in again], "s", 0.3, busy)
    warm, busy = c.bench.repeat(3, 1, lambda name: c.build("cold", f"dist-warm-{name}"))
    c.add(f"warm store, empty folder, {cells} cells: time", [w.wall_s for w in warm], "s", 3, busy)
    return cold.cpu_s


# ---- a second machine ----

NGINX = """daemon off; master_process off; pid {run}/pid; error_log {run}/error.log; events {{ }}
http {{ access_log off; client_body_temp_path {run}/srv/tmp; client_max_body_size 0;
    server {{ listen 127.0.0.1:{port}; root {run}/srv; location / {{ dav_methods PUT; create_full_put_path on; }} }} }}
"""


@contextlib.contextmanager
def cache_server(c):
    """nginx that takes from everybody; its endpoint."""
    run, port = f"{c.bench.work}/nginx", lab.free_port()
    os.makedirs(f"{run}/srv/tmp")
    subprocess.run(["chmod", "-R", "a+rwX", f"{run}/srv"], check=True)
    with open(f"{run}/nginx.conf", "w") as file:
        file.write(NGINX.format(run=run, port=port))
    with subprocess.Popen(["nginx", "-p", run, "-c", f"{run}/nginx.conf", "-e", f"{run}/error.log"]) as server:
        yield f"http://127.0.0.1:{port}"
        server.terminate()


def second_machine(c, first_cpu_s):
    """One host makes everything and shares it; another with the same kits makes nothing."""
    home = f"{c.bench.work}/home"
    os.makedirs(f"{home}/wheelsmith")
    c.bench.wheelsmith("keys", "publish", "--new-key", f"{home}/key.pem")

    def configure(**remote):
        with open(f"{home}/wheelsmith/config.json", "w") as file:
            json.dump({"remote": {"trust": [f"{home}/key.pem.pub"]} | remote}, file)

    c.bench.env["XDG_CONFIG_HOME"] = home
    with cache_server(c) as endpoint:
        for store in ("shares", "second"):
            lab.clone(f"{c.bench.work}/{c.store}", f"{c.bench.work}/{store}")
        configure(endpoint=endpoint, access="write", key=f"{home}/key.pem")
        first = c.build("shares", "dist-shares")
        c.add("shared: CPU of the host that makes it, by ours alone", [first.cpu_s / first_cpu_s], "")
        configure(endpoint=endpoint)
        second = c.build("second", "dist-second")
        compiled = [e for e in done(second, "ran") if e["stage"] not in ("check", "pack", "import")]
        c.add("second machine: commands beyond check and pack", [len(compiled)], "", 0)
        c.add("second machine: time", [second.wall_s], "s", 3)
    del c.bench.env["XDG_CONFIG_HOME"]


# ---- the loop ----


def nvidia(c, torch, python):
    """NVIDIA's libraries of a torch, once for all Pythons; torch is imported by its setup.py."""
    folder = f"{c.bench.work}/nvidia-{torch}"
    if not os.path.exists(folder):
        full = f"{c.bench.work}/full-{torch}"
        subprocess.run([python, "-m", "pip", "install", "-q", "--target", full, f"torch=={torch}"], check=True)
        shutil.move(f"{full}/nvidia", folder)
        shutil.rmtree(full)
    return folder


def environment(c, torch, version):
    """A venv with torch and what setup.py imports."""
    venv = f"{c.bench.work}/venv-{torch}-{version}"
    python = f"{venv}/bin/python"
    if not os.path.exists(venv):
        subprocess.run([c.bench.interpreter(version), "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "-q"]
        libraries = nvidia(c, torch, python)
        subprocess.run([*pip, *NEEDED], check=True)
        subprocess.run([*pip, "--no-deps", f"torch=={torch}"], check=True)
        site = glob.glob(f"{venv}/lib/python*/site-packages")[0]
        if not os.path.exists(f"{site}/nvidia"):
            os.symlink(libraries, f"{site}/nvidia")
        subprocess.run([python, "-c", "import torch"], check=True)
    return python


def sources(c, archs, name):
    """setup.py has its architectures in its text: those of the cell are put there."""
    tree = next(p for p in glob.glob(f"{c.bench.work}/{c.store}/trees/src-causal-conv1d-*") if os.path.isdir(p))
    folder = f"{c.bench.work}/loop-{name}"
    shutil.copytree(tree, folder)
    numbers = [arch.replace(".", "") for arch in archs.split(";")]
    flags = [word for n in numbers for word in ("-gencode", f"arch=compute_{n},code=sm_{n}")]
    with open(f"{folder}/setup.py") as file:
        text = file.read()
    mark = "    # HACK: The compiler flag"
    assert text.count(mark) == 1
    os.chmod(f"{folder}/setup.py", 0o644)
    with open(f"{folder}/setup.py", "w") as file:
        file.write(text.replace(mark, f"    cc_flag = {flags}\n{mark}"))
    return folder


def loop(c, title, env):
    """`pip wheel` for one cell after the other, two commands of ninja at once."""
    others, costs = lab.Others(), []
    env = os.environ | {"MAX_JOBS": str(lab.CORES), "CAUSAL_CONV1D_FORCE_BUILD": "TRUE", "CUDA_HOME": "/usr/local/cuda"} | env
    for number, (torch, version, archs) in enumerate(c.each()):
        python, name = environment(c, torch, version), f"{title}-{number}".replace(" ", "-")
        folder = sources(c, archs, name)
        costs.append(lab.run([python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", f"{folder}/dist", folder],
                             env=env | {"PATH": f"{os.path.dirname(python)}:{os.environ['PATH']}"}))
        shutil.rmtree(folder)
    cpu_s = sum(cost.cpu_s for cost in costs)
    busy = f"{others.share(cpu_s):.0%}"
    c.add(f"{title}: CPU", [cpu_s], "s", None, busy)
    c.add(f"{title}: time", [sum(cost.wall_s for cost in costs)], "s", None, busy)
    return cpu_s


def beside_loops(c, ideal):
    our_cpu_s = ours(c)
    if shutil.which("nginx"):
        second_machine(c, our_cpu_s)
    for torch, version, _ in c.each():
        environment(c, torch, version)
    plain_s = loop(c, "loop of pip wheel", {})
    c.add("ours by the loop, CPU", [our_cpu_s / plain_s], "", ideal * 1.05)
    if shutil.which("ccache"):
        cached = {"CCACHE_DIR": f"{c.bench.work}/ccache", "CXX": "ccache g++", "CC": "ccache gcc", "PYTORCH_NVCC": "ccache nvcc"}
        c.add("ours by the loop with ccache, CPU", [our_cpu_s / loop(c, "loop with ccache", cached)], "", 1)
        loop(c, "loop with ccache, warm", cached)
    return c.rows


def m1(bench):
    """Four Pythons, two architectures in one wheel, one torch: ours, then `pip wheel` cell by cell with the host's toolkit."""
    return beside_loops(Cells(bench, ["2.11.0"], ["3.10", "3.11", "3.12", "3.13"], ["8.0;9.0"]), 0.36)


def m2(bench):
    """Two torches, two Pythons, one architecture and two: ours, then `pip wheel` cell by cell with the host's toolkit."""
    return beside_loops(Cells(bench, ["2.12.1", "2.13.0"], ["3.11", "3.12"], ["8.0", "8.0;9.0"]), 0.43)
