#!/usr/bin/env python3
"""verify_image.py IMAGE - is what an image has what was built for it, and does it run?

Starts one container with docker, podman or buildah, whichever is there, without a network where the engine can,
and looks in it: Python and torch, every file of our wheels against its RECORD, their versions against the
build.json of the image, every extension against the torch beside it (`wheelsmith doctor`, from an installation
that is mounted read-only), GPUs, and the server and the decision that an image names by the labels wheelsmith.server and
wheelsmith.decision.
Exit status 0: all of it holds; 1: something does not, and a line says why; 2: it could not be looked at.

The same file does the work inside the container (--inside). It needs Python 3.9 and its standard library.
"""

import argparse
import base64
import csv
import hashlib
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

INSIDE = "/run/wheelsmith"
SERVER, DECISION = "wheelsmith.server", "wheelsmith.decision"
ENGINES = ("docker", "podman", "buildah")
ANSWER_S = 60


# ---- inside the container ----


class Findings:
    """Lines "ok what" and "fails what", as `wheelsmith verify` prints them."""

    def __init__(self):
        self.failed = 0

    def add(self, holds, text):
        self.failed += not holds
        print(f"{'ok' if holds else 'fails':<7} {text}", flush=True)
        return holds


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


_TORCH = """
import json, torch
gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(json.dumps({"version": torch.__version__, "gpus": gpus}))
"""


def look_at_torch(findings):
    """{"version", "gpus"}, in a child: what fails there may end the process."""
    child = subprocess.run([sys.executable, "-c", _TORCH], capture_output=True, text=True)
    python = ".".join(map(str, sys.version_info[:3]))
    if child.returncode:
        findings.add(False, f"Python {python}: torch does not import: {last_line(child.stderr)}")
        return None
    torch = json.loads(child.stdout.strip().splitlines()[-1])
    findings.add(True, f"Python {python}, torch {torch['version']}")
    return torch


def normal(name):
    return name.lower().replace("_", "-").replace(".", "-")


def our_distributions():
    """{name: distribution} of what was built or imported by wheelsmith, as its dist-info says."""
    from importlib import metadata

    found = {}
    for distribution in metadata.distributions():
        if distribution.read_text("wheelsmith.json") is not None:
            found[normal(distribution.metadata["Name"])] = distribution
    return found


def check_record(distribution):
    """None, or which file is not what RECORD says."""
    record = distribution.read_text("RECORD")
    if not record:
        return "it has no RECORD"
    for row in csv.reader(record.splitlines()):
        if len(row) != 3 or not row[1].startswith("sha256="):
            continue
        path = distribution.locate_file(row[0])
        try:
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).digest()
        except OSError as error:
            return f"'{row[0]}': {error.strerror}"
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != row[1][7:]:
            return f"'{row[0]}' is not the file that RECORD lists"
    return None


def wheels_for_here(build, torch):
    """[(package, version, decision, reason)] of the cells of build.json that are for this Python and torch."""
    tags = {f"cp{sys.version_info[0]}{sys.version_info[1]}", "py3", "py2.py3", "cp3"}
    public = torch["version"].partition("+")[0]
    for cell in build["cells"]:
        parts = cell["cell"].split("/")
        here = next((p for p in parts if p.startswith("torch")), f"torch{public}")
        stable = cell.get("wheel") and "-abi3-" in cell["wheel"]
        python = cell["wheel"].split("-")[-3] if cell.get("wheel") else None
        if here[5:].partition("+")[0] != public or (python and python not in tags and not stable):
            continue
        version = cell["wheel"].split("-")[1] if cell.get("wheel") else None
        yield normal(cell["package"]), version, decision_of(cell), cell.get("reason")


def decision_of(cell):
    """Of one that was built in an earlier run and cached since: build."""
    return cell["decision"].replace("cached", "build")


def check_label(findings, build, label):
    """What the image says of itself, as its Dockerfile writes it."""
    found = {f"{c['package']}={decision_of(c)}" for c in build["cells"]}
    found = ",".join(sorted(found))
    findings.add(found == label, f"its label says {label}" + ("" if found == label else f"; it is {found}"))


def compare(findings, path, torch, label):
    from importlib import metadata

    ours = our_distributions()
    for name, distribution in sorted(ours.items()):
        problem = check_record(distribution)
        what = f"{name} {distribution.version}"
        findings.add(not problem, f"{what}: {problem or 'every file is what RECORD lists'}")
    if not os.path.exists(path):
        findings.add(bool(ours), f"no '{path}': what was built for this image is not known")
        return
    with open(path) as file:
        build = json.load(file)
    if label:
        check_label(findings, build, label)
    named = set()
    for name, version, decision, reason in wheels_for_here(build, torch):
        named.add(name)
        if version is None:
            findings.add(decision in ("fallback", "excluded"), f"{name}: {decision}: {reason}")
            continue
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            findings.add(False, f"{name} {version} was built ({decision}) and is not installed")
            continue
        same = installed == version
        other = f"{version} was delivered ({decision}), and {installed} is installed"
        findings.add(same, f"{name}: {decision}, installed" if same else f"{name}: {other}")
    for name in sorted(set(ours) - named):
        findings.add(False, f"{name} {ours[name].version} is installed, and '{path}' does not have it")


def judge(findings, program):
    """Every extension against the torch that is installed beside it."""
    with tempfile.TemporaryDirectory() as home:
        child = subprocess.run(
            [program, "doctor", "--python", sys.executable, "--json", "--store", f"{home}/store"],
            capture_output=True, text=True, env={**os.environ, "HOME": home},
        )  # fmt: skip
    try:
        extensions = json.loads(child.stdout)["extensions"]
    except (ValueError, KeyError):
        findings.add(False, f"wheelsmith doctor did not run: {last_line(child.stderr)}")
        return
    for extension in extensions:
        loads = extension["verdict"] == "loads"
        why = "loads in this torch" if loads else extension.get("evidence") or extension["verdict"]
        findings.add(loads, f"{extension['package']}: {why}")
    if not extensions:
        findings.add(True, "no extension of torch is installed")


def ask_health(url):
    try:
        with urllib.request.urlopen(url + "/health", timeout=10) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def try_server(findings, server, patience):
    token = base64.b16encode(os.urandom(16)).decode()
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen(
        [sys.executable, server, "--host", "127.0.0.1", "--port", "0"],
        stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, "SERVER_TOKEN": token},
    ) as child:  # fmt: skip
        health, until = None, time.monotonic() + patience
        speaks = select.select([child.stdout], [], [], patience)[0]
        said = child.stdout.readline().split() if speaks else []
        while len(said) == 2 and not health and time.monotonic() < until and child.poll() is None:
            health = ask_health(f"http://127.0.0.1:{said[1]}")
            time.sleep(0 if health else 0.2)
        child.send_signal(signal.SIGTERM)
        try:
            status = child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            status = "not"
        log.seek(0)
        if not health:
            findings.add(False, f"'{server}' does not serve /health: {last_line(log.read())}")
            return
        problem = f" ({health['problem']})" if health.get("problem") else ""
        findings.add(True, f"'{server}' serves: attn {health.get('attn')}, batch {health.get('batch')}{problem}")
        findings.add(status == 0, f"'{server}' ends with {status} on SIGTERM")


def inside(words):
    findings = Findings()
    torch = look_at_torch(findings)
    if torch:
        compare(findings, words.build_json, torch, words.decision)
        judge(findings, words.wheelsmith)
        gpus = ", ".join(torch["gpus"]) or "no GPU is seen"
        findings.add(bool(torch["gpus"]) or not words.require_gpu, gpus)
    if words.server:
        try_server(findings, words.server, words.patience)
    return 1 if findings.failed else 0


# ---- outside ----


class NotLooked(Exception):
    """It could not be looked at."""


def run(words, seconds, check=True, **files):
    """Its exit status. Whatever it starts may hold a pipe open for longer than it lives, so none is read."""
    command = " ".join(itertools.takewhile(lambda word: not word.startswith("-"), words))
    try:
        status = subprocess.run(words, timeout=seconds, **files).returncode
    except subprocess.TimeoutExpired:
        raise NotLooked(f"'{command}' did not end within {seconds:g} s") from None
    except OSError as error:
        raise NotLooked(f"'{words[0]}' cannot be run: {error.strerror}") from None
    if check and status:
        raise NotLooked(f"'{command}' ended with status {status}")
    return status


def read(words, seconds):
    with tempfile.TemporaryFile("w+") as said:
        run(words, seconds, stdout=said)
        said.seek(0)
        return said.read().strip()


def remove(words, container, seconds):
    """One that is left is not a finding."""
    try:
        run(words, seconds, stdout=subprocess.DEVNULL)
    except NotLooked as error:
        print(f"warning: the container {container} is left: {error}", file=sys.stderr)


def answers(engine, seconds):
    nowhere = subprocess.DEVNULL
    return run([engine, "info"], seconds, check=False, stdout=nowhere, stderr=nowhere) == 0


def find_engine(wanted, seconds):
    for engine in [wanted] if wanted else ENGINES:
        try:
            if shutil.which(engine) and (engine == "buildah" or answers(engine, seconds)):
                return engine
        except NotLooked:
            if wanted:
                raise
    raise NotLooked(f"{wanted or 'docker, podman or buildah'}: none is here that answers")


def label_of(engine, image, name, seconds):
    """"": it has none."""
    form = '{{index .Config.Labels "' + name + '"}}'
    if engine == "buildah":
        words = ["buildah", "inspect", "--type", "image", "--format", form.replace(".C", ".OCIv1.C"), image]
    else:
        words = [engine, "image", "inspect", "--format", form, image]
    return read(words, seconds).replace("<no value>", "")


def command_inside(engine, words):
    server, decision = (label_of(engine, words.image, name, words.answer) for name in (SERVER, DECISION))
    command = ["python3", f"{INSIDE}/verify_image.py", "--inside", "--build-json", words.build_json]
    command += ["--wheelsmith", f"{INSIDE}/prefix/bin/wheelsmith", "--patience", str(words.patience)]
    command += ["--require-gpu"] if words.require_gpu else []
    return [*command, "--server", server, "--decision", decision, words.image]


def mounts(words):
    me = os.path.abspath(__file__)
    return [f"{me}:{INSIDE}/verify_image.py:ro", f"{words.prefix}:{INSIDE}/prefix:ro"]


def with_engine(engine, words):
    command = command_inside(engine, words)
    name = f"wheelsmith-{os.urandom(8).hex()}"
    gpus = {"docker": ["--gpus", "all"], "podman": ["--device", "nvidia.com/gpu=all"]}[engine]
    volumes = [w for m in mounts(words) for w in ("--volume", m)]
    start = [engine, "run", "--rm", "--name", name, "--pull", "never", "--network", "none", "--entrypoint", command[0]]
    start += gpus if words.require_gpu else []
    try:
        return run([*start, *volumes, words.image, *command[1:]], words.look, check=False)
    except NotLooked:  # what was killed is the client
        remove([engine, "rm", "--force", name], name, words.answer)
        raise


def with_buildah(words):
    command = command_inside("buildah", words)
    volumes = [w for m in mounts(words) for w in ("--volume", m)]
    container = read(["buildah", "from", "--pull-never", words.image], words.timeout)
    try:
        return run(["buildah", "run", *volumes, container, "--", *command], words.look, check=False)
    finally:
        remove(["buildah", "rm", container], container, words.timeout)


def installation(wanted):
    """A prefix with bin/wheelsmith: the one that was named, or the one that this file is installed in."""
    prefix = os.path.abspath(wanted or os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
    if not os.access(os.path.join(prefix, "bin/wheelsmith"), os.X_OK):
        raise NotLooked(f"'{prefix}' has no bin/wheelsmith: give --prefix of `./dev package --prefix DIR`")
    return prefix


def outside(words):
    words.prefix = installation(words.prefix)
    words.answer = min(ANSWER_S, words.timeout)
    words.look = words.timeout + words.patience
    engine = find_engine(words.engine, words.answer)
    print(f"{words.image}, by {engine}", flush=True)
    status = with_buildah(words) if engine == "buildah" else with_engine(engine, words)
    return status if status in (0, 1) else 2


def parse():
    parser = argparse.ArgumentParser(prog="verify-image", description=__doc__.partition("\n\n")[0])
    parser.add_argument("image")
    parser.add_argument("--engine", choices=ENGINES, help="default: the first of these that answers")
    parser.add_argument("--prefix", help="an installation of wheelsmith that runs in the image")
    parser.add_argument("--require-gpu", action="store_true", help="fail where the container sees none")
    parser.add_argument("--build-json", default="/opt/wheels.json", help="in the image: what was built for it")
    parser.add_argument("--patience", type=float, default=300, help="seconds that the server has to serve")
    parser.add_argument("--timeout", type=float, default=900, help="seconds that the engine has for one command")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--wheelsmith", help=argparse.SUPPRESS)
    parser.add_argument("--server", help=argparse.SUPPRESS)
    parser.add_argument("--decision", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    words = parse()
    try:
        return inside(words) if words.inside else outside(words)
    except NotLooked as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
