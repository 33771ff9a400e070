#!/usr/bin/env python3
"""Kills publishers at random moments: kill_publish.py PROGRAM DIR INDEX TIMES. Each time one wheel of DIR more is to be
published; after each, the index must hold what it held, or that and the new ones. Prints how often which."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time


def names(index):
    return {wheel["file"] for wheel in json.loads((index / "index.json").read_text())["wheels"]}


def main(program, folder, index, times):
    index, waiting, ready = pathlib.Path(index), sorted(pathlib.Path(folder).iterdir()), pathlib.Path("ready")
    ready.mkdir()
    order = [program, "publish", str(ready), "--to", str(index)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    shutil.copy(waiting.pop(), ready)
    began = time.monotonic()
    subprocess.run(order, check=True, **quiet)
    usual, old, new, chance = time.monotonic() - began, 0, 0, random.Random(os.getpid())
    for number in range(int(times)):
        if waiting:
            shutil.copy(waiting.pop(), ready)
        before = names(index)
        child = subprocess.Popen(order, **quiet)
        time.sleep(chance.uniform(0, 1.3 * usual))
        child.kill()
        child.wait()
        after = names(index)
        assert after in (before, {path.name for path in ready.iterdir()}), (number, before ^ after)
        old, new = old + (after == before), new + (after != before)
        subprocess.run([program, "publish", "--verify", "--to", str(index)], check=True, **quiet)
    subprocess.run(order, check=True, **quiet)
    assert names(index) == {path.name for path in ready.iterdir()}
    print(f"{old} old, {new} new")


if __name__ == "__main__":
    main(*sys.argv[1:])
