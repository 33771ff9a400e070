"""What the kernels of kernels/device take, by ptxas, against the committed table.

    kernel_resources.py NVCC TABLE ARCH... [--update]

Prints every line that differs. Fails on any difference, on a spill, and on more shared memory than a
kernel has without asking (48 KiB): the numbers are the evidence that a GPU nobody here has can run them.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

SHARED_MAX = 49152
ROOT = pathlib.Path(__file__).resolve().parents[2]


def release(nvcc):
    text = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"release ([0-9.]+)", text)[1]


def measure(nvcc, arch, source):
    """{kernel: (registers, shared, spilled)} of one file for one architecture."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-std=c++17", "-fatbin", "-Xptxas", "-v", "-o", folder + "/x"]
        command += ["-gencode", f"arch=compute_{arch},code=sm_{arch}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    found = {}
    for part in done.stderr.split("Compiling entry function '")[1:]:
        spills = [int(n) for n in re.findall(r"(\d+) bytes (?:stack frame|spill)", part)]
        shared = re.search(r"(\d+) bytes smem", part)
        found[part.split("'")[0]] = (
            int(re.search(r"Used (\d+) registers", part)[1]),
            int(shared[1]) if shared else 0,
            max(spills),
        )
    return found


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    nvcc, table, archs = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    sources = sorted((ROOT / "kernels/device").glob("*.cu"))
    version, bad, lines = release(nvcc), 0, set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {(a, s): pool.submit(measure, nvcc, a, s) for a in archs for s in sources}
    for (arch, source), job in jobs.items():
        for kernel, (registers, shared, spilled) in job.result().items():
            name = f"{version} sm_{arch} {source.stem} {kernel}"
            lines.add(f"{name} {registers} {shared}")
            if spilled:
                print(f"{name}: {spilled} bytes spilled")
                bad = 1
            if shared > SHARED_MAX:
                print(f"{name}: {shared} bytes of shared memory")
                bad = 1
    text = table.read_text().splitlines() if table.exists() else []
    ours = tuple(f"{version} sm_{arch} " for arch in archs)
    comments = [line for line in text if line.startswith("#")]
    known = {line for line in text if not line.startswith("#")}
    mine = {line for line in known if line.startswith(ours)}
    for line in sorted(mine ^ lines):
        print("+" if line in lines else "-", line)
    if "--update" in sys.argv:
        table.write_text("\n".join(comments + sorted(known - mine | lines)) + "\n")
        sys.exit(bad)
    sys.exit(bad or mine != lines)


main()
