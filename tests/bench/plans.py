"""Planning and the engine's own work: what is paid before anything is compiled."""
import lab

PACKAGES = ["causal-conv1d==1.5.3.post1", "mamba-ssm==2.2.6.post3", "flash-attn==2.8.3"]
ARCHS = ["7.5", "8.0", "8.6", "8.9", "9.0", "8.0;8.6;9.0+PTX"]


def plan(bench):
    """108 cells of the shipped recipes, the whole process; the table goes into a pipe."""
    axes = dict(packages=PACKAGES, torch=["2.5.1", "2.11.0"], python=["3.10", "3.11", "3.12"], arch=ARCHS)
    matrix = bench.matrix("plan", **axes)
    take = lambda name: bench.wheelsmith("plan", "plan", "--matrix", matrix)
    take("warm")
    costs, busy = bench.repeat(40, 20, take)
    numbers = [
        lab.Number("plan of 108 cells, time", [c.wall_s * 1e3 for c in costs], "ms", 50, busy),
        lab.Number("plan of 108 cells, CPU", [c.cpu_s * 1e3 for c in costs], "ms", None, busy),
    ]
    return numbers + many_cells(bench)


def many_cells(bench):
    """10,080 cells: 3 packages, 7 releases, 5 Pythons, 96 sets of architectures."""
    sets = [f"{one};{two}{ptx}" for one in ("8.0", "8.6", "8.7", "8.9") for two in ("9.0", "10.0", "12.0", "12.1") for ptx in ("", "+PTX")]
    sets += [f"7.5;{one}" for one in sets] + [f"7.0;{one}" for one in sets]
    torch = ["2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0"]
    python = ["3.9", "3.10", "3.11", "3.12", "3.13"]
    matrix = bench.matrix("many", packages=PACKAGES, torch=torch, python=python, arch=sets)
    costs, busy = bench.repeat(5, 3, lambda name: bench.wheelsmith("plan", "plan", "--matrix", matrix))
    return [
        lab.Number("plan of 10,080 cells, resident", [c.peak_bytes / 1e6 for c in costs], "MB"),
        lab.Number("plan of 10,080 cells, time", [c.wall_s for c in costs], "s", None, busy),
    ]


def engine(bench):
    """A graph of 1,000 commands that write one file, run and then found again."""
    rows = {}

    def take(name):
        cost = bench.run(["{tests}/engine_driver", f"{{work}}/engine-{name}", "1000"])
        for line in cost.out.splitlines():
            what, _, value = line.partition(": ")
            rows.setdefault(what, []).append(float(value))
        return cost

    _, busy = bench.repeat(7, 3, take)
    return [
        lab.Number("an action that is found in the store, CPU", rows["hit_us"], "µs", None, busy),
        lab.Number("an action that runs /bin/cp, CPU", rows["run_us"], "µs", None, busy),
        lab.Number("/bin/cp started by hand, CPU", rows["hand_us"], "µs", None, busy),
    ]
