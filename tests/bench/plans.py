"""Planning and the engine's own work: what is paid before anything is compiled."""
import itertools
import tempfile

import lab

PACKAGES = ["causal-conv1d==1.5.3.post1", "mamba-ssm==2.2.6.post3", "flash-attn==2.8.3"]
ARCHS = ["7.5", "8.0", "8.6", "8.9", "9.0", "8.0;8.6;9.0+PTX"]


def fleet(bench, name="plan", policy="build-only"):
    """A matrix of 108 cells of the shipped recipes."""
    axes = dict(packages=PACKAGES, torch=["2.5.1", "2.11.0"], python=["3.10", "3.11", "3.12"], arch=ARCHS)
    return bench.matrix(name, **axes, policy=policy)


def plan(bench):
    """Matrices of the shipped recipes, the whole process; the table goes into a pipe."""
    matrix = fleet(bench)
    take = lambda name: bench.wheelsmith("plan", "plan", "--matrix", matrix)
    take("warm")
    costs, busy = bench.repeat(40, 20, take)
    numbers = [
        lab.Number("plan of 108 cells, time", [c.wall_s * 1e3 for c in costs], "ms", 50, busy),
        lab.Number("plan of 108 cells, CPU", [c.cpu_s * 1e3 for c in costs], "ms", None, busy),
    ]
    matrix = fleet(bench, "candidates", "prefer-prebuilt")
    costs, busy = bench.repeat(40, 20, take)
    numbers += [
        lab.Number("plan of 108 cells with candidates, time", [c.wall_s * 1e3 for c in costs], "ms", 50, busy),
        lab.Number("plan of 108 cells with candidates, CPU", [c.cpu_s * 1e3 for c in costs], "ms", None, busy),
    ]
    return numbers + many_cells(bench, "build-only", "") + many_cells(bench, "prefer-prebuilt", " with candidates")


def many_cells(bench, policy, title):
    """10,080 cells: 3 packages, 7 releases, 4 Pythons, 120 sets of architectures. Next to all of them are to be built,
    or those for the first four releases have a candidate each."""
    ones = ["7.5", "8.0", "8.6", "8.7", "8.9", "9.0"]
    sets = [";".join(some) for count in range(1, 7) for some in itertools.combinations(ones, count)]
    sets = [some + ptx for some in sets for ptx in ("", "+PTX")][:120]
    torch = ["2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0"]
    python = ["3.10", "3.11", "3.12", "3.13"]
    matrix = bench.matrix(f"many-{policy}", packages=PACKAGES, torch=torch, python=python, arch=sets, policy=policy)
    costs, busy = bench.repeat(15, 5, lambda name: bench.wheelsmith("plan", "plan", "--matrix", matrix))
    return [
        lab.Number(f"plan of 10,080 cells{title}, time", [c.wall_s for c in costs], "s", 0.5, busy),
        lab.Number(f"plan of 10,080 cells{title}, resident", [c.peak_bytes / 1e6 for c in costs], "MB", 50),
    ]


def engine(bench):
    """A graph of 1,000 commands that write one file, run and then found again; 20,000 and 50,000 without processes, in memory."""
    rows = {}

    def take(name):
        cost = bench.run(["{tests}/engine_driver", f"{{work}}/engine-{name}", "1000"])
        for line in cost.out.splitlines():
            what, _, value = line.partition(": ")
            rows.setdefault(what, []).append(float(value))
        return cost

    _, busy = bench.repeat(7, 3, take)

    def take_scripted(name, count="20000"):
        # In memory: a disk's syncs and its search for free inodes are not the engine's, and differ tenfold from host to host.
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            cost = bench.run(["{tests}/engine_driver", f"{folder}/store", count, "scripted"], watch=True)
        for line in cost.out.splitlines():
            what, _, value = line.partition(": ")
            rows.setdefault(f"{what} {count}", []).append(float(value))
        return cost

    scripted, busy_scripted = bench.repeat(3, 1, take_scripted)
    many, busy_many = bench.repeat(3, 1, lambda name: take_scripted(name, "50000"))
    return [
        lab.Number("an action that is found in the store, CPU", rows["hit_us"], "µs", None, busy),
        lab.Number("an action that runs /bin/cp, CPU", rows["run_us"], "µs", None, busy),
        lab.Number("/bin/cp started by hand, CPU", rows["hand_us"], "µs", None, busy),
        lab.Number("an action without a process, of 20,000, CPU", rows["scripted_us 20000"], "µs", 400, busy_scripted),
        lab.Number("20,000 actions twice, resident", [c.peak_bytes / 1e6 for c in scripted], "MB", 80, busy_scripted),
        lab.Number("50,000 actions without a process, time", rows["scripted_s 50000"], "s", 20, busy_many),
        lab.Number("50,000 actions twice, resident", [c.peak_bytes / 1e6 for c in many], "MB", 200, busy_many),
    ]
