"""causal-conv1d for one cell: against the same commands by hand, for a second Python, with nothing to do,
and what wheelsmith itself has resident meanwhile."""
import json
import os
import shutil
import sys

import lab
import plans

UNITS = ["causal_conv1d_bwd.cu", "causal_conv1d_fwd.cu", "causal_conv1d_update.cu", "causal_conv1d.cpp"]
MODULE = "causal_conv1d_cuda.so"


class Building:
    def __init__(self, bench):
        self.bench = bench
        self.numbers = []
        self.matrix = self.matrix_for("3.11")

    def matrix_for(self, python):
        return self.bench.matrix(f"build-{python}", torch=["2.5.1"], cuda=["12.4"], python=[python], arch=["8.6"])

    def build(self, store, matrix, *words):
        return self.bench.wheelsmith(store, "build", "--matrix", matrix, "--kits", "archive", "--json", "-o", f"{{work}}/dist-{store}", *words)

    def add(self, *words):
        self.numbers.append(lab.Number(*words))
        print("  ".join(filter(None, self.numbers[-1].row())), file=sys.stderr)  # the whole takes long


def actions(cost):
    """The actions that ran, by stage."""
    events = [json.loads(line) for line in cost.out.splitlines() if line.startswith("{")]
    return [e for e in events if e["event"] == "action-done" and e["outcome"] == "ran"]


def stage_cpu_s(ran, *stages):
    return sum(e.get("cpu_ms", 0) for e in ran if e["stage"] in stages) / 1e3


def first(b):
    """From an empty store: kits, compiling, check and pack in one process."""
    others = lab.Others()
    cost = b.build("first", b.matrix)
    busy = f"{others.share(cost.cpu_s):.0%}"
    b.add("first build, kits and all: resident", [cost.peak_bytes / 1e6], "MB", 50)
    b.add("first build, kits and all: time", [cost.wall_s], "s", None, busy)
    b.add("first build: CPU of wheelsmith itself", [cost.own_cpu_s], "s", None, busy)
    return stage_cpu_s(actions(cost), "compile", "link")


def by_hand_folders(b, cell="*cp311*"):
    """The folder of each command with its exact words in ./run, as `shell` makes them; the commands of units are in
    compile_commands.json, too."""
    folders = {}
    for name in UNITS + [MODULE]:
        cost = b.bench.wheelsmith("first", "shell", cell, "--matrix", b.matrix, "--kits", "archive", "--unit", name)
        folders[name] = cost.out.strip()
    return folders


def children(b):
    """Peaks of our own children, each alone in its folder."""
    for stage, glob in (("check", "*in torch*"), ("pack", "causal-conv1d 1.5.3.post1+*.sm.86")):
        cost = b.bench.wheelsmith("first", "shell", "*cp311*", "--matrix", b.matrix, "--kits", "archive", "--unit", glob)
        script = f"{cost.out.strip()}/run"
        costs, _ = b.bench.repeat(5, 2, lambda name: lab.run([script], watch=True))
        b.add(f"the {stage} process, resident", [c.peak_bytes / 1e6 for c in costs], "MB")
        b.add(f"the {stage} process, CPU", [c.cpu_s for c in costs], "s")


def by_hand(b):
    """Ours and the same commands by hand, each one at a time; ours also looks up, keys, stores, traces
    headers, checks and packs. Both run at the same time, each on a core of its own, and change cores from
    pair to pair: a neighbour of this machine that slows the one slows the other as well."""
    folders = by_hand_folders(b)
    b.bench.wheelsmith("kits", "fetch", "--matrix", b.matrix, "--kits", "archive")
    ours, hand, commands_s = [], [], []

    def run_ours(name):
        lab.clone(f"{b.bench.work}/kits", f"{b.bench.work}/ours-{name}")
        cost = b.build(f"ours-{name}", b.matrix, "--offline", "-j", "1")
        commands_s.append(stage_cpu_s(actions(cost), "compile", "link"))
        return cost.cpu_s

    def run_hand():
        return sum(lab.run([f"{folder}/run"]).cpu_s for folder in folders.values())

    def pair(name):
        o, h = lab.beside(lambda: run_ours(name), run_hand, swap=int(name) % 2)
        ours.append(o)
        hand.append(h)
        return lab.Cost(0, o + h, "")

    _, busy = b.bench.repeat(b.bench.options.pairs, 1, pair)
    rest = [o - commands for o, commands in zip(ours, commands_s)]
    b.add("causal-conv1d, one cell: CPU", ours, "s", None, busy)
    b.add("the same commands by hand, beside it: CPU", hand, "s", None, busy)
    b.add("ours above by hand, pair by pair", [(o / h - 1) * 100 for o, h in zip(ours, hand)], "%", 3, busy)
    b.add("of ours: all but these commands", rest, "s", None, busy)
    b.add("the same, by hand = 100 %", [r / h * 100 for r, h in zip(rest, hand)], "%", None, busy)


def second_python(b, first_cpu_s):
    """The binding file and the link are built again; check and pack are ours."""
    others = lab.Others()
    cost = b.build("first", b.matrix_for("3.12"))
    ran = actions(cost)
    busy = f"{others.share(cost.cpu_s):.0%}"
    compiled = sorted(e["subject"] for e in ran if e["stage"] == "compile")
    links = [e["subject"] for e in ran if e["stage"] == "link"]
    extra = [name for name in compiled if name != "causal_conv1d.cpp"] + links[1:]
    b.add("second Python: compiled beyond the binding file and the link", [len(extra)], "units", 0, busy)
    b.add("second Python: CPU of what is compiled and linked", [stage_cpu_s(ran, "compile", "link")], "s", None, busy)
    b.add("first Python: likewise", [first_cpu_s], "s")


def nothing_to_do(b):
    costs, busy = b.bench.repeat(15, 10, lambda name: b.build("first", b.matrix))
    assert not any(actions(cost) for cost in costs)
    b.add("nothing to do: time", [c.wall_s for c in costs], "s", 0.5, busy)
    b.add("nothing to do: CPU", [c.cpu_s for c in costs], "s", None, busy)
    b.add("nothing to do: resident", [c.peak_bytes / 1e6 for c in costs], "MB", 50)


def planning(b):
    """With kits, a lock and past costs there is more to look up than in an empty store."""
    matrix = plans.fleet(b.bench)
    shutil.copy(b.matrix.replace(".json", ".lock.json"), matrix.replace(".json", ".lock.json"))
    costs, busy = b.bench.repeat(20, 10, lambda name: b.bench.wheelsmith("first", "plan", "--matrix", matrix))
    b.add("plan of 108 cells beside what was built, time", [c.wall_s * 1e3 for c in costs], "ms", 50, busy)


def build(bench):
    """causal-conv1d for torch 2.5.1, CUDA 12.4 and one architecture: the first build, nothing to do, a second
    Python; then the same commands by hand, as `shell` writes them, beside another build."""
    b = Building(bench)
    cpu_s = first(b)
    nothing_to_do(b)
    planning(b)
    second_python(b, cpu_s)
    children(b)
    by_hand(b)
    return b.numbers


def quickstart(bench):
    """`./dev quickstart` without the packages that it installs: building the program, then the wheel of
    matrix/quickstart.json in an empty store."""
    source = bench.env["WS_ROOT"]
    others = lab.Others()
    steps = [["--preset", "release", "-S", source, "-B", "{work}/program"], ["--build", "{work}/program"]]
    costs = [bench.run(["cmake", *step]) for step in steps]
    busy = f"{others.share(sum(c.cpu_s for c in costs)):.0%}"
    rows = [lab.Number("quickstart: building the program, time", [sum(c.wall_s for c in costs)], "s", None, busy)]
    matrix = f"{bench.work}/quickstart.json"
    shutil.copy(f"{source}/matrix/quickstart.json", matrix)
    others = lab.Others()
    cost = bench.wheelsmith("quickstart", "build", "--matrix", matrix, "-o", "{work}/dist-quickstart")
    rows += [
        lab.Number("quickstart: the wheel, time", [cost.wall_s], "s", None, f"{others.share(cost.cpu_s):.0%}"),
        lab.Number("quickstart: both", [cost.wall_s + sum(c.wall_s for c in costs)], "s", 360),
        lab.Number("quickstart: the wheel, CPU", [cost.cpu_s], "s"),
        lab.Number("quickstart: the wheel, resident", [cost.peak_bytes / 1e6], "MB", 50),
    ]
    return rows
