#!/usr/bin/env python3
"""Makes random changes and what git says of them: make_patches.py DIR COUNT.

DIR/N/old and DIR/N/new hold the files before and after, DIR/N/patch is `git diff` between them.
The seed is fixed: every run makes the same.
"""
import os
import random
import subprocess
import sys

R = random.Random(20261121)


def lines():
    return [R.choice(["a", "b", "", "  x", "-- ", "+", "@@ -1 +1 @@", "\\ no", "--- a/x", "\ttab\r"])
            + str(R.randrange(5)) for _ in range(R.randrange(0, 60))]


def text(some):
    return ("\n".join(some) + R.choice(["\n", "\n", "\n", ""])).encode() if some else b""


def edit(some):
    out = list(some)
    for _ in range(R.randrange(0, 6)):
        at = R.randrange(len(out) + 1)
        kind = R.randrange(3)
        if kind == 0:
            out[at:at] = [f"new{R.randrange(100)}" for _ in range(R.randrange(1, 4))]
        elif kind == 1:
            del out[at:at + R.randrange(1, 4)]
        elif at < len(out):
            out[at] += "!"
    return out


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    for n in range(count):
        top = os.path.join(folder, str(n))
        for side in "old", "new":
            os.makedirs(os.path.join(top, side, "sub"))
        for name in "one.c", "sub/two words.txt", "sub/three.py":
            before = lines() if R.random() < 0.85 else None
            after = edit(before) if before is not None else lines()
            if before is not None and R.random() < 0.1:
                after = None
            for side, some in ("old", before), ("new", after):
                if some is not None:
                    path = os.path.join(top, side, name)
                    with open(path, "wb") as f:
                        f.write(text(some))
                    os.chmod(path, R.choice([0o644, 0o644, 0o755]))
        context = str(R.choice([0, 1, 3, 3, 3]))
        env = dict(PATH=os.environ["PATH"], GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
        # Two trees of one scratch repository, so that the paths are the same on both sides.
        git = ["git", "-C", top, "--git-dir", os.path.join(top, "g")]
        subprocess.run(git + ["init", "-q"], env=env, check=True)
        trees = []
        for side in "old", "new":
            work = ["--work-tree", os.path.join(top, side)]
            subprocess.run(git + work + ["add", "-A", "."], env=env, check=True,
                           cwd=os.path.join(top, side))
            trees.append(subprocess.run(git + ["write-tree"], env=env, check=True,
                                        stdout=subprocess.PIPE).stdout.decode().strip())
        with open(os.path.join(top, "patch"), "wb") as f:
            subprocess.run(git + ["diff", "--no-renames", "--text", "-U" + context, *trees], env=env,
                           check=True, stdout=f)


main()
