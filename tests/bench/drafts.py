"""drafts.py [FOLDER] - what drafts say of real source distributions, held against what their setup.py passes

Runs each setup.py beside a torch that is made up (tests/support/setup_truth.py), in a copy below FOLDER, and writes
docs/bench/drafts.md. Needs the package index.
"""
import datetime
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [f"{ROOT}/builder/draft/reader", f"{ROOT}/tests/support"]
sys.dont_write_bytecode = True
from check_schemas import relaxed  # noqa: E402
from setup_compare import compare, truth_of  # noqa: E402
from tree import Tree  # noqa: E402

# Packages whose setup.py calls CUDAExtension.
PACKAGES = """
    auto-gptq==0.7.1 biwkv4-cuda==0.3.2 causal-conv1d==1.7.0 chamferdist==1.0.3 clic-inference-extensions==0.1.0.post2
    dcnv4==1.0.0.post2 diso==0.1.4 ds-splat==0.0.2 fast-hadamard-transform==1.1.0 flash-attn==2.8.3.post2
    flash-mla==1.0.0.dev0 fpscan==0.1.2 fused-lncc==0.1.0 grouped-gemm==0.3.0 gsplat==1.5.3 inplace-abn==1.1.0
    ista-daslab-optimizers-cuda==1.1.0 mamba-ssm==2.3.2.post1 megablocks==0.10.0 mmcv-full==1.7.2 mmcv==2.2.0
    nerfacc==0.5.3 pytorch-fast-transformers==0.4.0 stainx==0.1.6 torch-cluster==1.6.3
    torch-points-kernels==0.7.0 torch-scatter==2.1.2 torch-sparse==0.6.18 torch-spline-conv==1.2.2 torchsort==0.1.10
    warp-rnnt==0.7.0 xformers==0.0.30 xformers==0.0.35
""".split()

INTRODUCTION = """`wheelsmith recipe new` reads setup.py and runs nothing of it. Here each setup.py ran once, beside a made-up
    torch 2.7.1 with CUDA 12.8, and what it passed to CUDAExtension and setup() was compared with the draft as it came, no line
    of it touched. Flags that a recipe never names (-std, -gencode, --threads, ...) are left out on both sides. By
    `python3 tests/bench/drafts.py`."""


def draft(package, program, work):
    """Marks, what running says if it ends early, and what the draft has otherwise."""
    name, _, version = package.partition("==")
    path, store, copy = f"{work}/{name}-{version}.json", f"{work}/store", f"{work}/copy"
    subprocess.run([program, "-q", "recipe", "new", package, "--store", store, "-o", path], check=True,
                   stderr=subprocess.DEVNULL)
    folder, = [path for path in glob.glob(f"{store}/trees/src-{name}-{version}-*") if os.path.isdir(path)]
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    os.remove(path)
    truth = truth_of(copy)
    return text.count("// check:"), truth.get("error", ""), compare(truth, relaxed(text), Tree(folder), copy)


def main():
    program, rows, right = os.environ.get("WHEELSMITH", f"{ROOT}/build/dev/wheelsmith"), [], 0
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as work:
        for package in PACKAGES:
            marks, error, wrong = draft(package, program, work)
            right += not wrong and not error
            said = "; ".join(wrong).replace("|", "/")[:300] or error or "right"
            rows.append(f"| {package} | {marks} | {said} |")
            print(rows[-1], flush=True)
    text = "\n".join([
        "# Drafts of source distributions", "", " ".join(INTRODUCTION.split()), "",
        f"{right} of {len(PACKAGES)} are right in modules, sources, flags, folders, Python packages and requirements"
        f" ({datetime.date.today()}).", "", "| source distribution | lines to check | against setup.py |", "|---|---:|---|",
        *rows]) + "\n"
    with open(f"{ROOT}/docs/bench/drafts.md", "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
