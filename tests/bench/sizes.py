"""The savings of lean wheels: the same cells with upstream's flags and with ours, in one run."""
import glob
import os
import shutil
import sys
import zipfile

import builds
import lab
import sass

UPSTREAM = {"debug_info": "full", "compress": "none"}
# Package, axes, and what the wheel and its installed files may have at most (MB).
CELLS = [
    ("causal-conv1d==1.5.3.post1", {"torch": ["2.11.0"], "cuda": ["13.0"], "arch": ["9.0"]}, 4.0, 5.0),
    ("causal-conv1d==1.5.3.post1", {"torch": ["2.5.1"], "cuda": ["12.4"], "arch": ["8.6"]}, 13.5, None),
    ("mamba-ssm==2.2.6.post3", {"torch": ["2.11.0"], "cuda": ["13.0"], "arch": ["9.0"]}, 12.0, 15.0),
]
FLASH = ("flash-attn==2.8.3", {"torch": ["2.11.0"], "cuda": ["13.0"], "arch": ["9.0"]})
# Small, middle and large; forward, split and backward.
UNITS = [f"flash_{name}_sm80.cu" for name in (
    "fwd_hdim32_fp16", "fwd_hdim128_bf16_causal", "fwd_split_hdim64_fp16", "fwd_split_hdim256_bf16_causal",
    "bwd_hdim64_fp16", "bwd_hdim128_bf16")]
SECOND_PYTHON = 0.75  # of what it cost with upstream's flags


def build(bench, package, axes, python, how):
    """One cell; its wheel and what was compiled and linked for it."""
    name, folder = f"{package.partition('=')[0]}-{axes['cuda'][0]}-{how}", f"dist-{package.partition('=')[0]}-{axes['cuda'][0]}-{how}"
    extra = UPSTREAM if how == "upstream" else {}
    matrix = bench.matrix(f"{name}-{python}", packages=[package], python=[python], **axes, **extra)
    cost = bench.wheelsmith("size", "build", "--matrix", matrix, "--json", "-o", f"{{work}}/{folder}")
    tag = "cp" + python.replace(".", "")
    wheel, = glob.glob(f"{bench.work}/{folder}/*-{tag}-*.whl")
    return wheel, builds.stage_cpu_s(builds.actions(cost), "compile", "link")


def installed_bytes(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return sum(entry.file_size for entry in archive.infolist())


class Rows:
    def __init__(self):
        self.numbers = []

    def add(self, *words):
        self.numbers.append(lab.Number(*words))
        print("  ".join(filter(None, self.numbers[-1].row())), file=sys.stderr)


def cell(bench, rows, package, axes, wheel_mb, installed_mb):
    what = f"{package.partition('=')[0]}, CUDA {axes['cuda'][0]}, sm_{axes['arch'][0].replace('.', '')}"
    for how, promised in (("upstream", (None, None)), ("lean", (wheel_mb, installed_mb))):
        wheel, _ = build(bench, package, axes, "3.11", how)
        rows.add(f"{what}: wheel, {how}", [os.path.getsize(wheel) / 1e6], "MB", promised[0])
        rows.add(f"{what}: installed, {how}", [installed_bytes(wheel) / 1e6], "MB", promised[1])


def machine_code(bench, rows, package, axes):
    """Lean costs no speed: what runs on the GPU is the same bytes."""
    name, cuda = package.partition("=")[0], axes["cuda"][0]
    wheels = [glob.glob(f"{bench.work}/dist-{name}-{cuda}-{how}/*-cp311-*.whl")[0] for how in ("upstream", "lean")]
    upstream, lean = map(sass.kernels, wheels)
    rows.add(f"{name}, CUDA {cuda}: GPU functions", [sum(map(len, lean.values()))], "")
    rows.add(f"{name}, CUDA {cuda}: with other machine code", [len(sass.differing(upstream, lean))], "", 0)


def second_python(bench, rows, package, axes):
    """The binding file and the link; the kernels come from the store."""
    costs = {how: build(bench, package, axes, "3.12", how)[1] for how in ("upstream", "lean")}
    what = package.partition("=")[0]
    for how, cpu_s in costs.items():
        rows.add(f"{what}: a second Python, CPU, {how}", [cpu_s], "s")
    rows.add(f"{what}: a second Python, upstream = 1", [costs["lean"] / costs["upstream"]], "", SECOND_PYTHON)


def units(bench, rows):
    """Objects of flash-attn, whose whole takes four hours of CPU time."""
    package, axes = FLASH
    for how in ("upstream", "lean"):
        extra = UPSTREAM if how == "upstream" else {}
        matrix = bench.matrix(f"flash-{how}", packages=[package], python=["3.11"], **axes, **extra)
        total = 0
        for unit in UNITS:
            cost = bench.wheelsmith("size", "shell", "*", "--matrix", matrix, "--unit", unit)
            folder = cost.out.strip()
            bench.run([f"{folder}/run"])
            total += os.path.getsize(f"{folder}/unit.o")
        rows.add(f"flash-attn, {len(UNITS)} units: objects, {how}", [total / 1e6], "MB")
    whole, part = rows.numbers[-2].median, rows.numbers[-1].median
    rows.add("flash-attn: lean, upstream = 1", [part / whole], "")


def size(bench):
    """Wheels with upstream's flags (debug_info full, compress none) beside lean ones: bytes of the wheel and
    of what it installs, their machine code where cuobjdump is on PATH, CPU time of a second Python; of flash-attn
    six objects (--quick: causal-conv1d alone)."""
    rows = Rows()
    for package, axes, wheel_mb, installed_mb in CELLS[:2] if bench.options.quick else CELLS:
        cell(bench, rows, package, axes, wheel_mb, installed_mb)
        if shutil.which("cuobjdump"):
            machine_code(bench, rows, package, axes)
    second_python(bench, rows, *CELLS[0][:2])
    if not bench.options.quick:
        units(bench, rows)
    return rows.numbers
