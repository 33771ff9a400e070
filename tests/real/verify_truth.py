#!/usr/bin/env python3
"""Is `wheelsmith verify` right? Real wheels against real torches, each module also loaded beside that torch.

    verify_truth.py WHEELSMITH WORK [--quick | --aarch64]

Every wheel of WHEELS is judged in every release of TORCHES (`verify --torch all`, one run a wheel) and every module
of it is dlopen'ed, with RTLD_NOW, in a process that has that torch's libraries loaded as `import torch` loads them.
Then wheels with wrong labels are made of them, judged and tried: pip must take the file, and its modules must load.
Prints Markdown tables; exits 1 when a verdict differs from the outcome. "Unknown" counts as wrong, with one exception:
a module that does not load alone and that loads after other modules of its wheel, or that the package may never load.

torch's libraries and those of NVIDIA's wheels that it requires come out of the index's own wheels, once, to
WORK/torch (about 5 GB a release and 3 GB on the way); WORK/wheels keeps the wheels that are judged. A host
without a driver gets libraries made of the driver's function names, with empty functions.
--aarch64: wheels for that machine, in its torch, loaded by Debian's Python of that machine under qemu-user
(qemu-aarch64-static, aarch64-linux-gnu-gcc-12); a library of its own wheel that Python code loads first is "unknown".
"""
import base64
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WHEELSMITH, WORK = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
PYTHON = "3.11"
AARCH64 = "--aarch64" in sys.argv
MACHINE, CC = ("aarch64", "aarch64-linux-gnu-gcc-12") if AARCH64 else ("x86_64", "gcc")
TORCHES = ["2.11.0"] if AARCH64 else ["2.5.1", "2.6.0", "2.8.0", "2.11.0"]
WHEELS = [
    "torchvision==0.20.1", "torchvision==0.21.0", "torchvision==0.23.0", "torchvision==0.26.0",
    "torchaudio==2.5.1", "torchaudio==2.6.0", "torchaudio==2.8.0", "torchaudio==2.11.0",
    "xformers==0.0.28.post3", "xformers==0.0.29.post3", "xformers==0.0.32.post2",
    "torchcodec==0.2.1", "torchcodec==0.7.0", "torchcodec==0.11.0",
    "torchao==0.9.0", "fbgemm-gpu==1.0.0",
]
WHEELS_OF_AARCH64 = [
    "torchvision==0.24.1", "torchvision==0.25.0", "torchvision==0.26.0", "torchaudio==2.9.1", "torchaudio==2.10.0",
    "torchaudio==2.11.0", "torchcodec==0.11.0", "bitsandbytes==0.49.1", "sglang-kernel==0.4.10", "torch-c-dlpack-ext==0.1.5",
    "torch-memory-saver==0.0.10", "xgrammar==0.2.8",
]
# As `import torch` does: what global_deps needs is global, torch's own libraries are not.
LOADER = """
import ctypes, json, os, sys
lib, files = sys.argv[1], sys.argv[2:]
ctypes.CDLL(lib + "/libtorch_global_deps.so", mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(lib + "/libtorch_python.so", mode=os.RTLD_NOW | os.RTLD_LOCAL)
for file in files:
    near, far = os.pipe()
    if os.fork() == 0:
        try:
            ctypes.CDLL(file, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            said = ""
        except OSError as error:
            said = str(error)
        os.write(far, said.encode()[:4000])
        os._exit(0 if not said else 3)
    os.close(far)
    said = os.fdopen(near, "rb").read().decode()
    code = os.wait()[1]
    print(json.dumps([file, code == 0, said or ("" if code == 0 else "status %d" % code)]), flush=True)
"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], text=True, capture_output=True, **options)


def python():
    return shutil.which(f"python{PYTHON}") or sys.exit(f"there is no python{PYTHON}")


def pip_download(folder, *what):
    tags = ["1", "2010", "2014", *(f"_2_{minor}" for minor in range(5, 37))]
    platforms = [f"--platform=manylinux{tag}_{MACHINE}" for tag in tags]
    subprocess.run([python(), "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder,
                    f"--python-version={PYTHON}", *platforms, *what], check=True)


def the_wheel(what):
    """Path of a wheel, brought once."""
    folder = WORK / "wheels" / what.replace("==", "-")
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        pip_download(folder, what)
    return next(folder.glob("*.whl"))


def is_library(member):
    return re.search(r"\.so(\.[0-9.]+\w*)?$", member)


def libraries_of(wheel, target):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if is_library(member.filename) or member.filename.endswith(".dist-info/METADATA"):
                archive.extract(member, target)


def the_torch(version):
    """Folder of a torch's libraries with NVIDIA's beside them; each wheel goes when it is unpacked."""
    target = WORK / "torch" / version
    if not (target / "done").exists():
        with tempfile.TemporaryDirectory(dir=WORK) as scratch:
            report = pathlib.Path(scratch, "report.json")
            there = [f"--platform=manylinux_2_28_{MACHINE}", f"--python-version={PYTHON}"] if AARCH64 else []
            subprocess.run([python(), "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--only-binary=:all:",
                            *there, "--target", scratch, "--report", report, f"torch=={version}"], check=True)
            for item in json.loads(report.read_text())["install"]:
                name = item["metadata"]["name"]
                if name == "torch" or name.startswith("nvidia-"):
                    pip_download(scratch, f"{name}=={item['metadata']['version']}")
                    for wheel in pathlib.Path(scratch).glob("*.whl"):
                        libraries_of(wheel, target)
                        wheel.unlink()
        (target / "done").touch()
    return target / "torch" / "lib"


def names_of_driver():
    """The functions of libcuda.so.1, out of the shipped list."""
    table = json.loads((ROOT / "matrix/facts/exports/brought.json").read_text())
    for digest in table["every"]["lists"]:
        text = run("zstd", "-dc", ROOT / f"matrix/facts/exports/brought/{digest}.zst").stdout
        if "library libcuda.so.1" in text:
            before, names = "", []
            for line in text.splitlines():
                if "\t" in line:
                    shared, rest = line.split("\t")
                    before = before[:int(shared)] + rest
                    names.append(before)
            return names
    return []


def stub(folder, soname, names):
    """A library of the driver's, where there is none: its functions do nothing."""
    if (AARCH64 or soname not in run("ldconfig", "-p").stdout) and not (folder / soname).exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = "".join(f"int {n}(void) {{return 100;}}\n" for n in names)
        subprocess.run([CC, "-shared", "-fPIC", "-x", "c", "-", f"-Wl,-soname,{soname}", "-o", folder / soname],
                       input=source, text=True, check=True)


def driver_folder(files):
    """libcuda.so.1 by its list; of libnvidia-ml.so.1 no list ships, verify trusts the driver: what is asked for."""
    folder = WORK / "driver"
    stub(folder, "libcuda.so.1", names_of_driver())
    wanted = run("nm", "-D", "--undefined-only", *files).stdout.split()
    (folder / "libnvidia-ml.so.1").unlink(missing_ok=True)
    stub(folder, "libnvidia-ml.so.1", sorted({n for n in wanted if n.startswith("nvml")}))
    return folder


def emulated(env):
    """Debian's Python of the other machine, under qemu-user."""
    root = WORK / "root"
    if not (root / "PACKAGES").exists():
        run(ROOT / "tools/sysroot.py", "bookworm", "arm64", root, f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib",
            "libstdc++6", "libgomp1", check=True)
    libraries = root / "usr/lib/aarch64-linux-gnu"
    search = f"{libraries}:{env.pop('LD_LIBRARY_PATH')}"
    return ["qemu-aarch64-static", "-L", root, "-E", f"PYTHONHOME={root}/usr", "-E", f"LD_LIBRARY_PATH={search}",
            root / f"usr/bin/python{PYTHON}"]


def load(lib, files):
    """{file: (loaded, what dlopen said)} beside one torch."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LD_LIBRARY_PATH": str(driver_folder(files))}
    said = run(*(emulated(env) if AARCH64 else [python()]), "-c", LOADER, lib, *files, env=env)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    if len(answers) != len(files):
        sys.exit(f"the loader beside {lib} did not answer: {said.stderr[-2000:]}")
    return {file: (loaded, text) for file, loaded, text in answers}


def judge(wheel, torch="all"):
    said = run(WHEELSMITH, "verify", wheel, "--torch", torch, "--python", PYTHON, "--json",
               "--store", WORK / "store")
    if said.returncode not in (0, 1, 7, 9):
        sys.exit(f"verify {wheel}: {said.stderr}")
    return json.loads(said.stdout)["wheels"][0]


class Table:
    def __init__(self):
        self.rows, self.wrong, self.cases, self.modules = [], [], 0, 0
        self.causes, self.projects, self.torches, self.unknown = {}, set(), set(), 0

    def compare(self, what, said, happened, why):
        if AARCH64 and said == "unknown" and not happened:
            self.unknown += 1 # libraries of that system were not looked at, which may or may not have it
        elif said != ("loads" if happened else "fails"):
            self.wrong.append(f"{what}: verify says {said}; {why or 'it loads'}")

    def case(self, wheel, torch, place, truths):
        """One (wheel, torch): the wheel's verdict and each module's against what dlopen did."""
        self.cases += 1
        self.torches.add(torch)
        deciding = [truths[m["module"]] for m in place["modules"] if m["required"]] or list(truths.values())
        for module in place["modules"]:
            loaded, why = truths[module["module"]]
            self.modules += 1
            # Here each is opened alone: one that needs another of its wheel first does not load.
            said = "fails" if (module["verdict"], module["cause"]) == ("unknown", "sibling") else module["verdict"]
            self.compare(f"{wheel} in torch {torch}: {module['module']}", said, loaded, why)
        said = {"excluded": "loads"}.get(place["verdict"], place["verdict"])
        if said == "unknown" and place["cause"] in ("sibling", "optional"):
            # Whether the package loads such a module, and what before it, its files do not say.
            self.unknown += 1
            said, deciding = "fails", list(truths.values())
        self.compare(f"{wheel} in torch {torch}", said, all(loaded for loaded, _ in deciding),
                     next((why for loaded, why in truths.values() if not loaded), ""))
        if place["verdict"] == "fails":
            self.causes[place["cause"]] = self.causes.get(place["cause"], 0) + 1
        good = sum(loaded for loaded, _ in truths.values())
        self.rows.append(f"| {wheel} | {torch} | {place['verdict']} | {place['cause'] or ''} | {good} of {len(truths)} |")


def installed(member):
    return re.sub(r"^[^/]+\.data/(platlib|purelib)/", "", member)


def unpack(wheel, folder):
    """{name of a library as it is installed: its path}."""
    libraries = {}
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            path = pathlib.Path(folder, installed(member))
            if not member.endswith("/"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(member))
                if is_library(member):
                    libraries[installed(member)] = str(path)
    return libraries


def real_wheels(table, wheels, torches):
    for what in wheels:
        wheel = the_wheel(what)
        table.projects.add(what.split("==")[0])
        places = {p["torch"]: p for p in judge(wheel)["places"]}
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            libraries = unpack(wheel, folder)
            for torch in torches:
                truths = load(the_torch(torch), list(libraries.values()))
                table.case(what.replace("==", " "), torch, places[torch],
                           {name: truths[path] for name, path in libraries.items()})


# ---- labels that lie ----

def repack(source, target, change=None, rename=None, record=True):
    """A copy of a wheel: @change(name, bytes) gives other bytes, @rename(name) another name. METADATA lies as well: it
    has the version of @target's name."""
    members, version = [], pathlib.Path(target).name.split("-")[1].encode()
    with zipfile.ZipFile(source) as archive:
        for info in (i for i in archive.infolist() if not i.is_dir()):
            data = archive.read(info)
            name = rename(info.filename) if rename else info.filename
            if name.endswith("dist-info/METADATA"):
                data = re.sub(rb"(?m)^Version: .*$", b"Version: " + version, data, count=1)
            members.append((name, change(name, data) if change else data))
    if record:
        lines = []
        for name, data in members:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            quoted = f'"{name}"' if "," in name else name
            lines.append(f"{quoted},,\n" if name.endswith("dist-info/RECORD") else f"{quoted},sha256={digest},{len(data)}\n")
        members = [(n, "".join(lines).encode() if n.endswith("dist-info/RECORD") else d) for n, d in members]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, data)
    return target


def named(old, new):
    """Gives dist-info's folder another version."""
    return lambda name: name.replace(f"-{old}.dist-info", f"-{new}.dist-info")


def of_main(change):
    """Changes torchvision/_C.so alone."""
    return lambda name, data: change(data) if name == "torchvision/_C.so" else data


def patch(offset, bytes_):
    return lambda data: data[:offset] + bytes_ + data[offset + len(bytes_):]


def tags(old, new):
    return lambda name, data: data.replace(old, new) if name.endswith("dist-info/WHEEL") else data


def lies(folder):
    """(what the label says and what is true, file, torch)."""
    old, new, far = (the_wheel(f"torchvision=={v}") for v in ("0.20.1", "0.21.0", "0.23.0"))
    cp311 = "cp311-cp311-manylinux1_x86_64.whl"
    def path(name):
        return pathlib.Path(folder, name)
    yield "0.20.1, built for torch 2.5, labelled 0.21.0, for 2.6", \
        repack(old, path(f"torchvision-0.21.0-{cp311}"), rename=named("0.20.1", "0.21.0")), "2.6.0"
    yield "0.21.0, built for torch 2.6, labelled 0.20.1, for 2.5", \
        repack(new, path(f"torchvision-0.20.1+a-{cp311}"), rename=named("0.21.0", "0.20.1+a")), "2.5.1"
    yield "cxx11abi 1, labelled 0.20.1+cxx11abiFALSE", \
        repack(far, path(f"torchvision-0.20.1+cxx11abifalse-{cp311}"), rename=named("0.23.0", "0.20.1+cxx11abifalse")), "2.5.1"
    yield "cxx11abi 0, labelled 0.23.0+cxx11abiTRUE", \
        repack(old, path(f"torchvision-0.23.0+cxx11abitrue-{cp311}"), rename=named("0.20.1", "0.23.0+cxx11abitrue")), "2.8.0"
    yield "x86-64, renamed to aarch64", \
        shutil.copy(old, path("torchvision-0.20.1-cp311-cp311-manylinux2014_aarch64.whl")), "2.11.0"  # known for aarch64 from there on
    yield "a module for aarch64, labelled x86_64", \
        repack(old, path(f"torchvision-0.20.1+b-{cp311}"), of_main(patch(18, b"\267\0")), named("0.20.1", "0.20.1+b")), "2.5.1"
    yield "for Python 3.11, renamed to 3.12", \
        repack(old, path("torchvision-0.20.1-cp312-cp312-manylinux1_x86_64.whl"), tags(b"cp311", b"cp312")), "2.5.1"
    yield "the file ends in the middle", \
        cut(old, path(f"torchvision-0.20.1+c-{cp311}"), 3_000_000), "2.5.1"
    yield "a module ends in the middle, RECORD agrees", \
        repack(old, path(f"torchvision-0.20.1+d-{cp311}"), of_main(lambda data: data[:len(data) // 2]),
               named("0.20.1", "0.20.1+d")), "2.5.1"
    yield "a module needs libcudart.so.14, labelled cu124", \
        repack(old, path(f"torchvision-0.20.1+cu124-{cp311}"), versioned(b"libcudart.so.12", b"libcudart.so.14"),
               named("0.20.1", "0.20.1+cu124")), "2.5.1"
    yield "linked with a newer glibc, labelled manylinux1", \
        repack(old, path(f"torchvision-0.20.1+e-{cp311}"), versioned(b"GLIBC_2.14", b"GLIBC_2.99"),
               named("0.20.1", "0.20.1+e")), "2.5.1"


def cut(source, target, length):
    pathlib.Path(target).write_bytes(pathlib.Path(source).read_bytes()[:length])
    return target


def elf_hash(text):
    """The hash of a version name, as the loader compares it."""
    h = 0
    for c in text:
        h = (h << 4) + c
        g = h & 0xf0000000
        h = (h ^ (g >> 24)) & ~g & 0xffffffff
    return h.to_bytes(4, "little")


def versioned(old, new):
    """Asks for another version, or library whose versions are called like it."""
    return of_main(lambda data: data.replace(old + b"\0", new + b"\0").replace(elf_hash(old), elf_hash(new)))


def try_lie(file, torch):
    """pip takes it, its zip and RECORD are whole, and all of its modules load."""
    pip = run(python(), "-m", "pip", "install", "-q", "--dry-run", "--no-deps", "--no-index", "--ignore-installed", file)
    if pip.returncode != 0:
        return False, "pip: " + pip.stderr.strip().splitlines()[-1]
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        libraries = unpack(file, folder)
        for name, (loaded, why) in zip(libraries, load(the_torch(torch), list(libraries.values())).values()):
            if not loaded:
                return False, f"{name}: {why}"
    return True, ""


def lying_labels(table):
    rows = []
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for what, file, torch in lies(folder):
            verdict = judge(file, torch)
            loads, why = try_lie(file, torch)
            table.compare(f"{what}, in torch {torch}", verdict["verdict"], loads, why)
            why = re.sub(r"^(\S+: )\S+: ", r"\1", re.sub(r"/\S*/", "", why))
            rows.append(f"| {what} | {torch} | {verdict['verdict']} | {verdict['cause'] or ''} | {why[:90] or 'loads'} |")
    return rows


def main():
    quick = "--quick" in sys.argv
    WORK.mkdir(parents=True, exist_ok=True)
    table = Table()
    wheels = WHEELS_OF_AARCH64 if AARCH64 else WHEELS
    real_wheels(table, wheels[:2] if quick else wheels, TORCHES[:1] if quick else TORCHES)
    lying = lying_labels(table) if not quick and not AARCH64 else []
    print("| wheel | torch | verdict | cause | modules that load |\n|---|---|---|---|---|", *table.rows, sep="\n")
    if lying:
        print("\n| label that lies | torch | verdict | cause | what happened |\n|---|---|---|---|---|", *lying, sep="\n")
    print(f"\n{table.cases} cases, {len(table.projects)} projects, {len(table.torches)} releases of torch, "
          f"{table.modules} modules, {len(lying)} labels that lie; {table.unknown} unknown with a reason; causes: "
          + ", ".join(f"{cause} {count}" for cause, count in sorted(table.causes.items())))
    print(f"{len(table.wrong)} wrong", *table.wrong, sep="\n  ")
    sys.exit(bool(table.wrong))


if __name__ == "__main__":
    main()
