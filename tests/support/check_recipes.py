#!/usr/bin/env python3
"""Every shipped recipe against the source distribution that it names.

    check_recipes.py ROOT CACHE    downloads into CACHE what is not there yet

From the sdist's file list: sources, counts of patterns, include folders, Python packages (as
setuptools finds them), licence files. From PKG-INFO and requires.txt: METADATA. From setup.py,
which is read and never run: the units of each module; every flag of the recipe occurs in setup.py;
every flag of its CUDA branch occurs in the recipe, except those that other settings decide.

That is for a setup.py with literal lists, PLAIN. Any other setup.py runs once beside a made-up
torch (setup_truth.py), and the arguments that it passed are compared.
"""

import ast
import email
import fnmatch
import hashlib
import html
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request

from check_schemas import relaxed
from setup_compare import compare, truth_of
from tree import Tree

PLAIN = ("causal-conv1d", "flash-attn", "mamba-ssm")
# Packages whose setup.py makes its modules only when a variable is set.
VARIABLES = {"torchani": {"TORCHANI_BUILD_ALL_SMS": "1"}}
# Packages whose modules CMake builds: their units are the .cu files of its lists.
CMAKE = ("fast_rnnt",)


def default_index():
    """The index that pip itself would use."""
    def ask(*words):
        run = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
        return run.stdout.strip()

    built_in = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    return os.environ.get("PIP_INDEX_URL") or ask("-m", "pip", "config", "get", "global.index-url") \
        or ask("-c", built_in)


def download(source, package, cache):
    path = cache / source["sdist"]
    if not path.exists():
        page_url = default_index().rstrip("/") + f"/{package}/"
        page = urllib.request.urlopen(page_url, timeout=60).read().decode()
        link = re.search(r'href="([^"]*/' + re.escape(source["sdist"]) + r'[#?"][^"]*)', page)
        url = urllib.parse.urljoin(page_url, html.unescape(link[1]).split("#")[0].rstrip('"'))
        path.write_bytes(urllib.request.urlopen(url, timeout=300).read())
    return path


class Sdist:
    def __init__(self, path):
        with tarfile.open(path) as tar:
            top = tar.getnames()[0].split("/")[0]
            self.texts = {}
            self.files = set()
            for member in tar.getmembers():
                if not member.isfile():
                    continue
                name = member.name[len(top) + 1:]
                self.files.add(name)
                if name in ("PKG-INFO", "setup.py") or name.endswith("/requires.txt"):
                    self.texts[name.split("/")[-1]] = tar.extractfile(member).read().decode()
        self.folders = {str(p) for f in self.files for p in pathlib.PurePosixPath(f).parents}

    def packages(self):
        """Top-level packages, as setup.py's find_packages takes them from what the sdist holds."""
        excluded = {"build", "csrc", "include", "tests", "dist", "docs", "benchmarks"}
        tops = {f.split("/")[0] for f in self.files if re.fullmatch(r"[^/]+/__init__\.py", f)}
        return sorted(tops - excluded)


def requirements(text):
    """requires.txt of an egg-info: {"": [...], "extra": [...]}."""
    groups, group = {"": []}, ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            group = line.strip("[]")
            groups[group] = []
        else:
            groups[group].append(line)
    return groups


OTHER_PLATFORM = re.compile(r"HIP_BUILD|win32|SKIP_CUDA_BUILD and IS_ROCM$")


def setup_flags(text):
    """The words of compiler flags in setup.py's CUDA branch."""
    words = set()

    def walk(node):
        elsewhere = isinstance(node, ast.If) and OTHER_PLATFORM.search(ast.unparse(node.test))
        nodes = node.orelse if elsewhere else ast.iter_child_nodes(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"--?[A-Za-z]", node.value):
            words.add(node.value)
        for child in nodes:
            walk(child)

    walk(ast.parse(text))
    return words


def setup_units(text, module):
    """The sources that setup.py writes out for CUDAExtension(name=module), each once for each time named."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "CUDAExtension":
            words = {k.arg: k.value for k in node.keywords}
            # ROCm's call of the same name has a list that a program made.
            if ast.literal_eval(words["name"]) == module and isinstance(words["sources"], ast.List):
                return [ast.literal_eval(word) for word in words["sources"].elts]
    return []


# Decided elsewhere: by the matrix, by cxx_std, by the scheduler; or words of other commands.
ELSEWHERE = re.compile(r"-std=|-gencode|--threads|-V$|--init|--version|-DOLD_GENERATOR_PATH")


def check(recipe, sdist):
    """Yields what differs."""
    def same(what, ours, theirs):
        if ours != theirs:
            yield f"{what}: {ours!r}, the sdist has {theirs!r}"

    version, _, label = recipe["version"].partition("+")  # with one: ours, without the extension
    for extension in recipe.get("extensions", []):
        units = []
        for item in extension["sources"]:
            if isinstance(item, str):
                yield from same(item, item in sdist.files, True)
                units.append(item)
            else:
                found = [f for f in sdist.files if fnmatch.fnmatchcase(f, item["glob"])
                         and f.count("/") == item["glob"].count("/")]
                yield from same(item["glob"], item["count"], len(found))
                units += found
        theirs = setup_units(sdist.texts["setup.py"], extension["module"])
        for unit in sorted({*units, *theirs}):
            if units.count(unit) != theirs.count(unit):
                yield f"{unit}: {units.count(unit)}, setup.py has {theirs.count(unit)}"
        for folder in extension["include"]:
            yield from same(folder, folder in sdist.folders, True)
        ours = set(extension["cxx_flags"]) | set(extension["nvcc_flags"])
        theirs = {w for w in setup_flags(sdist.texts["setup.py"]) if not ELSEWHERE.match(w)}
        yield from same("flags", sorted(ours), sorted(theirs))
    ours, theirs = set(recipe["python"]["packages"]), set(sdist.packages())
    if label:  # it may leave out what needs upstream's own kernels
        theirs &= ours
    yield from same("packages", sorted(ours), sorted(theirs))

    info, metadata = email.message_from_string(sdist.texts["PKG-INFO"]), recipe["metadata"]
    for key, field in (("summary", "Summary"), ("home_page", "Home-page"), ("author", "Author"),
                       ("author_email", "Author-email")):
        yield from same(key, metadata.get(key), info[field])
    yield from same("name", recipe["name"], info["Name"])
    yield from same("version", version, info["Version"])
    for key, field in (("license_files", "License-File"), ("classifiers", "Classifier")):
        yield from same(key, metadata.get(key), info.get_all(field))
    yield from same("keywords", ",".join(metadata.get("keywords", [])), info.get("Keywords", ""))
    groups = requirements(sdist.texts["requires.txt"])
    needed = groups.pop("")
    if not label:
        yield from same("requires", metadata["requires"], needed)
        yield from same("python", recipe["requires"]["python"], info["Requires-Python"].replace(" ", ""))
    yield from same("extras", metadata.get("extras", {}), groups)
    yield from same(metadata["description_file"], metadata["description_file"] in sdist.files, True)


def check_run(recipe, path):
    """Yields what differs from what setup.py passes when it runs."""
    with tempfile.TemporaryDirectory() as work, tarfile.open(path) as tar:
        # Debian's Python 3.11.2 has no filters.
        tar.extractall(work, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        folder, = (entry.path for entry in os.scandir(work) if entry.is_dir())
        info = email.message_from_string(pathlib.Path(folder, "PKG-INFO").read_text(encoding="utf-8"))
        for key, field in (("name", "Name"), ("version", "Version")):
            if recipe[key] != info[field]:
                yield f"{key}: {recipe[key]!r}, the sdist has {info[field]!r}"
        tree = Tree(folder)
        for name in recipe["metadata"].get("license_files", []):
            if name not in tree.files:
                yield f"{name}: the sdist has none"
        truth = truth_of(folder, **VARIABLES.get(recipe["name"], {}))
        lines = [truth["error"]] if truth.get("error") else compare(truth, recipe, tree, folder)
        if recipe["name"] in CMAKE:
            lines = [line for line in lines if not line.startswith("modules: ")] + by_cmake(recipe, pathlib.Path(folder))
        yield from lines


def by_cmake(recipe, folder):
    named = {str((file.parent / word).relative_to(folder)) for file in folder.rglob("CMakeLists.txt")
             for word in re.findall(r"[\w/]+\.cu\b", file.read_text())}
    units = {path for module in recipe["extensions"] for path in module["sources"]}
    return [] if units == named else ["CMake's lists have %s" % ", ".join(sorted(units ^ named))]


def main():
    root, cache = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    differences = count = 0
    for file in sorted((root / "recipes").rglob("*.json")):
        recipe = relaxed(file.read_text())
        source = recipe["source"][0]
        if "sdist" not in source:  # our own folder
            continue
        path = download(source, file.parent.name, cache)
        count += 1
        if hashlib.sha256(path.read_bytes()).hexdigest() != source["sha256"]:
            print(f"{file}: {source['sdist']} has another sha256")
            differences += 1
            continue
        for line in check(recipe, Sdist(path)) if file.parent.name in PLAIN else check_run(recipe, path):
            print(f"{file.relative_to(root)}: {line}")
            differences += 1
    print(f"{count} recipes, {differences} differences")
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
