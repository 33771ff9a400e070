"""upstream.py DIST STORE ARCHS OUT - our wheels beside those that `pip wheel` makes of the same sources

DIST is the folder of a build for one torch, Python and set of architectures (ARCHS: "8.0;9.0"), STORE the store that it was built in, whose
sources are used; this Python has that torch, setuptools and ninja, and nvcc and cuobjdump are on PATH. For each package: the
files of both wheels, and for each module the names that it exports, the architectures of its GPU code, and what of its
machine code is equal. OUT gets the table; packages are built beside each other.
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

JOBS = int(os.environ.get("JOBS", "4"))  # packages at once


def said(*argv):
    return subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def modules(wheel, folder):
    """{name without the suffix of this Python: path}, and the other files without the dist-info."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        names = [name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")]
    found = {re.sub(r"\.(cpython-[^.]*|abi3)\.so$|\.so$", "", name): f"{folder}/{name}" for name in names if name.endswith(".so")}
    return found, {name for name in names if not name.endswith(".so")}


def exported(path):
    """Names that are defined and not weak: weak ones are templates that each compiler run may inline."""
    return {line.split()[-1] for line in said("nm", "-D", "--defined-only", path).splitlines() if line.split()[-2] not in "WVuw"}


def weak(path):
    return {line.split()[-1] for line in said("nm", "-D", "--defined-only", path).splitlines() if line.split()[-2] in "WVu"}


def images(path):
    return sorted(set(re.findall(r"\.(sm_\w+|compute_\w+)\.(?:cubin|ptx)", said("cuobjdump", "--list-elf", "--list-ptx", path))))


def functions(path):
    """The machine code of each kernel, without addresses."""
    code, name = {}, None
    for line in said("cuobjdump", "--dump-sass", path).splitlines():
        if "Function :" in line:
            name = line.split(":", 1)[1].strip()
            code[name] = []
        elif name and (text := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?);", line)):
            code[name].append(text[1])
    return code


def theirs(source, archs, work):
    """Builds a copy of the sources as pip does; the wheel or the end of what was said."""
    shutil.copytree(source, f"{work}/src")
    subprocess.run(["chmod", "-R", "u+w", work], check=True)
    env = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")}
    env |= {"TORCH_CUDA_ARCH_LIST": archs, "FORCE_CUDA": "1", "BUILD_CUDA_EXT": "1", "MAX_JOBS": os.environ.get("MAX_JOBS", "4")}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", f"{work}/out",
                           f"{work}/src"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wheels = glob.glob(f"{work}/out/*.whl")
    return (wheels[0], "") if done.returncode == 0 and wheels else (None, done.stdout[-1500:])


def words(ours, upstreams, limit=3):
    """The elements that only one of two sets has."""
    parts = []
    for who, names in ("ours", ours - upstreams), ("theirs", upstreams - ours):
        if names:
            shown = sorted(names, key=len)[:limit]
            parts.append(f"{len(names)} of {who} alone: {', '.join(name[:60] for name in shown)}")
    return "; ".join(parts) or "equal"


def compare(package, wheel, source, archs):
    with tempfile.TemporaryDirectory() as work:
        return compare_in(work, package, wheel, source, archs)


def compare_in(work, package, wheel, source, archs):
    began = time.monotonic()
    upstream, said_last = theirs(source, archs, work)
    if not upstream:
        return [package, "pip wheel failed", said_last]
    ours_so, ours_files = modules(wheel, f"{work}/a")
    theirs_so, theirs_files = modules(upstream, f"{work}/b")
    row = [package, words(ours_files, theirs_files), words(set(ours_so), set(theirs_so))]
    for name in sorted(set(ours_so) & set(theirs_so)):
        a, b = ours_so[name], theirs_so[name]
        first, second = functions(a), functions(b)
        same = sum(first.get(kernel) == code for kernel, code in second.items())
        row.append(f"{name.split('/')[-1]}: names {len(exported(b))} {words(exported(a), exported(b))}, weak {len(weak(b))} {words(weak(a), weak(b), 1)}, "
                   f"GPU {' '.join(images(a))}{'' if images(a) == images(b) else ' for ' + ' '.join(images(b))}, "
                   f"kernels {len(first)}, {same} of {len(second)} the same instructions")
    row.append(f"{time.monotonic() - began:.0f} s")
    return row


def main():
    dist, store, archs, out = sys.argv[1:]
    with open(f"{dist}/build.json") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell.get("wheel")]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool, open(out, "w") as file:
        running = []
        for cell in cells:
            package = cell["cell"].split("/")[0]
            source = next(path for path in glob.glob(f"{store}/trees/src-{package}-*") if os.path.isdir(path))
            running.append(pool.submit(compare, package, f"{dist}/{cell['wheel']}", source, archs))
        for future in concurrent.futures.as_completed(running):
            text = " | ".join(future.result())
            print(text, flush=True)
            print(text, file=file, flush=True)


if __name__ == "__main__":
    main()
