#!/usr/bin/env python3
"""The long proof: wheels of real packages import in real torches, and are what pip would have built.

    proof.py WHEELSMITH WORK

Builds causal-conv1d and mamba-ssm for two torch releases and two Pythons, installs each wheel with
pip into a fresh environment with the real torch, imports module and package, and compares
causal-conv1d with the wheel that `pip wheel` makes from the same sdist. Prints a Markdown table;
exits 1 when anything is not as it must be. WORK needs 15 GB and keeps its store between runs.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

WHEELSMITH, WORK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PYTHONS = ["3.11", "3.12"]
TARGETS = [
    {"torch": "2.5.1", "cuda": "12.4", "arch": "8.6", "sm": "sm_86"},
    {"torch": "2.11.0", "cuda": "13.0", "arch": "9.0", "sm": "sm_90"},
]
PACKAGES = ["causal-conv1d==1.5.3.post1", "mamba-ssm==2.2.6.post3"]
MODULES = {"causal_conv1d": ("causal_conv1d_cuda", "causal_conv1d"), "mamba_ssm": ("selective_scan_cuda", "mamba_ssm")}
# Packages that an import needs besides torch and the wheel, in versions that work with both torch releases.
NEEDS = ["numpy<2.3", "einops", "packaging", "ninja", "setuptools<81", "transformers<5"]
# Ends of sections: ld exports them from a module when a library of the link (libtorch of 2.5.1) has names of this kind.
LINKERS_OWN = {"__bss_start", "_edata", "_end"}
FAILURES = []


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def check(what, good, detail=""):
    if not good:
        FAILURES.append(f"{what}: {detail}")
    return "yes" if good else f"NO: {detail}"


def python_of(version):
    """An interpreter of this version, as wheelsmith would find it."""
    for place in (f"{os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))}/versions", "/opt/python"):
        names = sorted(n for n in (os.listdir(place) if os.path.isdir(place) else []) if n.startswith(version + "."))
        if names:
            return f"{place}/{names[-1]}/bin/python3"
    return shutil.which(f"python{version}") or sys.exit(f"no Python {version} here")


def build(target):
    folder = f"{WORK}/torch{target['torch']}"
    os.makedirs(folder, exist_ok=True)
    matrix = {
        "packages": PACKAGES,
        "torch": [target["torch"]],
        "cuda": [target["cuda"]],
        "python": PYTHONS,
        "arch": [target["arch"]],
        "policy": "build-only",
    }
    with open(f"{folder}/matrix.json", "w") as file:
        json.dump(matrix, file)
    run(WHEELSMITH, "build", "--store", f"{WORK}/store", "--matrix", f"{folder}/matrix.json", "-o", f"{folder}/dist")
    with open(f"{folder}/dist/build.json") as file:
        return folder, json.load(file)


def linked_for_this_host(folder):
    """causal-conv1d of the same objects, linked as pip links: against this host's libraries, not an older system's."""
    run(WHEELSMITH, "build", "--store", f"{WORK}/store", "--matrix", f"{folder}/matrix.json", "--glibc", "host",
        "--only", f"causal-conv1d*/cp{PYTHONS[0].replace('.', '')}/*", "-o", f"{folder}/dist-host")
    return next(f"{folder}/dist-host/{name}" for name in os.listdir(f"{folder}/dist-host") if name.endswith(".whl"))


def environment(target, python, folder):
    """A fresh environment with the real torch."""
    place = f"{folder}/venv-{python}"
    shutil.rmtree(place, ignore_errors=True)
    run(python_of(python), "-m", "venv", place)
    run(f"{place}/bin/pip", "install", "-q", f"torch=={target['torch']}", *NEEDS)
    return place


def import_in(place, name):
    """'' when it imports, else the last line of the traceback."""
    answer = subprocess.run([f"{place}/bin/python", "-c", f"import torch, {name}"], capture_output=True, text=True, cwd="/")
    return "" if answer.returncode == 0 else (answer.stderr.strip().splitlines() or ["?"])[-1]


def pip_wheel(target, place, folder):
    """causal-conv1d as pip builds it: its own setup.py, its archs cut to ours by an nvcc wrapper."""
    cuda = cuda_root(target)
    wrapper = f"{folder}/nvcc"
    gencode = f"arch={target['sm'].replace('sm', 'compute')},code={target['sm']}"
    with open(wrapper, "w") as file:
        file.write(
            "#!/usr/bin/env python3\n# Its setup.py names architectures of its own: here they give way to one.\n"
            "import os, sys\nwords, out = sys.argv[1:], []\nwhile '-gencode' in words:\n"
            "    at = words.index('-gencode')\n    del words[at:at + 2]\n"
            f"    out = ['-gencode', {gencode!r}]\n"
            # By its path: nvcc looks for its profile where the name it was called by is.
            f"nvcc = {cuda + '/bin/nvcc'!r}\nos.execv(nvcc, [nvcc, '-ccbin', '/usr/bin/g++', '--cudart', 'shared'] + words + out)\n"
        )
    os.chmod(wrapper, 0o755)
    sdists = f"{folder}/sdist"
    run(f"{place}/bin/pip", "install", "-q", "wheel")
    env = dict(os.environ, CUDA_HOME=cuda, PYTORCH_NVCC=wrapper, CAUSAL_CONV1D_FORCE_BUILD="TRUE", MAX_JOBS="2")
    for name in ("LIBRARY_PATH", "CPATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS"):
        env.pop(name, None)
    command = [f"{place}/bin/pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    command += ["--no-binary", "causal-conv1d"]
    shutil.rmtree(sdists, ignore_errors=True)
    run(*command, "-w", sdists, "causal-conv1d==1.5.3.post1", env=env)
    return f"{sdists}/{os.listdir(sdists)[0]}"


def cuda_root(target):
    """The toolkit that wheelsmith used: the host's, or the archive kit's tree."""
    with open(f"{WORK}/torch{target['torch']}/matrix.lock.json") as file:
        pin = next(p for p in json.load(file)["cuda"] if p["cuda"] == target["cuda"])
    if pin["how"] == "host":
        return pin["name"]
    return f"{WORK}/store/trees/{pin['name']}-{pin['digest'][:16]}"


def module_of(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".so"))
        return archive.extract(name, folder)


def symbols(module, *options):
    """Names without what nvcc derives from the source's path and a random number."""
    text = subprocess.check_output(["nm", "-D", *options, module], text=True)
    names = {line.split()[-1].split("@")[0] for line in text.splitlines()}
    names -= LINKERS_OWN
    return {re.sub(r"_[0-9a-f]{8}_\d+_causal_conv1d\w*?_cu_[0-9a-f]{8}(_\d+)?", "_ID", n) for n in names}


def gpu_code(module, cuda):
    text = subprocess.check_output([f"{cuda}/bin/cuobjdump", "--list-elf", module], text=True)
    return set(re.findall(r"sm_\d+\w?", text))


def files_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {n for n in archive.namelist() if ".dist-info/" not in n}


def compare(target, ours, theirs, folder):
    one, two = module_of(ours, f"{folder}/ours"), module_of(theirs, f"{folder}/theirs")
    tools = cuda_root(TARGETS[0])  # kits of CUDA 13 have no cuobjdump; this one reads their modules too
    rows = []
    for what, left, right in (
        ("exported symbols", symbols(one, "--defined-only"), symbols(two, "--defined-only")),
        ("undefined symbols", symbols(one, "-u"), symbols(two, "-u")),
        ("SM list", gpu_code(one, tools), gpu_code(two, tools)),
        ("installed files", files_of(ours), files_of(theirs)),
    ):
        odd = sorted(left ^ right)
        verdict = check(f"torch {target['torch']}: {what}", not odd, f"{len(odd)} differ: {odd[:4]}")
        rows.append((what, len(left), len(right), verdict))
    return rows


def prove(target, table, comparison):
    folder, report = build(target)
    for python in PYTHONS:
        place = environment(target, python, folder)
        tag = "cp" + python.replace(".", "")
        for cell in report["cells"]:
            if f"-{tag}-{tag}-" not in cell["wheel"]:
                continue
            wheel = f"{folder}/dist/{cell['wheel']}"
            said = subprocess.run([WHEELSMITH, "verify", wheel, "--torch", target["torch"], "--arch", target["arch"],
                                   "--store", f"{WORK}/store"], text=True, capture_output=True)
            check(f"verify {cell['wheel']}", said.returncode == 0, said.stdout)
            run(f"{place}/bin/pip", "install", "-q", "--no-deps", wheel)
            module, package = MODULES[cell["package"].replace("-", "_")]
            row = [cell["package"], target["torch"], target["cuda"], python, target["arch"]]
            for name in (module, package):
                error = import_in(place, name)
                row.append(check(f"import {name} in torch {target['torch']}, Python {python}", not error, error))
            row.append(f"{os.path.getsize(wheel) / 1e6:.1f} MB")
            table.append(row)
            if cell["package"] == "causal-conv1d" and python == PYTHONS[0]:
                theirs = pip_wheel(target, place, folder)
                comparison += [(target["torch"], *r) for r in compare(target, linked_for_this_host(folder), theirs, folder)]
        shutil.rmtree(place)


def print_tables(table, comparison):
    print("| package | torch | CUDA | Python | arch | module imports | package imports | wheel |")
    print("|---|---|---|---|---|---|---|---:|")
    for row in table:
        print("| " + " | ".join(row) + " |")
    print("\ncausal-conv1d 1.5.3.post1 beside the wheel that `pip wheel` makes from the same sdist, one architecture:\n")
    print("| torch | compared | ours | pip's | equal |\n|---|---|---:|---:|---|")
    for row in comparison:
        print("| " + " | ".join(str(c) for c in row) + " |")


def main():
    table, comparison = [], []
    for target in TARGETS:
        prove(target, table, comparison)
    print_tables(table, comparison)
    check("wheels tried", len(table) == len(TARGETS) * len(PYTHONS) * len(MODULES), len(table))
    check("wheels compared", len(comparison) == len(TARGETS) * 4, len(comparison))
    for failure in FAILURES:
        print(f"FAILED {failure}")
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
