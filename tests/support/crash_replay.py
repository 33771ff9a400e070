#!/usr/bin/env python3
"""Cuts the power while wheelsmith builds: crash_replay.py STORE POINTS [--no-sync] -- PROGRAM build ARGUMENTS...

One build is recorded by strace. Then the store is made as a disk may hold it when the power fails after one of its
writes: names as they were then, synced files whole, and each write that was not synced kept, lost or zeros at
random. The ledger's notes are adjusted to match these files, so that only the bytes show the damage. From
each such store the build must make the wheel that it makes otherwise, and run no more than had not ended. POINTS of the
writes are tried, the last among them; 0: all. --no-sync: as if no write had been synced; the damage must be detected.
Prints "N points, M wrong"; each wrong one is listed before.
"""
import codecs
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys

CALLS = (
    "open openat creat close dup dup2 dup3 write pwrite64 writev lseek ftruncate truncate fsync fdatasync rename renameat "
    "renameat2 link linkat symlink symlinkat unlink unlinkat rmdir mkdir mkdirat chmod fchmod fchmodat"
).split()
LEDGER = "ledger.db", "ledger.db-wal"
LINE = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)")
WORD = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"(\.\.\.)?|([^,\s][^,]*))')


class File:
    """The bytes of a file, and the part of them that is safely on disk."""

    def __init__(self, data=b""):
        self.data, self.safe, self.waiting = bytearray(data), bytes(data), []

    def write(self, offset, data):
        self.data[len(self.data) :] = bytes(max(0, offset - len(self.data)))
        self.data[offset : offset + len(data)] = data
        self.waiting.append((offset, data))

    def cut(self, size):
        self.data[size:] = bytes(max(0, size - len(self.data)))
        self.safe, self.waiting = self.safe[:size], [(o, d[: max(0, size - o)]) for o, d in self.waiting if o < size]

    def sync(self):
        self.safe, self.waiting = bytes(self.data), []

    def after_crash(self, chance):
        torn = File(self.safe)
        how = chance.choice(["kept", "lost", "zeros", "mixed"])
        for offset, data in self.waiting:
            this = chance.choice(["kept", "lost", "zeros"]) if how == "mixed" else how
            if this != "lost":
                torn.write(offset, data if this == "kept" else bytes(len(data)))
        return bytes(torn.data)


class Disk:
    """The store below `root`, in memory where the recorded build changed it."""

    def __init__(self, root, before, after, syncs):
        self.root, self.before, self.after, self.syncs = root, before, after, syncs
        self.files, self.others = {}, {}  # by name in the store, by path elsewhere
        self.folders, self.gone, self.open = set(), set(), {}

    def inside(self, path):
        """Its name in the store, or None for a file outside of the store or in a work folder, which is not compared."""
        if not path.startswith(self.root + "/"):
            return None
        name = os.path.normpath(path[len(self.root) + 1 :])
        return None if name == "work" or name.startswith("work/run-") or name.startswith("work/new-") else name

    def find(self, name):
        if name not in self.files and name not in self.gone and (self.before / name).is_file():
            self.files[name] = File((self.before / name).read_bytes())
        return self.files.get(name)

    def drop(self, name):
        self.files.pop(name, None)
        self.gone.add(name)

    def put(self, name, file):
        self.files[name] = file
        self.gone.discard(name)

    def opened(self, path, flags, number):
        name = self.inside(path)
        if name and "O_RDONLY" in flags:  # to be read, or synced
            self.open[number] = [self.files.get(name), 0]
            return
        file = self.find(name) if name else self.others.setdefault(path, Made())
        if file is None and "O_CREAT" in flags:
            file = File()
            self.put(name, file)
        if file is not None and "O_TRUNC" in flags:
            file.cut(0)
        self.open[number] = [file, 0]

    def moved(self, old, new, keep):
        source, target = self.inside(old), self.inside(new)
        if target is None:
            if source and not keep:
                self.drop(source)
            return
        if source in self.folders:
            self.folders = {target + n[len(source) :] if (n + "/").startswith(source + "/") else n for n in self.folders}
            for name in [n for n in self.files if n.startswith(source + "/")]:
                self.put(target + name[len(source) :], self.files.pop(name))
            return
        file = self.find(source) if source else self.others.pop(old, None)
        if isinstance(file, Made) or file is None:
            made = File((self.after / target).read_bytes() if (self.after / target).is_file() else b"")
            if not (file and file.synced):
                made.safe, made.waiting = b"", [(0, bytes(made.data))]
            file = made
        self.put(target, file)
        if source and not keep:
            self.drop(source)

    def take(self, call, words, result):
        words = [w for w in words if w != "AT_FDCWD"]
        if call in ("open", "openat", "creat"):
            self.opened(words[0], words[1] if len(words) > 1 else "", result)
            return False
        if call == "close":
            self.open.pop(int(words[0]), None)
            return False
        if call in ("rename", "renameat", "renameat2", "link", "linkat"):
            self.moved(words[0], words[1], call.startswith("link"))
            return True
        if call in ("unlink", "unlinkat", "rmdir", "mkdir", "mkdirat"):
            name = self.inside(words[0])
            if name and "mkdir" in call:
                self.folders.add(name)
            elif name:
                self.folders.discard(name)
                self.drop(name)
            return name is not None
        if call in ("write", "pwrite64", "fsync", "fdatasync", "ftruncate", "lseek"):
            return self.changed(call, words, result)
        if call not in ("chmod", "fchmod", "fchmodat", "symlink", "symlinkat"):
            sys.exit(f"crash_replay: unknown call '{call}'")
        return False

    def changed(self, call, words, result):
        file, offset = place = self.open.get(int(words[0])) or [None, 0]
        if file is None:
            return False
        if call in ("fsync", "fdatasync"):
            if self.syncs:
                file.sync()
        elif call == "ftruncate":
            file.cut(int(words[1]))
        elif call == "lseek":
            place[1] = result
            return False
        elif call == "write":
            file.write(offset, words[1][:result])
            place[1] += result
        else:
            file.write(int(words[3]), words[1][:result])
        return True

    def crash(self, chance):
        """Makes the store as it is found afterwards."""
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run(["cp", "-al", self.before, self.root], check=True)
        root = pathlib.Path(self.root)
        for name in sorted(self.folders):
            (root / name).mkdir(parents=True, exist_ok=True)
        for name in self.gone:
            if (root / name).is_file():
                (root / name).unlink()
        for name in LEDGER:
            self.find(name)  # the next build writes into it, and into no other file that was there before
        for name, file in self.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).unlink(missing_ok=True)
            (root / name).write_bytes(file.after_crash(chance))
        self.fit_notes(root)

    def fit_notes(self, root):
        own = {str(root / name) for name in self.files}
        try:
            with sqlite3.connect(root / "ledger.db") as ledger:
                for path, size in ledger.execute("select path, size from files").fetchall():
                    if path in own and os.path.getsize(path) == size:
                        s = os.stat(path)
                        row = (s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_dev, path)
                        ledger.execute("update files set mtime=?, ctime=?, inode=?, device=? where path=?", row)
        except sqlite3.DatabaseError:
            pass  # the ledger itself was lost


class Made(File):
    """A file written outside the store, by a compiler; its bytes are known when it enters the store."""

    synced = False

    def sync(self):
        self.synced = True


def words_of(text):
    words = []
    for match in WORD.finditer(text):
        if match.group(1) is None:
            words.append(match.group(3).strip())
            continue
        assert not match.group(2), "strace cut a text"
        words.append(codecs.escape_decode(match.group(1))[0])
    return words


def record(store, argv):
    """The program's own calls that changed files. Work folders of compilers are not compared afterwards."""
    subprocess.run(
        ["strace", "-qq", "-x", "-s", "8000000", "-o", "calls", "-e", "signal=none", "-e", f"trace={','.join(CALLS)}", *argv],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    calls = []
    for line in open("calls", encoding="latin-1"):
        match = LINE.match(line)
        if match and int(match.group(3)) >= 0:
            words = words_of(match.group(2))
            data = match.group(1) in ("write", "pwrite64")
            words = [os.fsdecode(w) if isinstance(w, bytes) and not data else w for w in words]
            calls.append((match.group(1), words, int(match.group(3))))
    return calls


def build(argv):
    shutil.rmtree("dist", ignore_errors=True)
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        return None, None, done.stderr
    made = json.load(open("dist/build.json"))
    for cell in made["cells"]:
        wheel = pathlib.Path("dist", cell["wheel"]).read_bytes()
        assert hashlib.sha256(wheel).hexdigest() == cell["sha256"]
    return [cell["sha256"] for cell in made["cells"]], made["actions"], done.stderr


def main():
    cut = sys.argv.index("--")
    (store, points), argv = sys.argv[1:3], sys.argv[cut + 1 :]
    store, before, after = os.path.realpath(store), pathlib.Path("store-before"), pathlib.Path("store-after")
    subprocess.run(["cp", "-al", store, before], check=True)
    for name in LEDGER:
        if (before / name).exists():
            (before / name).unlink()
            shutil.copy(f"{store}/{name}", before / name)
    calls = record(store, argv)
    made = json.load(open("dist/build.json"))
    wheels, total = [cell["sha256"] for cell in made["cells"]], made["actions"]["ran"]
    os.rename(store, after)

    def replay(count):
        disk, places = Disk(store, before, after, "--no-sync" not in sys.argv[:cut]), []
        for number, call in enumerate(calls[:count]):
            if disk.take(*call):
                places.append(number + 1)
        return disk, places

    places = replay(len(calls))[1]
    chance = random.Random(22)
    chosen = places if points == "0" else sorted(chance.sample(places[:-1], int(points) - 1)) + places[-1:]
    wrong = 0
    for place in chosen:
        disk = replay(place)[0]
        disk.crash(random.Random(place))
        ended = sum(
            b"wheelsmith.result/1" in file.data for name, file in disk.files.items() if name.startswith("ac/") and "/." not in name
        )
        again, actions, said = build(argv)
        if again != wheels or actions["ran"] > total - ended + 1:
            wrong += 1
            print(f"after call {place}, {calls[place - 1][0]}: {again} for {wheels}, {actions}, {ended} of {total} had ended")
            print(said, file=sys.stderr)
    print(f"{len(chosen)} points, {wrong} wrong")


if __name__ == "__main__":
    main()
