"""The cost of kits (headers of a torch release, a CUDA toolkit) beside the cost of pip."""
import os

import lab
from proxy import Proxy

RELEASES = ["2.5.1", "2.11.0"]


def torch_kit(bench):
    """Each time into an empty store. Files are not deleted in between: on ext4, making files takes several times as
    long while and after thousands are deleted."""
    numbers = []
    for release in RELEASES:
        def take(name, env=None):
            return bench.run(["{tests}/kit_driver", "torch", f"{{work}}/kit-{release}-{name}", release, "3.11"], env=env, watch=True)

        with Proxy() as proxy:  # also warms the server
            take("counted", proxy.env(bench.env))
            wire_mb = proxy.wire_bytes / 1e6
        costs, others = bench.repeat(5, 2, take)
        numbers += [
            lab.Number(f"torch {release} kit, wire", [wire_mb], "MB", 25),
            lab.Number(f"torch {release} kit, time", [c.wall_s for c in costs], "s", 3, others),
            lab.Number(f"torch {release} kit, CPU", [c.cpu_s for c in costs], "s", None, others),
            lab.Number(f"torch {release} kit, resident", [c.peak_bytes / 1e6 for c in costs], "MB", 50),
        ]
    return numbers


def cuda_kit(bench):
    """The CUDA 12.4 archive kit alone, then `fetch` of everything for one cell: torch, that kit, the sdist."""
    definition = f"{bench.env['WS_ROOT']}/matrix/kits/cuda-12.4.json"
    alone, busy = bench.repeat(3, 1, lambda name: bench.run(["{tests}/kit_driver", "archive", f"{{work}}/cuda-{name}", definition], watch=True))
    matrix = bench.matrix("fetch", torch=["2.5.1"], cuda=["12.4"], python=["3.11"], arch=["8.6"])

    def fetch(name):
        lock = matrix.replace(".json", ".lock.json")
        if os.path.exists(lock):
            os.unlink(lock)
        return bench.wheelsmith(f"fetch-{name}", "fetch", "--matrix", matrix, "--kits", "archive")

    whole, whole_busy = bench.repeat(3, 1, fetch)
    return [
        lab.Number("CUDA 12.4 archive kit, time", [c.wall_s for c in alone], "s", None, busy),
        lab.Number("CUDA 12.4 archive kit, CPU", [c.cpu_s for c in alone], "s", None, busy),
        lab.Number("fetch for one cell, time", [c.wall_s for c in whole], "s", None, whole_busy),
        lab.Number("fetch for one cell, resident", [c.peak_bytes / 1e6 for c in whole], "MB", 50),
    ]


def pip_torch(bench):
    """The peer: an empty environment with torch 2.5.1. Takes 5 GB; once."""
    place = f"{bench.work}/pip"
    bench.run([bench.interpreter("3.11"), "-m", "venv", place])
    env = {name: value for name, value in bench.env.items() if name not in ("PIP_FIND_LINKS", "PYTHONDONTWRITEBYTECODE")}
    empty = lab.tree_bytes(place)
    others = lab.Others()
    cost = bench.run([f"{place}/bin/pip", "install", "-q", "--no-cache-dir", "torch==2.5.1"], env=env)
    busy = f"{others.share(cost.cpu_s):.0%}"
    kit = f"{bench.work}/kit-2.5.1-0"
    numbers = [
        lab.Number("pip install torch==2.5.1, time", [cost.wall_s], "s", None, busy),
        lab.Number("pip install torch==2.5.1, disk", [(lab.tree_bytes(place) - empty) / 1e6], "MB"),
    ]
    if os.path.isdir(kit):
        numbers.append(lab.Number("torch 2.5.1 kit, disk", [lab.tree_bytes(kit) / 1e6], "MB"))
    return numbers
