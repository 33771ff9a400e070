#!/usr/bin/env python3
"""Measures the promised numbers; exits 1 where one is missed. ./dev bench builds the release first.

Needs the package index and the Debian mirror, Pythons 3.11 and 3.12, g++, and 6 GB in --work. Everything
is measured on the release build; times are medians, and beside each stands what others used of the
machine meanwhile. The output is kept as docs/bench/DATE.md, of a part as docs/bench/DATE-NAME.md.
"""
import argparse
import datetime
import glob
import json
import os
import re
import shutil
import sys
import tempfile

import builds
import farms
import kits
import lab
import matrices
import plans
import publishing
import reuse
import schedules
import sizes
import wheels

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = f"{ROOT}/build/release"
BENCHES = {
    "torch-kit": kits.torch_kit,  # first: making files was seen to be slow after many were deleted
    "pip": kits.pip_torch,
    "cuda-kit": kits.cuda_kit,
    "plan": plans.plan,
    "engine": plans.engine,
    "schedule": schedules.schedule,
    "arch": reuse.arch,
    "torch": reuse.torch,
    "publish": publishing.publish,
    "build": builds.build,
    "quickstart": builds.quickstart,
    "size": sizes.size,
    "verify": wheels.verify,
    "m1": matrices.m1,
    "m2": matrices.m2,
    "shared": matrices.shared,
    "farm": farms.farm,
    "casd": farms.casd,
}
PEERS = "pip", "m1", "m2", "shared", "farm", "casd"  # install torch with pip, 5 GB and more, or compile for minutes; only by name or with --peer


class Bench:
    """State that the measurements share: a work folder, the programs, and the commands that were run."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.env = dict(os.environ, WS_ROOT=ROOT)
        self.commands = []

    def run(self, argv, env=None, watch=False):
        words = [word.format(tests=f"{RELEASE}/tests", work=self.work) if "{" in word else word for word in argv]
        shown = " ".join(words)
        shown = re.sub(r"/dev/shm/tmp\w+", "$MEMORY", shown)
        for place, name in (self.work, "$WORK"), (f"{RELEASE}/", ""), (ROOT, "."), (os.path.expanduser("~"), "~"):
            shown = shown.replace(place, name)
        if shown not in self.commands:
            self.commands.append(shown)
        return lab.run(words, env=env or self.env, watch=watch)

    def wheelsmith(self, store, command, *words):
        return self.run([f"{RELEASE}/wheelsmith", command, "--store", f"{{work}}/{store}", *words], watch=True)

    def repeat(self, times, quick, take):
        """Takes samples, numbered from "0"; with them the share of the machine that others used."""
        lab.wait_for_quiet(self.options.wait)
        others, costs = lab.Others(), []
        for number in range(quick if self.options.quick else times):
            costs.append(take(str(number)))
        return costs, f"{others.share(sum(c.cpu_s for c in costs)):.0%}"

    def matrix(self, name, **axes):
        path = f"{self.work}/{name}.json"
        axes.setdefault("packages", ["causal-conv1d==1.5.3.post1"])
        with open(path, "w") as file:
            json.dump({"policy": "build-only"} | axes, file)
        return path

    def interpreter(self, version):
        places = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python3"))
        return places[0] if places else f"python{version}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(BENCHES)}; default: all but {', '.join(PEERS)}")
    parser.add_argument("--quick", action="store_true", help="fewer runs, one pair of builds")
    parser.add_argument("--pairs", type=int, default=4, metavar="N", help="builds beside the same commands by hand (4)")
    parser.add_argument("--peer", action="store_true", help="those too that install torch with pip, 5 GB and more")
    parser.add_argument("--list", action="store_true", help="what there is to measure")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the report; default: today")
    parser.add_argument("--no-keep", action="store_true", help="only print the report")
    parser.add_argument("--work", help="folder for stores and builds; default: a temporary one")
    parser.add_argument("--cells", type=int, metavar="N", help="m1: so many cells of a loop of pip wheel; the others count as the last")
    parser.add_argument("--venvs", metavar="FOLDER", help="where Pythons with torch stay, for m1 and m2; default: in --work, for this run")
    parser.add_argument("--wait", type=float, default=60, metavar="S", help="wait so long for the machine to be quiet (60)")
    options = parser.parse_args()
    if options.list:
        for name, bench in BENCHES.items():
            print(f"{name:<12}{' '.join(bench.__doc__.split())}")
        return
    for name in options.names:
        if name not in BENCHES:
            parser.error(f"no bench '{name}'; there are {', '.join(BENCHES)}")
    names = options.names or [name for name in BENCHES if name not in PEERS or options.peer]
    work = tempfile.mkdtemp(prefix="bench-", dir=options.work)
    try:
        sys.exit(measure(options, names, work))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def measure(options, names, work):
    facts = [f"- {fact}" for fact in lab.host_facts(work)]
    load = "{:.1f} {:.1f} {:.1f}".format(*os.getloadavg())
    rows, sections, missed = [], [], []
    for name in names:
        print(f"== {name}", file=sys.stderr)
        bench = Bench(options, work)
        numbers = BENCHES[name](bench)
        print(lab.table([n.row() for n in numbers]), file=sys.stderr)
        rows += [n.row() for n in numbers]
        missed += [n.name for n in numbers if n.missed]
        sections += [f"\n## {name}\n\n{' '.join(BENCHES[name].__doc__.split())}\n".rstrip(), "\n```\n" + "\n".join(bench.commands) + "\n```"]
    facts.append(f"- load at the beginning {load}, at the end {'{:.1f} {:.1f} {:.1f}'.format(*os.getloadavg())}")
    text = "\n".join([f"# Bench {options.date}", "", *facts, "", lab.table(rows), *sections]) + "\n"
    print(text)
    if not options.no_keep:
        keep(text, "-".join([options.date, *options.names, *(["quick"] if options.quick else [])]))
    for name in missed:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if missed else 0


def keep(text, name):
    os.makedirs(f"{ROOT}/docs/bench", exist_ok=True)
    with open(f"{ROOT}/docs/bench/{name}.md", "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
