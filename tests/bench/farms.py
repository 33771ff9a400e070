"""What a build farm costs this host: a farm of one process that runs nothing (tests/support/farm_server.py)."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import lab

MANY = 2048
READS = 200  # headers that a report names


def python_of(bench):
    """A Python with the protocol's messages, those that the tests use."""
    venv = f"{bench.env['WS_ROOT']}/build/release/test-buildgrid"
    if not os.path.exists(f"{venv}/made"):
        subprocess.run(["python3", "-m", "venv", venv], check=True)
        subprocess.run([f"{venv}/bin/pip", "install", "--quiet", "buildgrid==0.4.4", "psycopg2-binary==2.9.13"], check=True)
        open(f"{venv}/made", "w").close()
    return f"{venv}/bin/python"


@contextlib.contextmanager
def served(bench, *options):
    """Its port, and what it says in the end: filled in when the block is over."""
    port, said = lab.free_port(), {}
    stats = f"{bench.work}/farm-{port}.json"
    farm = subprocess.Popen([python_of(bench), f"{bench.env['WS_ROOT']}/tests/support/farm_server.py", str(port),
                             "--stats", stats, *map(str, options)])
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                lab.socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        yield port, said
        with open(f"/proc/{farm.pid}/stat") as file:
            said["farm_cpu_s"] = sum(map(int, file.read().rpartition(") ")[2].split()[11:13])) * lab.TICK_S
    finally:
        farm.terminate()
        farm.wait()
    with open(stats) as file:
        said.update(json.load(file))


def drive(bench, endpoint, count, slots):
    """What farm_driver says of so many actions, and the share of the machine that others used."""
    folder = tempfile.mkdtemp(dir="/dev/shm")
    others = lab.Others()
    try:
        cost = bench.run(["{tests}/farm_driver", endpoint, f"{folder}/store", str(count), str(slots),
                          f"{bench.env['WS_ROOT']}/build/release/wheelsmith-exec", str(READS)])
    finally:
        shutil.rmtree(folder)
    said = {key: float(value) for key, value in (line.split(": ") for line in cost.out.splitlines())}
    return said | {"others": lambda farm_cpu_s: f"{others.share(cost.cpu_s + farm_cpu_s):.0%}"}


def drive_farm(bench, count, slots, *options):
    with served(bench, "--slots", slots, "--reads", READS, *options) as (port, farm):
        client = drive(bench, f"grpc://127.0.0.1:{port}", count, slots)
        others = client["others"]
    return client, farm, others(farm["farm_cpu_s"])


def farm(bench):
    """A graph of many actions by the engine and the remote runner, on a farm of one process that answers after a while. Files on tmpfs.
    "Engine alone" is the same graph with a runner that has the results at once."""
    lab.wait_for_quiet(bench.options.wait)
    count = 2000 if bench.options.quick else 4000
    alone = [drive(bench, "here", count, MANY) for _ in range(3)]
    few = drive(bench, "here", count, 2)
    away = [drive_farm(bench, count, MANY, "--seconds", 1) for _ in range(3)]
    cpu_ms = [client["cpu_us"] / 1e3 for client, _, _ in away]
    alone_ms = [client["cpu_us"] / 1e3 for client in alone]
    busy = away[-1][2]
    numbers = [
        lab.Number("client CPU of an action", cpu_ms, "ms", None, busy),
        lab.Number("… engine alone", alone_ms, "ms"),
        lab.Number("… what the farm adds", [c - lab.statistics.median(alone_ms) for c in cpu_ms], "ms", 0.5, busy),
        lab.Number("… CPU of the farm itself", [farm["farm_cpu_s"] * 1e3 / count for _, farm, _ in away], "ms"),
        lab.Number("2,048 in flight: above a run of 2", [(c["peak_kb"] - few["peak_kb"]) / 1e3 for c, _, _ in away], "MB", 30, busy),
        lab.Number("starts: time of 500", [500 * farm["starts_s"] / farm["ran"] for _, farm, _ in away], "s", 1, busy),
    ]
    if not bench.options.quick:
        client, said, busy = drive_farm(bench, 20000, MANY, "--seconds", 10)
        numbers += [
            lab.Number("20,000 actions of 10 s on 2,048 slots: slots idle but for ramp and tail", [100 * (1 - said["busy"])], "%", 5, busy),
            lab.Number("… all of it", [client["seconds"]], "s", None, f"{20000 * 10 / MANY:.1f} s at least"),
        ]
    return numbers
