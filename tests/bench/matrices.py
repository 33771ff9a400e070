"""Whole matrices of causal-conv1d against a loop of `pip wheel` over the same cells, without and with sccache and ccache."""
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

    def __init__(self, bench, name, torches, pythons, archs):
        self.bench, self.name, self.torches, self.pythons, self.archs = bench, name, torches, pythons, archs
        self.path = bench.matrix(name, torch=torches, cuda=["13.0"], python=pythons, arch=archs)
        self.store, self.rows = name, []
        bench.wheelsmith(self.store, "fetch", "--matrix", self.path, "--kits", "host")

    def each(self):
        return itertools.product(self.torches, self.pythons, self.archs)

    def add(self, *words):
        self.rows.append(lab.Number(*words))
        print("  ".join(filter(None, self.rows[-1].row())), file=sys.stderr)

    def stored(self, name):
        """A copy of the store that has kits alone."""
        lab.clone(f"{self.bench.work}/{self.store}", f"{self.bench.work}/{self.name}-{name}")
        return f"{self.name}-{name}"

    def build(self, store, dist, *words, path=None):
        dist = f"{self.name}-{dist}"
        return self.bench.wheelsmith(store, "build", "--matrix", path or self.path, "--kits", "host", "-o", f"{{work}}/{dist}", "--json", *words)


# ---- ours ----


def events(cost):
    return [json.loads(line) for line in cost.out.splitlines() if line.startswith("{")]


def done(cost, outcome):
    return [e for e in events(cost) if e["event"] == "action-done" and e["outcome"] == outcome]


def commands_of(path):
    """The events of a trace, and those of commands: units that were made by parts are none."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    return events, [e for e in events if e["ph"] == "X"]


def spans_of(path):
    """(ready, begun, ended) of each command, and (from, slots) that memory held back; seconds."""
    events, commands = commands_of(path)
    spans = [(e["ts"] / 1e6 - e["args"]["waited_ms"] / 1e3, e["ts"] / 1e6, (e["ts"] + e["dur"]) / 1e6) for e in commands]
    return spans, [(e["ts"] / 1e6, e["args"]["slots"]) for e in events if e["name"] == "held back by memory"]


def idle_s(spans, held):
    """Slot-seconds without a command while as many were ready; while none was; while memory held them back."""
    times = sorted({t for span in spans for t in span} | {t for t, _ in held})
    ready_s = none_s = held_s = 0.0
    for at, until in zip(times, times[1:]):
        idle = lab.CORES - sum(begun <= at < ended for _, begun, ended in spans)
        ready = min(idle, sum(was <= at < begun for was, begun, _ in spans))
        back = min(ready, next((slots for t, slots in reversed(held) if t <= at), 0))
        ready_s += (ready - back) * (until - at)
        held_s += back * (until - at)
        none_s += (idle - ready) * (until - at)
    return ready_s, none_s, held_s


def add_slots(c, trace, own_cpu_s):
    spans, held = spans_of(trace)
    busy_s = sum(ended - begun for _, begun, ended in spans)
    ready_s, none_s, held_s = idle_s(spans, held)
    c.add("(idle slots while commands were ready, and own CPU) by the commands' wall", [(ready_s + own_cpu_s) / busy_s * 100], "%", 5)
    for name, seconds in ("idle while commands were ready", ready_s), ("own CPU", own_cpu_s), ("idle while none was ready", none_s), ("held back by memory", held_s):
        c.add(f"… {name}, by the commands' wall", [seconds / busy_s * 100], "%")


DEAR = ".o", ".ptx", ".cubin", ".whl"


def add_store(c, store):
    """The size of results by the cost of making them; kits are not results."""
    folder = f"{c.bench.work}/{store}"
    known = {}
    for place, _, names in os.walk(f"{folder}/ac"):
        for name in names:
            with open(f"{place}/{name}", "rb") as file:
                for line in file.read().split(b"\n"):
                    words = line.split(b" ", 3)
                    if words[0] == b"out" and len(words) == 4:
                        known[words[1].decode()] = words[3].decode()
    kits = {file for _, _, names in os.walk(f"{c.bench.work}/{c.store}/cas") for file in names}
    all_bytes = lab.tree_bytes(f"{folder}/ac")
    dear = 0
    for place, _, names in os.walk(f"{folder}/cas"):
        for name in set(names) - kits:
            size = os.stat(f"{place}/{name}").st_blocks * 512
            all_bytes += size
            dear += size if known.get(name, "").endswith(DEAR) else 0
    c.add("store: objects, PTX, cubins and wheels", [dear / 1e6], "MB")
    c.add("… all results, by those", [all_bytes / dear], "", 1.25)


def add_found(c, store, path, cells, nothing_s=None, empty_s=None):
    """The run finds all results and an empty output folder: least CPU of the second run."""
    dist = f"found-{cells}"
    first = c.build(store, dist, path=path)
    assert not [e for e in done(first, "ran") if e["stage"] not in ("check", "pack")]
    again, busy = c.bench.repeat(15, 3, lambda _: c.build(store, dist, path=path))
    title = f"nothing to do, {cells} cell{'s' if cells > 1 else ''}"
    c.add(f"{title}: time", [a.wall_s for a in again], "s", nothing_s, busy)
    c.add(f"{title}: CPU", [a.cpu_s for a in again], "s")
    warm, busy = c.bench.repeat(11, 2, lambda name: c.build(store, f"{dist}-{name}", path=path))
    title = f"warm store, empty folder, {cells} cell{'s' if cells > 1 else ''}"
    c.add(f"{title}: time", [w.wall_s for w in warm], "s", empty_s, busy)
    c.add(f"{title}: CPU", [w.cpu_s for w in warm], "s")
    return min(w.cpu_s for w in warm)


def add_parts_found(c, store):
    """The same of one cell of the matrix and of eight."""
    axes = {"cuda": ["13.0"], "arch": c.archs}
    eight = c.bench.matrix(f"{c.name}-8", torch=c.torches[:2], python=c.pythons, **axes)
    one = c.bench.matrix(f"{c.name}-1", torch=c.torches[:1], python=c.pythons[:1], **axes | {"arch": c.archs[:1]})
    add_found(c, store, eight, 8, 0.3, 3)
    add_found(c, store, one, 1, 0.15)


def ours(c):
    """From kits alone, then with nothing to do, then into other folders: CPU of the first and of the last."""
    store, trace = c.stored("cold"), f"{c.bench.work}/trace.json"
    others = lab.Others()
    cold = c.build(store, "dist-cold", "-v", "--trace", trace)
    busy = f"{others.share(cold.cpu_s):.0%}"
    c.add("ours: CPU", [cold.cpu_s], "s", None, busy)
    c.add("ours: time", [cold.wall_s], "s", None, busy)
    _, commands = commands_of(trace)
    commands_s = sum(e["args"]["cpu_ms"] for e in commands) / 1e3
    c.add("ours: commands that ran", [len(commands)], "")
    c.add("… their CPU, the ideal", [commands_s], "s")
    c.add("ours: CPU by ideal", [cold.cpu_s / commands_s], "", 1.05)
    c.add("ours: resident", [cold.peak_bytes / 1e6], "MB", 50)
    add_slots(c, trace, cold.own_cpu_s)
    add_store(c, store)
    return cold.cpu_s, add_found(c, store, c.path, len(list(c.each())))


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
        shares, alone = c.stored("shares"), c.stored("second")
        configure(endpoint=endpoint, access="write", key=f"{home}/key.pem")
        first = c.build(shares, "dist-shares")
        c.add("shared: CPU of the host that makes it, by ours alone", [first.cpu_s / first_cpu_s], "")
        configure(endpoint=endpoint)
        second = c.build(alone, "dist-second")
        compiled = [e for e in done(second, "ran") if e["stage"] not in ("check", "pack", "import")]
        c.add("second machine: commands beyond check and pack", [len(compiled)], "", 0)
        c.add("second machine: time", [second.wall_s], "s", 3)
    del c.bench.env["XDG_CONFIG_HOME"]


# ---- the loop ----


def nvidia(place, torch, python):
    """NVIDIA's libraries of a torch, once for all Pythons; torch is imported by its setup.py."""
    folder = f"{place}/nvidia-{torch}"
    if not os.path.exists(folder):
        full = f"{place}/full-{torch}"
        subprocess.run([python, "-m", "pip", "install", "-q", "--target", full, f"torch=={torch}"], check=True)
        shutil.move(f"{full}/nvidia", folder)
        shutil.rmtree(full)
    return folder


def environment(c, torch, version):
    """A venv with torch and what setup.py imports."""
    place = c.bench.options.venvs or c.bench.work
    venv = f"{place}/venv-{torch}-{version}"
    python = f"{venv}/bin/python"
    if not os.path.exists(f"{venv}/ready"):
        subprocess.run([c.bench.interpreter(version), "-m", "venv", "--clear", venv], check=True)
        pip = [python, "-m", "pip", "install", "-q"]
        libraries = nvidia(place, torch, python)
        subprocess.run([*pip, *NEEDED], check=True)
        subprocess.run([*pip, "--no-deps", f"torch=={torch}"], check=True)
        site = glob.glob(f"{venv}/lib/python*/site-packages")[0]
        if not os.path.exists(f"{site}/nvidia"):
            os.symlink(libraries, f"{site}/nvidia")
        subprocess.run([python, "-c", "import torch"], check=True)
        with open(f"{venv}/ready", "w"):
            pass
    return python


def sources(c, archs):
    """setup.py has its architectures in its text: those of the cell are put there. One folder for all cells, or a cache finds less."""
    tree = next(p for p in glob.glob(f"{c.bench.work}/{c.store}/trees/src-causal-conv1d-*") if os.path.isdir(p))
    folder = f"{c.bench.work}/loop"
    shutil.rmtree(folder, ignore_errors=True)
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


def pip_wheel(c, cell, env):
    """`pip wheel` for one cell, two commands of ninja at once."""
    torch, version, archs = cell
    python, folder = environment(c, torch, version), sources(c, archs)
    env = os.environ | {"MAX_JOBS": str(lab.CORES), "CAUSAL_CONV1D_FORCE_BUILD": "TRUE", "CUDA_HOME": "/usr/local/cuda"} | env
    return lab.run([python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", f"{folder}/dist", folder],
                   env=env | {"PATH": f"{os.path.dirname(python)}:{os.environ['PATH']}"})


def loop(c, title, env, server=None):
    """`pip wheel` for one cell after the other, or for the first --cells of them: the others then count as the last of
    these. A cache's server compiles in the loop's place: its CPU counts."""
    cells, others, costs = list(c.each()), lab.Others(), []
    left = len(cells) - len(cells[:c.bench.options.cells])
    for cell in cells[:c.bench.options.cells]:
        with server(env) if server else contextlib.nullcontext([]) as served:
            cost = pip_wheel(c, cell, env)
        costs.append(cost.cpu_s + sum(served))
        print(f"  {title}: {' '.join(cell)}: {costs[-1]:.1f} s of CPU", file=sys.stderr)
    cpu_s = sum(costs) + left * costs[-1]
    c.add(f"{title}: CPU{f', {left} cells as the last' if left else ''}", [cpu_s], "s", None, f"{others.share(sum(costs)):.0%}")
    return cpu_s


def loop_of_parts(c, title):
    """Where the loop is long: each torch and set of architectures with the first Python, times the number of Pythons."""
    costs = [pip_wheel(c, cell, {}).cpu_s for cell in c.each() if cell[1] == c.pythons[0]]
    cpu_s = sum(costs) * len(c.pythons)
    c.add(f"{title}: CPU; {len(costs)} cells of {len(list(c.each()))}, times {len(c.pythons)}", [cpu_s], "s")
    return cpu_s


@contextlib.contextmanager
def sccache_server(env):
    """In the foreground, as a child of ours; its CPU and that of its compilers, once it has ended."""
    served, env = [], os.environ | env
    with subprocess.Popen(["sccache"], env=env | {"SCCACHE_START_SERVER": "1", "SCCACHE_NO_DAEMON": "1"}) as server:
        try:
            yield served
            subprocess.run(["sccache", "--show-stats"], env=env, check=True, stdout=sys.stderr)
        finally:
            subprocess.run(["sccache", "--stop-server"], env=env, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(server.pid, 0)
            server.returncode = os.waitstatus_to_exitcode(status)
    served.append(usage.ru_utime + usage.ru_stime)


def through(c, cache):
    """Compilers behind a cache. torch accepts one word as the compiler and asks the host compiler for its version; nvcc's
    own host compiler (CC) is not behind the cache, since sccache then refuses nvcc."""
    folder = f"{c.bench.work}/through-{cache}"
    os.makedirs(folder, exist_ok=True)
    for name in "g++", "nvcc":
        with open(f"{folder}/{name}", "w") as file:
            file.write(f'#!/bin/sh\nexec {cache} {shutil.which(name) or "/usr/local/cuda/bin/nvcc"} "$@"\n')
        os.chmod(f"{folder}/{name}", 0o755)
    return {"CXX": f"{folder}/g++", "PYTORCH_NVCC": f"{folder}/nvcc", f"{cache.upper()}_DIR": f"{c.bench.work}/{cache}"}


def beside_caches(c, our_cpu_s, our_warm_s):
    for name, server in ("sccache", sccache_server), ("ccache", None):
        if not shutil.which(name):
            continue
        version, env = lab.first_line([name, "--version"]).split()[-1], through(c, name)
        if server:
            env["SCCACHE_SERVER_PORT"] = str(lab.free_port())
        c.add(f"ours by the loop with {name}, CPU", [our_cpu_s / loop(c, f"loop with {name} {version}", env, server)], "", 1)
        c.add("… warm", [our_warm_s / loop(c, f"loop with {name}, warm", env, server)], "", 1)


def beside_loop(c, ideal, of_parts=False):
    cold_s, warm_s = ours(c)
    if of_parts:
        add_parts_found(c, f"{c.name}-cold")
    for torch, version, _ in c.each():
        if not of_parts or version == c.pythons[0]:
            environment(c, torch, version)
    title = "loop of pip wheel"
    c.add("ours by the loop, CPU", [cold_s / (loop_of_parts(c, title) if of_parts else loop(c, title, {}))], "", ideal * 1.05)
    return cold_s, warm_s


def m1(bench):
    """Four Pythons, two architectures in one wheel, one torch: ours, then `pip wheel` cell by cell with the host's toolkit,
    then with sccache and ccache, empty and warm, where they are on PATH."""
    c = Cells(bench, "m1", ["2.11.0"], ["3.10", "3.11", "3.12", "3.13"], ["8.0;9.0"])
    beside_caches(c, *beside_loop(c, 0.36))
    return c.rows


def m2(bench):
    """Three torches, two Pythons, one architecture and two: ours, then `pip wheel` with the host's toolkit."""
    c = Cells(bench, "m2", ["2.11.0", "2.12.1", "2.13.0"], ["3.11", "3.12"], ["8.0", "8.0;9.0"])
    beside_loop(c, 0.43, of_parts=True)
    return c.rows


def shared(bench):
    """Four Pythons: one host makes everything and shares it by nginx, another makes nothing."""
    c = Cells(bench, "shared", ["2.11.0"], ["3.10", "3.11", "3.12", "3.13"], ["8.0;9.0"])
    second_machine(c, ours(c)[0])
    return c.rows
