"""check PACKAGE: an installed package on this GPU against float64, and a file that says so.

The file names the wheel by its sha256, so that who publishes can ask for it. It is only written for
files that are the wheel's: what was changed after it was installed is not what would be published.
"""

import base64
import dataclasses
import datetime
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import zipfile

from . import __version__, _check_conv, _check_scan

SCHEMA = "wheelsmith.kernels-check/1"
RIGHT, WRONG, NOT_CHECKED = 0, 1, 2

#: Relative error (root mean square) of o, and of the gradients, that each type may have.
LIMITS = {"float16": (2e-3, 5e-3), "bfloat16": (1e-2, 3e-2), "float32": (1e-5, 1e-4)}
ATTENTION_DTYPES = ("float16", "bfloat16")
HEAD_DIMS = (64, 80, 96, 128)


class NotChecked(Exception):
    """There is nothing to judge; the text says why."""


# ---- which wheel ----


def _sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for part in iter(lambda: f.read(1 << 20), b""):
            digest.update(part)
    return digest


def _record_value(path):
    """As RECORD writes it: base64 without padding."""
    return base64.urlsafe_b64encode(_sha256_of(path).digest()).rstrip(b"=").decode()


def _rows(text):
    """(path, sha256 as RECORD writes it) of the rows of a RECORD that have one."""
    import csv

    for row in csv.reader(text.splitlines()):
        if len(row) == 3 and row[1].startswith("sha256="):
            yield row[0], row[1][len("sha256=") :]


def _require_files(distribution, rows, whose):
    """Every installed file is what `rows` say. What an installer moves or writes itself is left out."""
    info, rows = distribution.name + "-" + distribution.version, list(rows)
    if not rows:
        raise NotChecked(f"{info}: {whose} names no file with its sha256")
    for path, wanted in rows:
        moved = ".data/" in path or path.startswith("..") or path.endswith((".pyc", "INSTALLER", "direct_url.json"))
        if moved or path.endswith(("REQUESTED", "RECORD")):
            continue
        file = distribution.locate_file(path)
        try:
            same = _record_value(file) == wanted
        except OSError as error:
            raise NotChecked(f"{info}: '{path}' of {whose} is not installed: {error.strerror}")
        if not same:
            raise NotChecked(f"{info}: the installed '{path}' is not the one of {whose}")


def _require_import(distribution, module):
    """Python imports what is installed, and not a folder of that name that comes before it."""
    spec = importlib.util.find_spec(module)
    found = os.path.realpath(os.path.dirname((spec and spec.origin) or ""))
    if found != os.path.realpath(distribution.locate_file(module)):
        raise NotChecked(f"Python imports '{module}' from '{found}', which is not what is installed")


def find_wheel(distribution, wheel):
    """(sha256 or None, where it is known from): of the file that was given, or what the installer noted."""
    if wheel:
        with zipfile.ZipFile(wheel) as z:
            record = [n for n in z.namelist() if n.endswith(".dist-info/RECORD") and n.count("/") == 1]
            if len(record) != 1:
                raise NotChecked(f"'{wheel}' is not a wheel: it has {len(record)} RECORDs")
            _require_files(distribution, _rows(z.read(record[0]).decode()), f"'{wheel}'")
        return _sha256_of(wheel).hexdigest(), "the wheel that was given"
    _require_files(distribution, _rows(distribution.read_text("RECORD") or ""), "its RECORD")
    origin = json.loads(distribution.read_text("direct_url.json") or "{}").get("archive_info", {})
    sha256 = origin.get("hashes", {}).get("sha256") or origin.get("hash", "").partition("sha256=")[2]
    return (sha256, "direct_url.json") if sha256 else (None, None)


# ---- what is computed ----


@dataclasses.dataclass(frozen=True)
class Case:
    head_dim: int
    dtype: str
    batch: int
    queries: int
    keys: int
    heads: int
    heads_k: int
    left: int
    right: int
    lengths: tuple = ()  # packed: of each sequence, queries and keys alike

    def name(self):
        shape = "+".join(map(str, self.lengths)) or f"{self.batch}x{self.queries}x{self.keys}"
        return f"{self.dtype} {self.head_dim} {shape} {self.heads}:{self.heads_k} {self.left},{self.right}"


#: Lengths that are no multiple of a tile, GQA, MQA, a window, rows that see nothing, packed sequences.
SHAPES = (
    (2, 128, 128, 4, 4, -1, 0),
    (2, 113, 203, 4, 2, -1, 0),
    (1, 300, 300, 4, 1, 70, 0),
    (1, 65, 1000, 8, 1, -1, -1),
    (1, 203, 113, 4, 4, -1, 0),
    (1, 1024, 1024, 8, 2, -1, 0),
    (1, 1, 513, 32, 4, -1, 0),
    (1, 201, 201, 4, 2, -1, 0, (1, 130, 63, 7)),
    (1, 201, 201, 4, 2, 20, 0, (130, 0, 71)),
)


def all_cases():
    return [Case(d, t, *shape) for d in HEAD_DIMS for t in ATTENTION_DTYPES for shape in SHAPES]


def _of_flash_attn(case, q, k, v):
    import torch
    from flash_attn import flash_attn_func, flash_attn_varlen_func

    words = {"softmax_scale": case.head_dim**-0.5, "causal": case.right == 0}
    words["window_size"] = (case.left, case.right)
    if not case.lengths:
        return flash_attn_func(q, k, v, **words)
    ends = torch.tensor((0,) + case.lengths, device=q.device).cumsum(0, dtype=torch.int32)
    longest = max(case.lengths)
    return flash_attn_varlen_func(q[0], k[0], v[0], ends, ends, longest, longest, **words)[None]


def _of_wheelsmith_kernels(case, q, k, v):
    import torch

    from ._attention_ops import Attention

    scale, nothing = case.head_dim**-0.5, (None,) * 5
    if not case.lengths:
        return Attention.apply(q, k, v, *nothing, 0, 0, scale, case.left, case.right)
    ends = torch.tensor((0,) + case.lengths, device=q.device).cumsum(0, dtype=torch.int32)
    words = ends, ends, *nothing[:3], max(case.lengths), max(case.lengths)
    return Attention.apply(q[0], k[0], v[0], *words, scale, case.left, case.right)[None]


def _wanted(case, q, k, v, grad):
    """o, dq, dk, dv in float64; of packed sequences each alone."""
    import torch

    from ._reference import attend, gradients

    parts, start = [], 0
    for n in case.lengths or (None,):
        rows = slice(start, start + n) if n is not None else slice(None)
        start += n or 0
        if n != 0:
            of = [t[:, rows] for t in (q, k, v, grad)]
            what = case.head_dim**-0.5, case.left, case.right
            parts.append((attend(*of[:3], *what)[0], *gradients(*of, *what)))
    return [torch.cat(t, 1) for t in zip(*parts)]


def _attention(call):
    """f(case, device) -> [(name, found, wanted)] of o and the gradients that `call` gives."""

    def pairs(case, device):
        import torch

        generator = torch.Generator(device).manual_seed(0)
        dtype = getattr(torch, case.dtype)

        def make(rows, heads):
            shape = case.batch, rows, heads, case.head_dim
            return torch.randn(shape, device=device, generator=generator).to(dtype)

        q, grad = make(case.queries, case.heads), make(case.queries, case.heads)
        k, v = make(case.keys, case.heads_k), make(case.keys, case.heads_k)
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        o = call(case, *leaves)
        found = (o.detach(), *torch.autograd.grad(o, leaves, grad))
        return list(zip(("o", "dq", "dk", "dv"), found, _wanted(case, q, k, v, grad)))

    return pairs


_of_here = {
    Case: _attention(_of_wheelsmith_kernels),
    _check_conv.Case: _check_conv.of_here,
    _check_scan.Case: _check_scan.of_here,
}

#: By normalised name: the cases, and what gives [(name, found, wanted)] of one on a device.
PACKAGES = {
    "flash-attn": (all_cases, _attention(_of_flash_attn)),
    "wheelsmith-kernels": (
        lambda: all_cases() + _check_conv.all_cases() + _check_scan.all_cases(),
        lambda case, device: _of_here[type(case)](case, device),
    ),
    "causal-conv1d": (_check_conv.all_cases, _check_conv.of_package),
    "mamba-ssm": (_check_scan.all_cases, _check_scan.of_package),
}


def _differences(pairs, dtype):
    """Of one case: {"o": {"relative", "absolute"}, …} and whether all are within the limits."""
    from ._reference import ratio

    differences, right = {}, True
    for name, x, y in pairs:
        relative, absolute = ratio(x, y), (x.double() - y).abs().max().item()
        limit = LIMITS[dtype][name.startswith("d")]
        right = right and relative <= limit  # NaN is not
        differences[name] = {"relative": _number(relative), "absolute": _number(absolute), "limit": limit}
    return differences, right


def _number(x):
    """JSON has no NaN and no infinity."""
    return x if x == x and abs(x) != float("inf") else str(x)


def _run(report, cases, pairs, lines):
    import torch

    device = torch.device("cuda", torch.cuda.current_device())
    properties = torch.cuda.get_device_properties(device)
    report["device"] = {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory": properties.total_memory,
    }
    for case in cases:
        if isinstance(case, Case) and case.dtype == "bfloat16" and (properties.major, properties.minor) < (8, 0):
            continue  # the tensor cores have none
        found = {"case": case.name(), **dataclasses.asdict(case), "differences": {}, "error": None}
        try:
            found["differences"], found["right"] = _differences(pairs(case, device), case.dtype)
        except Exception as error:  # a broken build may raise anything, which is reported
            found["right"], found["error"] = False, f"{type(error).__name__}: {error}"
        report["cases"].append(found)
        lines(found)


def _largest(cases):
    """The largest differences of each type and result."""
    most = {}
    for case in cases:
        for name, d in case["differences"].items():
            of = most.setdefault(case["dtype"], {}).setdefault(name, {"relative": 0.0, "absolute": 0.0})
            for kind in of:
                if isinstance(of[kind], float) and (isinstance(d[kind], str) or d[kind] > of[kind]):
                    of[kind] = d[kind]
    return most


def _print_case(found):
    errors = found["error"] or " ".join(
        f"{n} {d['relative']:.1e}" if isinstance(d["relative"], float) else f"{n} {d['relative']}"
        for n, d in found["differences"].items()
    )
    print(f"  {'right' if found['right'] else 'WRONG'}  {found['case']:<42} {errors}", flush=True)


def _start(package):
    return {
        "schema": SCHEMA,
        "verdict": "not checked",
        "problem": None,
        "package": package,
        "version": None,
        "wheel_sha256": None,
        "wheel_known_from": None,
        "checked_by": f"wheelsmith-kernels {__version__}",
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "torch": None,
        "cuda": None,
        "device": None,
        "largest": {},
        "cases": [],
    }


def _judge(report, package, wheel):
    """Fills the report. NotChecked where there is nothing to judge."""
    if package not in PACKAGES:
        raise NotChecked(f"no reference for '{package}'; there is one for {', '.join(sorted(PACKAGES))}")
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        raise NotChecked(f"'{package}' is not installed")
    report["version"] = distribution.version
    _require_import(distribution, package.replace("-", "_"))
    report["wheel_sha256"], report["wheel_known_from"] = find_wheel(distribution, wheel)
    try:
        import torch
    except ImportError as error:
        raise NotChecked(f"torch does not import: {error}")
    report["torch"], report["cuda"] = torch.__version__, torch.version.cuda
    if not torch.cuda.is_available():
        raise NotChecked("torch sees no GPU")
    print(f"{package} {report['version']} on {torch.cuda.get_device_name()}, torch {torch.__version__}")
    print("  relative error against float64")
    cases, pairs = PACKAGES[package]
    _run(report, cases(), pairs, _print_case)
    report["largest"] = _largest(report["cases"])
    report["verdict"] = "right" if all(c["right"] for c in report["cases"]) else "wrong"


def check(package, wheel=None, output=None):
    """Prints a line for each case, writes the file; 0 right, 1 wrong, 2 not checked."""
    package = package.lower().replace("_", "-")
    report = _start(package)
    try:
        _judge(report, package, wheel)
    except (NotChecked, OSError, zipfile.BadZipFile) as error:
        report["problem"] = str(error)
    if output:
        with open(output, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)
            f.write("\n")
    sha256 = report["wheel_sha256"]
    print(f"{report['verdict']}: {report['problem'] or 'wheel ' + (sha256 or 'unknown: name it with --wheel FILE')}")
    return {"right": RIGHT, "wrong": WRONG}.get(report["verdict"], NOT_CHECKED)
