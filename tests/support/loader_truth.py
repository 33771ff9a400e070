#!/usr/bin/env python3
"""Does verify say of libraries what the host's own loader does with them?

    loader_truth.py WHEELSMITH FOLDER

Makes libraries that are wrong in one thing (crafted_elf.py), and some that look for each other (loader_families.py), in
FOLDER, packs them as wheels, has verify judge those and opens each library with dlopen (RTLD_NOW) in a process of its own. Prints what differs, exits 1 when something does."""
import json
import pathlib
import subprocess
import sys

import crafted_elf
import loader_families
import make_wheel

LOADER = """
import ctypes, json, os, signal, sys
for line in sys.stdin:
    near, far = os.pipe()
    if os.fork() == 0:
        os.dup2(far, 2)
        signal.alarm(10)
        try:
            ctypes.CDLL(line.strip(), mode=os.RTLD_NOW | os.RTLD_LOCAL)
            os._exit(0)
        except OSError as error:
            os.write(far, str(error).encode())
            os._exit(3)
    os.close(far)
    said = os.fdopen(near, "rb").read().decode(errors="replace")
    code = os.wait()[1]
    print(json.dumps([line.strip(), code == 0, said or f"status {code}"]), flush=True)
"""
# Files that verify refuses although the loader may accept them: bytes outside of all tables decide.
STRICTER = {"versym_far.so"}


def load(files):
    """{file: (loaded, what the loader said)}"""
    said = subprocess.run([sys.executable, "-c", LOADER], input="".join(f"{f}\n" for f in files), text=True,
                          capture_output=True, check=True)
    return {file: (loaded, why) for file, loaded, why in map(json.loads, said.stdout.splitlines())}


def judge(wheelsmith, wheels):
    """The wheels' places, in the same order."""
    said = subprocess.run([wheelsmith, "verify", *wheels, "--torch", "2.5.1", "--json"], text=True, capture_output=True)
    if said.returncode not in (0, 1, 7):
        sys.exit(f"verify: {said.returncode} {said.stderr}")
    return json.loads(said.stdout)["wheels"]


def wheel_of(folder, name, members):
    wheel = folder / f"{name}-1.0-cp311-cp311-linux_x86_64.whl"
    make_wheel.main(wheel, *(f"{member}={folder / member}" for member in members))
    return wheel


def crafted(folder):
    crafted_elf.base(folder / "base.so")
    for name in crafted_elf.CASES:
        crafted_elf.make(name, folder / "base.so", folder / f"{name}.so")
    return [f"{name}.so" for name in crafted_elf.CASES]


def of_crafted(wheelsmith, folder):
    """(name, file, verdict, why); each in a wheel of its own, so that none is another's sibling."""
    members = crafted(folder)
    verdicts = judge(wheelsmith, [wheel_of(folder, member.removesuffix(".so"), [member]) for member in members])
    return [(member, folder / member, said["verdict"], said["why"]) for member, said in zip(members, verdicts)]


def of_families(wheelsmith, folder):
    rows = []
    names = list(loader_families.FAMILIES)
    wheels = [wheel_of(folder / name, name, loader_families.make(name, folder / name)) for name in names]
    for name, said in zip(names, judge(wheelsmith, wheels)):
        for module in said["places"][0]["modules"]:
            # Loaded alone it fails; which library of the wheel would have to be loaded first is unknown.
            sibling = module["verdict"] == "unknown" and module["cause"] == "sibling"
            rows.append((f"{name}/{module['module']}", folder / name / module["module"],
                         "fails" if sibling else module["verdict"], module["why"]))
    return rows


def main():
    wheelsmith, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows = of_crafted(wheelsmith, folder) + of_families(wheelsmith, folder)
    truths, wrong = load([str(file) for _, file, _, _ in rows]), []
    for name, file, verdict, why in rows:
        loaded, said = truths[str(file)]
        if name in STRICTER:
            loaded = False
        if verdict != ("loads" if loaded else "fails"):
            wrong.append(f"{name}: verify says {verdict} ({why}), the loader: {'loads' if loaded else said[-200:]}")
    print(f"{len(rows)} libraries, {sum(t[0] for t in truths.values())} of them load; {len(wrong)} judged wrong",
          *wrong, sep="\n  ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
