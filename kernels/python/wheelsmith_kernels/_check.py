"""check PACKAGE: compares an installed package on this GPU with float64 and writes the result into a file.

The file names the wheel by its sha256, so that a publisher can require it. It is only written when the installed files
are those of the wheel: a changed installation is not the wheel that would be published.
"""

import dataclasses
import datetime
import importlib.metadata
import json
import platform
import zipfile

from . import __version__, _check_attention, _check_conv, _check_scan
from ._check_wheel import NotChecked, find_wheel, require_import

SCHEMA = "wheelsmith.kernels-check/1"
RIGHT, WRONG, NOT_CHECKED = 0, 1, 2

#: Relative error (root mean square) of o, and of the gradients, that each type may have.
LIMITS = {"float16": (2e-3, 5e-3), "bfloat16": (1e-2, 3e-2), "float32": (1e-5, 1e-4)}

_SUBJECTS = _check_attention, _check_conv, _check_scan
_of_here = {subject.Case: subject.of_here for subject in _SUBJECTS}

#: By normalised name: the cases, and what gives [(name, found, wanted)] of one on a device.
PACKAGES = {
    "flash-attn": (_check_attention.all_cases, _check_attention.of_package),
    "wheelsmith-kernels": (
        lambda: [case for subject in _SUBJECTS for case in subject.all_cases()],
        lambda case, device: _of_here[type(case)](case, device),
    ),
    "causal-conv1d": (_check_conv.all_cases, _check_conv.of_package),
    "mamba-ssm": (_check_scan.all_cases, _check_scan.of_package),
}


def _differences(pairs, dtype):
    """The errors of one case: {"o": {"relative", "absolute"}, …} and whether all are within the limits."""
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
        if isinstance(case, _check_attention.Case) and case.dtype == "bfloat16" and (properties.major, properties.minor) < (8, 0):
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
    require_import(distribution, package.replace("-", "_"))
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
