#!/usr/bin/env python3
"""verify_image.py IMAGE - is what an image has what was built for it, and does it run?

Starts one container with docker, podman or buildah, whichever is there, without a network where the engine can,
and looks in it: Python and torch, every file of our wheels and of prebuilt ones against its RECORD, their versions
against the build.json of the image, every extension against the torch beside it (`wheelsmith doctor`, from an installation
that is mounted read-only), GPUs, and the server and the decision that an image names by the labels wheelsmith.server and
wheelsmith.decision.
Exit status 0: all of it holds; 1: something does not, and a line says why; 2: it could not be looked at.

The same file does the work inside the container (--inside). It needs Python 3.9 and its standard library.
"""

import argparse
import base64
import contextlib
import csv
import errno
import hashlib
import http.client
import itertools
import json
import os
import re
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
# Time for the trials of a server before it serves: two of examples/server/attend.py, and a model.
PATIENCE_S = 300
# Time limits for importing torch and for judging every extension.
CHILD_S = 300
HEALTH_MOST = 1 << 20


# ---- inside the container ----


class Findings:
    """Lines "ok what" and "fails what", as `wheelsmith verify` prints them: no control character of an image is in one."""

    def __init__(self):
        self.failed = 0

    def add(self, holds, text):
        self.failed += not holds
        text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "?", text)
        print(f"{'ok' if holds else 'fails':<7} {text}", flush=True)
        return holds

    def look(self, what, how, *words):
        """how(self, *words); a file that cannot be read is a finding, and the result is None."""
        try:
            return how(self, *words)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error) as error:
            why = isinstance(error, OSError) and error.strerror or f"{type(error).__name__}: {error}"
            self.add(False, f"{what}: {why}")
            return None


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def ask(words, **named):
    """(exit status, output, last line of stderr). A grandchild may keep the pipe open after the command ended."""
    said, log = (tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") for _ in range(2))
    with said, log:
        try:
            status = subprocess.run(words, stdout=said, stderr=log, timeout=CHILD_S, **named).returncode
        except subprocess.TimeoutExpired:
            raise OSError(errno.ETIMEDOUT, f"it did not end within {CHILD_S:g} s") from None
        said.seek(0)
        log.seek(0)
        return status, said.read(), last_line(log.read())


# It ends there: what a package prints when Python ends is not the report.
_TORCH = """
import json, os, torch
gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
print(json.dumps({"version": str(torch.__version__), "gpus": gpus}), flush=True)
os._exit(0)
"""


def look_at_torch(findings):
    """{"version", "gpus"}, in a child: what fails there may end the process."""
    status, said, problem = ask([sys.executable, "-c", _TORCH])
    python = ".".join(map(str, sys.version_info[:3]))
    if status:
        findings.add(False, f"Python {python}: torch does not import: {problem}")
        return None
    torch = json.loads(last_line(said))
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


def open_file(path, mode):
    """A pipe and a device have no end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return open(path, mode)


def check_record(distribution):
    """The file that differs from RECORD, or None."""
    record = distribution.read_text("RECORD")
    if not record:
        return "it has no RECORD"
    for row in csv.reader(record.splitlines()):
        if len(row) != 3 or not row[1].startswith("sha256="):
            continue
        path = distribution.locate_file(row[0])
        try:
            with open_file(path, "rb") as file:
                digest = hashlib.sha256(file.read()).digest()
        except OSError as error:
            return f"'{row[0]}': {error.strerror}"
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != row[1][7:]:
            return f"'{row[0]}' is not the file that RECORD lists"
    return None


_VERSION = re.compile(
    r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?"
)


def normal_version(text):
    """As PEP 440 writes it: file names and METADATA write "1.0+CU12-torch2" and "1.0.0-1", too."""
    found = _VERSION.fullmatch(text.strip().lower())
    if not found:
        return text
    epoch, release, pre, pre_number, post_number, post, post_word, dev, dev_number, local = found.groups()
    number = ".".join(str(int(part)) for part in release.split("."))
    number = f"{int(epoch)}!{number}" if epoch and int(epoch) else number
    pre = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}.get(pre, pre)
    number += f"{pre}{int(pre_number or 0)}" if pre else ""
    number += f".post{int(post_number or post_word or 0)}" if post or post_number else ""
    number += f".dev{int(dev_number or 0)}" if dev else ""
    parts = re.split("[-_.]", local) if local else []
    return number + ("+" + ".".join(str(int(p)) if p.isdigit() else p for p in parts) if parts else "")


def is_for_here(cell, torch):
    """Whether a cell of build.json is for this torch and this Python: by its name, and by its wheel's where it has one."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    abi = python + ("t" if "t" in sys.abiflags else "")  # free-threaded
    parts = cell["cell"].split("/")[1:]
    public = torch["version"].partition("+")[0]
    if any(p.startswith("torch") and p[5:].partition("+")[0] != public for p in parts):
        return False
    if not cell.get("wheel"):
        return all(p == abi for p in parts if re.fullmatch(r"cp\d+t?", p))
    pythons, abis = (set(tags.split(".")) for tags in cell["wheel"].split("-")[-3:-1])
    return "abi3" in abis or bool(pythons & {python, "py3", "cp3"} and abis & {abi, "none"})


def cells_for_here(build, torch):
    """{package: [cell]}: several of one package where they differ in what an image does not say, as architectures."""
    found = {}
    for cell in build["cells"]:
        if is_for_here(cell, torch):
            found.setdefault(normal(cell["package"]), []).append(cell)
    return found


def version_of(cell):
    """The version of METADATA in the installed wheel; the file name may have a different one."""
    return normal_version(cell.get("metadata_version") or cell["version"])


def decision_of(cell):
    """The decision for the wheel; "build" also when an earlier run built it and this one found it cached."""
    return cell["decision"].replace("cached", "build")


def check_label(findings, build, label):
    """The labels of the image, as its Dockerfile writes them."""
    found = {f"{c['package']}={decision_of(c)}" for c in build["cells"]}
    found = ",".join(sorted(found))
    findings.add(found == label, f"its label says {label}" + ("" if found == label else f"; it is {found}"))


def installed_distribution(name):
    from importlib import metadata

    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def look_at_record(findings, name, distribution):
    problem = check_record(distribution)
    what = f"{name} {distribution.version}"
    findings.add(not problem, f"{what}: {problem or 'every file is what RECORD lists'}")


def look_at_package(findings, name, cells, distribution):
    """An installed wheel is one of the delivered ones; where none was delivered, the decision is the reason."""
    delivered = [c for c in cells if c.get("wheel")]
    if not delivered:
        holds = [decision_of(c) in ("fallback", "excluded") for c in cells]
        cell = cells[holds.index(False) if False in holds else 0]
        findings.add(all(holds), f"{name}: {decision_of(cell)}: {cell.get('reason')}")
        return
    which = " or ".join(sorted({f"{version_of(c)} ({decision_of(c)})" for c in delivered}))
    if not distribution:
        findings.add(False, f"{name} is not installed, and was delivered: {which}")
        return
    installed = [c for c in delivered if version_of(c) == normal_version(distribution.version)]
    if installed:
        findings.add(True, f"{name}: {decision_of(installed[0])}, installed")
    else:
        findings.add(False, f"{name}: {distribution.version} is installed, not {which}")


def compare(findings, path, torch, label):
    ours, build, here = our_distributions(), None, {}
    if os.path.exists(path):
        with open_file(path, "rb") as file:
            build = json.load(file)
        here = cells_for_here(build, torch)
    delivered = {n: installed_distribution(n) for n in here if any(c.get("wheel") for c in here[n])}
    for name, distribution in sorted({**delivered, **ours}.items()):
        if distribution:
            look_at_record(findings, name, distribution)
    if not build:
        findings.add(bool(ours), f"no '{path}': what was built for this image is not known")
        return
    if label:
        check_label(findings, build, label)
    for name, cells in here.items():
        look_at_package(findings, name, cells, delivered.get(name))
    for name in sorted(set(ours) - set(here)):
        findings.add(False, f"{name} {ours[name].version} is installed, and '{path}' does not have it")


def judge(findings, program):
    """Every extension against the torch that is installed beside it."""
    with tempfile.TemporaryDirectory() as home:
        command = [program, "doctor", "--python", sys.executable, "--json", "--store", f"{home}/store"]
        _, said, problem = ask(command, env={**os.environ, "HOME": home})
    try:
        extensions = json.loads(said)["extensions"]
    except (ValueError, KeyError):
        findings.add(False, f"wheelsmith doctor did not run: {problem}")
        return
    for extension in extensions:
        loads = extension["verdict"] == "loads"
        why = "loads in this torch" if loads else extension.get("evidence") or extension["verdict"]
        findings.add(loads, f"{extension['package']}: {why}")
    if not extensions:
        findings.add(True, "no extension of torch is installed")


@contextlib.contextmanager
def at_most(seconds):
    """All of it together: a timeout of urllib is for each read."""

    def end(_number, _frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def ask_health(port, seconds):
    """The report of GET /health, or None."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with at_most(seconds), direct.open(f"http://127.0.0.1:{port}/health") as answer:
            health = json.loads(answer.read(HEALTH_MOST))
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    return health if isinstance(health, dict) else None


def await_health(child, said, patience):
    """The health report of a server that prints "port 8000" on a line; None after the time limit."""
    until = time.monotonic() + patience
    while time.monotonic() < until and child.poll() is None:
        # Not read(): the child writes where this would leave the file's offset.
        text = os.pread(said.fileno(), os.fstat(said.fileno()).st_size, 0)
        line = re.search(rb"^port (\d{1,5})\r?\n", text, re.MULTILINE)
        left = max(0.1, min(10, until - time.monotonic()))
        health = line and int(line[1]) < 1 << 16 and ask_health(int(line[1]), left)
        if health:
            return health
        time.sleep(0.2)
    return None


def try_server(findings, server, patience):
    token = base64.b16encode(os.urandom(16)).decode()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile("w+", errors="replace") as log:
        child = subprocess.Popen(
            [sys.executable, server, "--host", "127.0.0.1", "--port", "0"],
            stdout=said, stderr=log, env={**os.environ, "SERVER_TOKEN": token},
        )  # fmt: skip
        try:
            health = await_health(child, said, patience)
            child.send_signal(signal.SIGTERM)
            status = child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            child.kill()
        log.seek(0)
        if not health:
            findings.add(False, f"'{server}' does not serve /health: {last_line(log.read())}")
            return
        problem = f" ({health['problem']})" if health.get("problem") else ""
        findings.add(True, f"'{server}' serves: attn {health.get('attn')}, batch {health.get('batch')}{problem}")
        ends = "does not end" if status is None else f"ends with {status}"
        findings.add(status == 0, f"'{server}' {ends} on SIGTERM")


def inside(words):
    findings = Findings()
    torch = findings.look("torch", look_at_torch)
    if torch:
        findings.look(f"'{words.build_json}' against what is installed", compare, words.build_json, torch, words.decision)
        findings.look("wheelsmith doctor", judge, words.wheelsmith)
        gpus = ", ".join(torch["gpus"]) or "no GPU is seen"
        findings.add(bool(torch["gpus"]) or not words.require_gpu, gpus)
    if words.server:
        findings.look(f"'{words.server}'", try_server, words.server, words.patience)
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
    """A process that stays behind is not a finding."""
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
    raise NotLooked("no container engine answers: " + ", ".join([wanted] if wanted else ENGINES))


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
        # buildah ends with 1 where nothing could be started, too.
        if run(["buildah", "run", *volumes, container, "--", "python3", "-c", "pass"], words.answer, check=False):
            raise NotLooked(f"python3 does not start in '{words.image}', and it is what looks inside")
        return run(["buildah", "run", *volumes, container, "--", *command], words.look, check=False)
    finally:
        remove(["buildah", "rm", container], container, words.timeout)


def installation(wanted):
    """The prefix with bin/wheelsmith: the given one, or the one that contains this file."""
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
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="seconds that the server has to serve")
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
