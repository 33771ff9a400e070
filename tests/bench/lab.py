"""Running things and knowing what they cost: CPU, wall time, peak memory, and who else was busy."""
import concurrent.futures
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()


class Cost:
    """The cost of one run of a command; the CPU time is that of all its processes."""

    def __init__(self, wall_s, cpu_s, out, own_cpu_s=0.0, peak_bytes=0):
        self.wall_s, self.cpu_s, self.out = wall_s, cpu_s, out
        self.own_cpu_s = own_cpu_s  # of the process itself, without its children
        self.peak_bytes = peak_bytes  # most that the process itself had resident


class Watcher(threading.Thread):
    """Looks at a process every few milliseconds, a long one seldom: VmHWM only grows, so the last look tells the peak."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak_bytes, self.own_cpu_s = pid, 0, 0.0

    def run(self):
        began = time.monotonic()
        try:
            while True:
                with open(f"/proc/{self.pid}/status") as file:
                    lines = [line for line in file if line.startswith("VmHWM:")]
                if not lines:
                    return  # it has ended and waits for us
                self.peak_bytes = max(self.peak_bytes, int(lines[0].split()[1]) * 1024)
                with open(f"/proc/{self.pid}/stat") as file:
                    fields = file.read().rpartition(") ")[2].split()
                self.own_cpu_s = (int(fields[11]) + int(fields[12])) * TICK_S
                time.sleep(min(0.05, 0.003 + (time.monotonic() - began) / 100))
        except (FileNotFoundError, ProcessLookupError):
            return


def run(argv, watch=False, **options):
    """Runs a command that must succeed; stdout is kept, stderr is shown when it fails."""
    began = time.monotonic()
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    ) as child:
        watcher = Watcher(child.pid)
        if watch:
            watcher.start()
        errors = []
        reader = threading.Thread(target=lambda: errors.append(child.stderr.read()))
        reader.start()
        out = child.stdout.read()
        reader.join()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - began
    if child.returncode:
        sys.exit(f"bench: {' '.join(argv)}: exit {child.returncode}\n{errors[0].decode()}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, out.decode(), watcher.own_cpu_s, watcher.peak_bytes)


def beside(one, other, swap):
    """The results of both, run at the same time, each on a core of its own; swapped, each has the other's."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    assert len(cores) == 2, "two cores are needed"

    def pinned(core, take):
        os.sched_setaffinity(0, {core})  # of this thread, and of what it starts
        return take()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [pool.submit(pinned, core, take) for core, take in zip(cores[::-1] if swap else cores, (one, other))]
        return [future.result() for future in running]


# ---- who else is busy ----


def busy_s():
    """CPU seconds of the whole machine since it started, time stolen by its host included."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK_S


class Others:
    """The share of the machine that others used while we measured."""

    def __init__(self):
        self.began, self.busy = time.monotonic(), busy_s()

    def share(self, our_cpu_s):
        wall_s = time.monotonic() - self.began
        return max(0.0, (busy_s() - self.busy - our_cpu_s) / (wall_s * CORES))


def wait_for_quiet(most_s):
    """Waits until others leave the machine alone, at most so long."""
    until = time.monotonic() + most_s
    while time.monotonic() < until:
        others = Others()
        time.sleep(2)
        if others.share(0.0) < 0.05:
            return


# ---- numbers ----


class Number:
    """A row of the table: the median of samples, against what is promised."""

    def __init__(self, name, samples, unit, promised=None, note=""):
        self.name, self.samples, self.unit = name, samples, unit
        self.promised, self.note = promised, note

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def missed(self):
        return self.promised is not None and self.median > self.promised

    def row(self):
        low, high = min(self.samples), max(self.samples)
        spread = "" if len(self.samples) == 1 else f"{shown(low)} – {shown(high)}"
        promised = "" if self.promised is None else f"≤ {self.promised:g} {self.unit}"
        verdict = "" if self.promised is None else "MISSED" if self.missed else "kept"
        return [self.name, f"{shown(self.median)} {self.unit}", spread, str(len(self.samples)), promised, verdict, self.note]


def shown(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"


HEADER = ["number", "median", "min – max", "runs", "promised", "", "others used"]


def table(rows):
    widths = [max(len(row[i]) for row in rows + [HEADER]) for i in range(len(HEADER))]
    lines = [HEADER, ["-" * width for width in widths]] + rows
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


# ---- the host ----


def first_line(argv):
    try:
        return subprocess.check_output(argv, text=True, stderr=subprocess.DEVNULL).splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


def fact(path, key):
    with open(path) as file:
        for line in file:
            name, _, value = line.partition(":" if ":" in line else "=")
            if name.strip() == key:
                return value.strip().strip('"')
    return "?"


def file_system(path):
    return first_line(["findmnt", "-n", "-o", "FSTYPE", "-T", path])


def host_facts(work):
    memory_gib = int(fact("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    return [
        f"{CORES} cores, {fact('/proc/cpuinfo', 'model name')}; {memory_gib:.0f} GiB of memory",
        f"{fact('/etc/os-release', 'PRETTY_NAME')}, Linux {platform.release()}; work on {file_system(work)}",
        f"{first_line(['g++', '--version'])}; Python {platform.python_version()} drives",
    ]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def tree_bytes(path):
    """The size of a folder on disk."""
    return int(first_line(["du", "-sB1", path]).split()[0])


def clone(source, target):
    """A store with the same trees and files as links, and without what it remembers of this host."""
    subprocess.run(["cp", "-al", source, target], check=True)
    for name in os.listdir(target):
        if name.startswith("ledger.db") or name == "LOCK":
            os.unlink(f"{target}/{name}")
    shutil.copy(f"{source}/VERSION", f"{target}/VERSION.copy")
    os.replace(f"{target}/VERSION.copy", f"{target}/VERSION")
