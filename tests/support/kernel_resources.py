"""Compares the registers and memory of kernels/device, as ptxas reports them, with the committed table.

    kernel_resources.py NVCC TABLE ARCH... [--update] [--built FOLDER]

Prints every line that differs. Fails on any difference, on a spill, on more than 48 KiB of static shared memory,
and where a multiprocessor of sm_75 holds fewer blocks than __launch_bounds__ requires: these numbers are the evidence
for GPUs that are not available for tests.

--built: reads the files that CMake built for one ARCH with WS_KERNELS_FLAGS="-Xptxas;-v;-keep;-keep-dir;FOLDER" and
its output FOLDER/log, instead of compiling again.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

SHARED_MAX = 49152
ROOT = pathlib.Path(__file__).resolve().parents[2]

#: Of a multiprocessor of sm_75: threads, registers, bytes of shared memory
THREADS, REGISTERS, SHARED = 1024, 65536, 65536

#: Ask for three blocks, of which two fit; asking for two gives other code on sm_75 (183 registers for 167), which has not
#: run on any GPU.
UNMET = {"wsk_scan_forward_f16": 2, "wsk_scan_forward_bf16": 2}

#: Bytes that these spill, or load again, for sm_100 and sm_120, on which they have not run: ptxas of 13.0 takes more registers
#: there than for any older target, and other orders of the same loads do not change it.
SPILLED = {("100", "attn_80"): 16, ("120", "attn_80"): 36}
SPILLING = "wsk_forward_f16", "wsk_forward_bf16"


def release(nvcc):
    text = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"release ([0-9.]+)", text)[1]


def blocks(threads, registers, shared):
    """How many blocks a multiprocessor of sm_75 holds. Registers are given out by 256 for each warp, memory by 256."""
    up = lambda n, of: -(-n // of) * of
    by_registers = REGISTERS // (up(registers * 32, 256) * -(-threads // 32))
    return min(16, THREADS // threads, by_registers, SHARED // max(up(shared, 256), 1))


def bounds(ptx):
    """{kernel: (threads, blocks that it is to have at once)} of a text of PTX."""
    found = {}
    for part in ptx.split(".entry ")[1:]:
        head = part.split("{")[0]
        threads, least = (re.search(rf"\.{name} (\d+)", head) for name in ("maxntid", "minnctapersm"))
        found[re.match(r"\w+", part)[0]] = int(threads[1]), int(least[1]) if least else 1
    return found


def resources(told, ptx):
    """{kernel: (registers, shared, spilled, threads, blocks asked for)} of what ptxas told of one file."""
    found, asked = {}, bounds(ptx)
    for part in told.split("Compiling entry function '")[1:]:
        name = part.split("'")[0]
        spills = [int(n) for n in re.findall(r"(\d+) bytes (?:stack frame|spill)", part)]
        shared = re.search(r"(\d+) bytes smem", part)
        registers = int(re.search(r"Used (\d+) registers", part)[1])
        found[name] = registers, int(shared[1]) if shared else 0, max(spills), *asked[name]
    return found


def measure(nvcc, arch, source):
    """The resources of one file for one architecture."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", "-fatbin", "-Xptxas", "-v", "-o", folder + "/x", "-keep", "-keep-dir", folder]
        command += ["-gencode", f"arch=compute_{arch},code=sm_{arch}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return resources(done.stderr, pathlib.Path(folder, source.stem + ".ptx").read_text())


def built(folder, source):
    """The same, of what was built: a step of the build names the file that it makes, and tells of it."""
    steps = re.split(r"^\[\d+/\d+\] ", (folder / "log").read_text(), flags=re.M)
    step = next(s for s in steps if f"/{source.stem}.fatbin" in s or s.startswith(f"Generating {source.stem}.fatbin"))
    return resources(step, (folder / (source.stem + ".ptx")).read_text())


def sources():
    return sorted((ROOT / "kernels/device").rglob("*.cu"))


def measure_all(nvcc, archs, folder):
    """{(arch, file): resources}"""
    if folder:
        return {(archs[0], s): built(folder, s) for s in sources()}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {(a, s): pool.submit(measure, nvcc, a, s) for a in archs for s in sources()}
    return {key: job.result() for key, job in jobs.items()}


def problems(arch, image, kernel, registers, shared, spilled, threads, asked):
    if spilled > (SPILLED.get((arch, image), 0) if kernel in SPILLING else 0):
        yield f"{spilled} bytes spilled"
    if shared > SHARED_MAX:
        yield f"{shared} bytes of shared memory"
    fits = blocks(threads, registers, shared)
    if arch == "75" and fits < UNMET.get(kernel, asked):
        yield f"{asked} blocks are asked for, {fits} fit ({registers} registers, {shared} bytes)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nvcc")
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("archs", nargs="+")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--built", type=pathlib.Path)
    given = parser.parse_args()
    version, bad, lines = release(given.nvcc), 0, set()
    for (arch, source), kernels in measure_all(given.nvcc, given.archs, given.built).items():
        for kernel, found in kernels.items():
            name = f"{version} sm_{arch} {source.stem} {kernel}"
            lines.add(f"{name} {found[0]} {found[1]}")
            for problem in problems(arch, source.stem, kernel, *found):
                print(f"{name}: {problem}")
                bad = 1
    text = given.table.read_text().splitlines() if given.table.exists() else []
    ours = tuple(f"{version} sm_{arch} " for arch in given.archs)
    comments = [line for line in text if line.startswith("#")]
    known = {line for line in text if not line.startswith("#")}
    mine = {line for line in known if line.startswith(ours)}
    for line in sorted(mine ^ lines):
        print("+" if line in lines else "-", line)
    if given.update:
        given.table.write_text("\n".join(comments + sorted(known - mine | lines)) + "\n")
        sys.exit(bad)
    sys.exit(bad or mine != lines)


if __name__ == "__main__":
    main()
