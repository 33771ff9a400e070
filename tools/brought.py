#!/usr/bin/env python3
"""Lists what the libraries export that a torch release brings besides its own: ./dev exports V.

    brought.py WHEELSMITH DIR torch V...    what `pip install torch==V` installs: NVIDIA's wheels, and
                                            the smaller libraries of torch's own wheel
    brought.py WHEELSMITH DIR every         what belongs to no release: the driver, by the declarations
                                            of cuda.h; Python's stable ABI, by its own table
    brought.py WHEELSMITH DIR python PATH... the C API of each Python: its interpreter, or libpython3.X.so itself

Each list (builder/elf/exports.h) is DIR/brought/<digest>.zst, named by the first 16 digits of its
SHA-256; equal ones are stored once. DIR/brought.json maps releases to lists. pip downloads the
wheels one at a time; a child of wheelsmith with limits reads the libraries.
"""

import datetime
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Parts that no extension links: loaded by name by their own library, or tools.
LEFT_OUT = re.compile(r"builtins|\.alt\.|checkpoint|pcsampling|nvperf|nvshmem_(transport|bootstrap)|nvtx3interop")
# They have a list of their own (torch-V.zst).
OF_TORCH = {"libc10.so", "libc10_cuda.so", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so"}
# cuda.h declares a function differently for those who define one of these; all are exported.
VIEWS = ([], ["CUDA_API_PER_THREAD_DEFAULT_STREAM"], ["__CUDA_API_VERSION_INTERNAL"],
         ["__CUDA_API_VERSION_INTERNAL", "CUDA_API_PER_THREAD_DEFAULT_STREAM"])
HEADERS = ("nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime")


def pip(*words):
    return subprocess.run([sys.executable, "-m", "pip", *words], check=True, text=True, capture_output=True).stdout


def requirements(version):
    """(name, version) of torch's wheel and of all NVIDIA wheels that it requires, without installing them."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        pip("install", "-q", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--python-version", "3.11",
            "--target", scratch, "--report", str(report), f"torch=={version}")
        for item in json.loads(report.read_text())["install"]:
            name = item["metadata"]["name"]
            if name == "torch" or name.startswith("nvidia-"):
                yield name, item["metadata"]["version"]


def download(name, version, folder):
    exact = f"{name}=={version}" if version else name
    pip("download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, exact)
    return next(pathlib.Path(folder).glob("*.whl"))


def libraries(name, version):
    """Path and name of a wheel's libraries, one after another; each is gone when the next is asked for."""
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(download(name, version, scratch)) as wheel:
        for member in wheel.infolist():
            file = pathlib.PurePath(member.filename)
            if not re.search(r"\.so(\.[0-9.]+)?$", file.name) or LEFT_OUT.search(file.name):
                continue
            if name == "torch" and (file.parts[:2] != ("torch", "lib") or file.name in OF_TORCH):
                continue
            yield wheel.extract(member, scratch), file.name


class Lists:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.table = self.folder / "brought.json"
        (self.folder / "brought").mkdir(exist_ok=True)

    def add(self, library, only_c, name=None):
        """Lists one library, whose file is called @name; the digest that names its list."""
        name = name or pathlib.Path(library).name
        return self.make([{"path": str(library), "called": name, "c": only_c}])

    def make(self, libraries):
        place = self.folder / "brought" / "new"
        order = {"path": str(place.resolve()), "wheels": [], "libraries": [{"name": l["path"], **l} for l in libraries]}
        with tempfile.TemporaryDirectory() as work:
            pathlib.Path(work, "order.json").write_text(json.dumps(order))
            subprocess.run([pathlib.Path(self.program).resolve(), "internal", "names"], cwd=work, check=True)
        digest = hashlib.sha256(place.read_bytes()).hexdigest()[:16]
        place.rename(self.folder / "brought" / f"{digest}.zst")
        return digest

    def note(self, key, entry):
        """@key: "every", "python" or a torch release."""
        table = json.loads(self.table.read_text()) if self.table.exists() else {}
        table = {"$schema": "../../../schemas/facts-brought-1.json", "schema": "wheelsmith.brought/1",
                 "as_of": str(datetime.date.today()), "every": table.get("every", {}),
                 "python": table.get("python", {}), "torch": table.get("torch", {})}
        if key in ("every", "python"):
            table[key] = entry
        else:
            table["torch"][key] = entry
            table["torch"] = {v: table["torch"][v] for v in sorted(table["torch"], key=lambda v: [*map(int, v.split("."))])}
        used = {d for t in [table["every"], table["python"], *table["torch"].values()] for d in t.get("lists", [])}
        for file in (self.folder / "brought").glob("*.zst"):
            if file.stem not in used:
                file.unlink()
        self.table.write_text(json.dumps(table, indent=1) + "\n")


def compile_library(scratch, soname, source, *flags):
    path = pathlib.Path(scratch, soname)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", path, f"-Wl,-soname,{soname}", *flags],
                   input=source, text=True, check=True)
    return path


def driver(scratch):
    names, wheels = set(), []
    for package in HEADERS:
        folder = pathlib.Path(scratch, package)
        wheel = download(package, None, folder)
        wheels.append(wheel.name)
        zipfile.ZipFile(wheel).extractall(folder)
        include = next(folder.glob("**/cuda.h")).parent
        for view in VIEWS:
            text = subprocess.run(["gcc", "-E", "-P", f"-I{include}", *(f"-D{d}" for d in view), "-x", "c", "-"],
                                  input="#include <cuda.h>\n#include <cudaProfiler.h>\n" if
                                  (include / "cudaProfiler.h").exists() else "#include <cuda.h>\n",
                                  text=True, check=True, capture_output=True).stdout
            names |= set(re.findall(r"\b(cu[A-Z]\w*)\s*\(", text))
    return compile_library(scratch, "libcuda.so.1", "".join(f"void {n}(void) {{}}\n" for n in sorted(names))), wheels


def stable_abi(scratch):
    """A library "python3" whose symbol versions name the Python that first had each function: "python3.10"."""
    wheel = download("abi3info", None, pathlib.Path(scratch, "abi3info"))
    sys.path.insert(0, str(wheel))
    import abi3info
    versions = {}
    for item in [*abi3info.FUNCTIONS.values(), *abi3info.DATAS.values()]:
        condition = getattr(item.ifdef, "name", item.ifdef)
        if condition in (None, "HAVE_FORK", "PY_HAVE_THREAD_NATIVE_ID"):
            versions.setdefault((item.added.major, item.added.minor), set()).add(item.symbol.name)
    text = ""
    for (major, minor), names in sorted(versions.items()):
        text += f"python{major}.{minor} {{ global: {'; '.join(sorted(names))}; }};\n"
    script = pathlib.Path(scratch, "map")
    script.write_text(text)
    source = "".join(f"void {n}(void) {{}}\n" for names in versions.values() for n in sorted(names))
    return compile_library(scratch, "python3", source, f"-Wl,--version-script={script}"), wheel.name


def holder_of(python):
    """The file that exports the C API of an interpreter, or a libpython3.X.so itself; its ABI tag and version."""
    named = re.match(r"libpython(\d)\.(\d+)(t?)\.so", pathlib.Path(python).name)
    if named:
        major, minor, threads = named.groups()
        text = pathlib.Path(python).read_bytes()
        version = re.search(rb"\0(%s\.%s\.\d+)\0" % (major.encode(), minor.encode()), text)
        return python, major + minor + threads, version.group(1).decode()
    ask = "import sys, sysconfig as c; print(c.get_config_var('SOABI').split('-')[1], sys.version.split()[0], " \
          "c.get_config_var('LIBDIR') + '/' + str(c.get_config_var('LDLIBRARY')))"
    tag, version, library = subprocess.run([python, "-c", ask], text=True, check=True, capture_output=True).stdout.split()
    return library if ".so" in library and pathlib.Path(library).exists() else shutil.which(python), tag, version


def c_api(scratch, python):
    """A library "python" with the names of one Python's C API, its ABI tag and version. PyInit
    functions are left out, because builds differ in the modules that are linked in."""
    holder, tag, version = holder_of(python)
    said = subprocess.run(["nm", "-D", "--defined-only", holder], text=True, check=True, capture_output=True).stdout
    names = {line.split()[-1].split("@")[0] for line in said.splitlines()}
    names = sorted(n for n in names if re.match(r"_?Py(?!Init_)", n))
    folder = pathlib.Path(scratch, tag)
    folder.mkdir()
    return f"cp{tag}", version, compile_library(folder, "python", "".join(f"void {n}(void) {{}}\n" for n in names))


def main(program, folder, what, *versions):
    lists = Lists(program, folder)
    if what == "every":
        with tempfile.TemporaryDirectory() as scratch:
            library, wheels = driver(scratch)
            table, wheel = stable_abi(scratch)
            lists.note("every", {"wheels": [*wheels, wheel], "lists": [lists.add(library, True), lists.add(table, True)]})
    if what == "python":
        with tempfile.TemporaryDirectory() as scratch:
            made = sorted((c_api(scratch, python) for python in versions), key=lambda m: [*map(int, m[1].split("."))])
            digest = lists.make([{"path": str(path), "python": tag} for tag, _, path in made])
            lists.note("python", {"interpreters": [version for _, version, _ in made], "lists": [digest]})
        return
    for version in versions:
        required = sorted(requirements(version))
        found = {lists.add(path, name != "torch" or "cusparseLt" in file, file)
                 for name, v in required for path, file in libraries(name, v)}
        lists.note(version, {"wheels": [f"{n}=={v}" for n, v in required], "lists": sorted(found)})
        print(f"torch {version}: {len(found)} lists")


if __name__ == "__main__":
    main(*sys.argv[1:])
