"""drafts.py [FOLDER] - what drafts say of real source distributions, held against what their setup.py passes

Runs each setup.py beside a torch that is made up (tests/support/setup_truth.py), in a copy below FOLDER, and writes
docs/bench/drafts.md. Needs the package index.
"""
import datetime
import glob
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [f"{ROOT}/builder/draft/reader", f"{ROOT}/tests/support"]
sys.dont_write_bytecode = True
from check_schemas import relaxed  # noqa: E402
from flags import Flags  # noqa: E402
from tree import Tree  # noqa: E402

# Whose setup.py calls CUDAExtension.
PACKAGES = """
    auto-gptq==0.7.1 causal-conv1d==1.7.0 chamferdist==1.0.3 clic-inference-extensions==0.1.0.post2 dcnv4==1.0.0.post2
    diso==0.1.4 ds-splat==0.0.2 fast-hadamard-transform==1.1.0 flash-attn==2.8.3.post2 flash-mla==1.0.0.dev0 fpscan==0.1.2
    fused-lncc==0.1.0 grouped-gemm==0.3.0 gsplat==1.5.3 inplace-abn==1.1.0 ista-daslab-optimizers-cuda==1.1.0
    mamba-ssm==2.3.2.post1 megablocks==0.10.0 mmcv==2.2.0 mmcv-full==1.7.2 nerfacc==0.5.3 pytorch-fast-transformers==0.4.0
    torch-cluster==1.6.3 torch-points-kernels==0.7.0 torch-scatter==2.1.2 torch-sparse==0.6.18 torch-spline-conv==1.2.2
    torchsort==0.1.10 warp-rnnt==0.7.0 xformers==0.0.30 xformers==0.0.35
""".split()

INTRODUCTION = """`wheelsmith recipe new` reads setup.py and runs nothing of it. Here each setup.py ran once, beside a made-up
    torch 2.7.1 with CUDA 12.8, and what it passed to CUDAExtension and setup() was compared with the draft as it came, no line
    of it touched. Flags that a recipe never names (-std, -gencode, --threads, ...) are left out on both sides. By
    `python3 tests/bench/drafts.py`."""


def inside(path, folder):
    path = posixpath.normpath(posixpath.relpath(path, folder) if path.startswith("/") else path)
    return None if path.startswith("..") else path


def flags_of(words, macros, undef):
    words = words + ["-D%s" % name if value is None else "-D%s=%s" % (name, value) for name, value in macros]
    return Flags([(word, False) for word in words + ["-U" + name for name in undef]]).flags


def sources_of(listed, tree):
    found = []
    for source in listed:
        found += [source] if isinstance(source, str) else sorted(
            path for path in tree.files if posixpath.dirname(path) == posixpath.dirname(source["glob"])
            and re.fullmatch(re.escape(source["glob"]).replace("\\*", "[^/]*"), path))
    return set(found)


def packages_of(python, tree):
    """The packages that a recipe ships, as find_packages() names them."""
    root, found = python.get("root", ""), set()
    for package in python.get("packages", []):
        found.add(package)
        base = posixpath.join(root, package)
        for folder in sorted(tree.folders):
            inner = folder[len(root) + 1 if root else 0:]
            if folder.startswith(base + "/") and posixpath.dirname(inner) in found and folder + "/__init__.py" in tree.files:
                found.add(inner)
    gone = [glob_[:-1] for glob_ in python.get("exclude", [])]
    return {name for name in found if not any((name + "/").startswith(prefix) for prefix in gone)}


def compare(truth, recipe, tree, folder):
    """What the draft has otherwise than setup.py."""
    every, wrong = recipe.get("every_extension", {}), []
    drafted = {module["module"]: module for module in recipe.get("extensions", [])}
    real = {}
    for call in truth["extensions"]:
        if call["sources"]:  # a glob that matches nothing in the sdist makes a module that cannot be built
            real.setdefault(call["name"], call)
    if set(drafted) != set(real):
        wrong.append("modules: %s, not %s" % (", ".join(sorted(drafted)) or "none", ", ".join(sorted(real))))
    for name in sorted(set(drafted) & set(real)):
        call, module = real[name], drafted[name]
        sources = {inside(path, folder) for path in call["sources"]}
        if sources != sources_of(module["sources"], tree):
            wrong.append("sources of %s: %s" % (name, ", ".join(sorted(
                sources ^ sources_of(module["sources"], tree)))[:200]))
        kinds = {path.endswith(".cu") for path in sources}
        for kind, key in ("cxx", "cxx_flags"), ("nvcc", "nvcc_flags"):
            wanted = flags_of(call[kind], call["macros"], call["undef"]) if (kind == "nvcc") in kinds else []
            got = (every.get(key, []) if (kind == "nvcc") in kinds else []) + module.get(key, [])
            if wanted != got:
                wrong.append("%s of %s: %s" % (key, name, " ".join(sorted(set(wanted) ^ set(got))) or "another order"))
        wanted = [word for word in call["link"] + ["-l" + library for library in call["libraries"]]]
        if wanted != every.get("link_flags", []) + module.get("link_flags", []):
            wrong.append("link_flags of %s" % name)
        include = {path for path in (inside(path, folder) for path in call["include"]) if path and tree.has_folder(path)}
        if include - set(every.get("include", []) + module.get("include", [])):
            wrong.append("include of %s" % name)
    wanted = {name.replace(".", "/") for name in truth.get("packages", [])}
    where = (recipe.get("python") or {}).get("root", "")
    wanted = {name for name in wanted if any(posixpath.dirname(path) == posixpath.join(where, name) and path.endswith(".py")
                                             for path in tree.files)}
    got = packages_of(recipe.get("python") or {}, tree)
    if wanted != got:
        wrong.append("packages: %s" % ", ".join(sorted(wanted ^ got))[:200])
    names = {re.split(r"[ <>=!~;\[(@]", text)[0].lower().replace("_", "-") for text in truth.get("install_requires", [])
             if not text.startswith(("-", "#"))}
    have = {re.split(r"[ <>=!~;\[(@]", text)[0].lower().replace("_", "-") for text in recipe["metadata"]["requires"]
            if ";" not in text}  # setuptools keeps those with a marker elsewhere
    if names - have or have - names - {"torch"}:
        wrong.append("requirements: %s" % ", ".join(sorted(names ^ have)))
    return wrong


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
    truth = json.loads(subprocess.run([sys.executable, "-W", "ignore", f"{ROOT}/tests/support/setup_truth.py", copy],
                                      check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
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
