#!/usr/bin/env python3
"""Does verify say of libraries what the host's own loader does with them?

    loader_truth.py WHEELSMITH FOLDER

Makes libraries that are wrong in one thing (crafted_elf.py) in FOLDER, packs each as a wheel, has verify judge it
and opens each with dlopen (RTLD_NOW) in a process of its own. Prints what differs, exits 1 when something does."""
import json
import pathlib
import subprocess
import sys

import crafted_elf
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
# What verify refuses although this loader may take it: bytes from outside of tables decide.
STRICTER = {"versym_far.so"}


def load(files):
    """{file: (loaded, what the loader said)}"""
    said = subprocess.run([sys.executable, "-c", LOADER], input="".join(f"{f}\n" for f in files), text=True,
                          capture_output=True, check=True)
    return {file: (loaded, why) for file, loaded, why in map(json.loads, said.stdout.splitlines())}


def judge(wheelsmith, folder, members):
    """{member: (verdict, why)}; each in a wheel of its own, so that none is another's sibling."""
    wheels = {}
    for member in members:
        wheels[member] = folder / f"{member.removesuffix('.so')}-1.0-cp311-cp311-linux_x86_64.whl"
        make_wheel.main(wheels[member], f"{member}={folder / member}")
    said = subprocess.run([wheelsmith, "verify", *wheels.values(), "--torch", "2.5.1", "--json"], text=True, capture_output=True)
    if said.returncode not in (0, 1, 7):
        sys.exit(f"verify: {said.returncode} {said.stderr}")
    verdicts = json.loads(said.stdout)["wheels"]
    return {member: (verdict["verdict"], verdict["why"]) for member, verdict in zip(members, verdicts)}


def crafted(folder):
    crafted_elf.base(folder / "base.so")
    for name in crafted_elf.CASES:
        crafted_elf.make(name, folder / "base.so", folder / f"{name}.so")
    return [f"{name}.so" for name in crafted_elf.CASES]


def main():
    wheelsmith, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    members = crafted(folder)
    verdicts, truths = judge(wheelsmith, folder, members), load([str(folder / m) for m in members])
    wrong = []
    for member in members:
        verdict, why = verdicts.get(member, ("not judged", ""))
        loaded, said = truths[str(folder / member)]
        if member in STRICTER:
            loaded = False
        if verdict != ("loads" if loaded else "fails"):
            wrong.append(f"{member}: verify says {verdict} ({why}), the loader: {'loads' if loaded else said[-200:]}")
    print(f"{len(members)} libraries, {sum(t[0] for t in truths.values())} of them load; {len(wrong)} judged wrong",
          *wrong, sep="\n  ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
