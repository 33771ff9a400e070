"""Runs the engine with given durations: scripted runs with a simulated clock, without compilers."""
import tempfile

import lab

# flash-attn 2.8.3, one architecture: CPU seconds of the shortest and longest unit, of all 24, and the largest peak
# (docs/bench/lean-h200.md). Longer ones are those of larger head dimensions.
KINDS = {"bwd": (132, 301, 4791, 6758), "split": (162, 362, 6104, 3993), "fwd": (93, 252, 3716, 4710)}
DIMENSIONS = 32, 64, 96, 128, 192, 256
BINDING_S, BINDING_MIB, LINK_S = 22, 1331, 5
# Shares of a unit's CPU time for one architecture, by stage: flash-attn's forward of dimension 64, measured on this
# machine's kind.
SHARES = {"preprocess": 0.007, "cudafe++": 0.034, "cicc": 0.745, "ptxas": 0.17, "host": 0.037}
# Peaks of stages by that of cicc.
PEAKS = {"preprocess": 0.03, "cudafe++": 0.19, "cicc": 1, "ptxas": 0.09, "host": 0.13}


def units(kinds=KINDS, dimensions=DIMENSIONS):
    """(seconds, MiB) of each: four of a kind and dimension, between the shortest and the longest so that the sum is that of all."""
    for kind in kinds:
        least, most, total, mib = KINDS[kind]
        bend = (most - least) / (total / 24 - least) - 1
        for number in range(24):
            if DIMENSIONS[number // 4] in dimensions:
                share = ((number + 0.5) / 24) ** bend
                yield least + (most - least) * share, mib * (0.4 + 0.6 * (number + 1) / 24)


class Table:
    """Lines for engine_driver: each the milliseconds, MiB and makers of an action."""

    def __init__(self):
        self.lines, self.ends_s, self.work_s = [], [], 0.0

    def add(self, seconds, mib, *makers):
        ms = max(1, round(seconds * 1e3))
        self.lines.append(" ".join(map(str, [ms, max(1, round(mib)), *makers])))
        self.work_s += ms / 1e3
        self.ends_s.append(ms / 1e3 + max([self.ends_s[m - 1] for m in makers], default=0))
        return len(self.lines)

    def add_unit(self, seconds, mib, archs):
        def stage(name, *makers):
            return self.add(seconds * SHARES[name], mib * PEAKS[name], *makers)

        front = stage("cudafe++", stage("preprocess"))
        ciccs = [stage("cicc", stage("preprocess")) for _ in range(archs)]
        images = self.add(0.1, 32, *[stage("ptxas", cicc) for cicc in ciccs])
        return stage("host", front, ciccs[-1], images)

    def longest_s(self):
        return max(self.ends_s)

    def run(self, bench, slots, mib):
        """Seconds by the scripted clock, and MiB."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            with open(f"{folder}/table", "w") as file:
                file.write("\n".join(self.lines) + "\n")
            out = bench.run(["{tests}/engine_driver", f"{folder}/store", f"{folder}/table", str(slots), str(mib)]).out
        values = dict(line.split(": ") for line in out.splitlines())
        return float(values["simulated_s"]), int(values["peak_mib"])


def of_package(archs, **some):
    table = Table()
    objects = [table.add_unit(s, mib, archs) for s, mib in units(**some)]
    table.add(LINK_S, 256, table.add(BINDING_S, BINDING_MIB), *objects)
    return table


def schedule(bench):
    """Durations of flash-attn's units, by stage, through the engine with a scripted runner: 16 slots; one large unit;
    four slots and 10 GiB."""
    whole = of_package(archs=2)
    seconds, _ = whole.run(bench, 16, 512 << 10)
    bound_s = max(whole.work_s / 16, whole.longest_s())
    one = Table()
    one.add_unit(301, 6758, archs=6)
    one_s, _ = one.run(bench, 16, 512 << 10)
    tight = of_package(archs=1, kinds=["fwd", "bwd"], dimensions=(64, 96, 128))
    tight_s, held_mib = tight.run(bench, 4, 10 << 10)
    return [
        lab.Number("flash-attn, two architectures, 16 slots: by max(work ÷ 16, longest path)", [seconds / bound_s], "", 1.05, f"{seconds:,.0f} s"),
        lab.Number("one unit, six architectures, 16 slots: by one nvcc", [one_s / one.work_s], "", 0.35, f"{one_s:.0f} s"),
        lab.Number("dimensions 64 to 128, 4 slots, 10 GiB: held", [held_mib / 1024], "GiB", 10.5),
        lab.Number("… time, by work ÷ 4", [tight_s / (tight.work_s / 4)], "", None, f"{tight_s:,.0f} s"),
    ]
