"""python -m wheelsmith_kernels health|test|bench|check PACKAGE"""

import argparse
import json
import sys


def _parse():
    parser = argparse.ArgumentParser(prog="python -m wheelsmith_kernels")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("health", help="JSON: what runs here; exit 1: a GPU has no attention kernel")
    commands.add_parser("test", help="every head dimension, type and shape against float64")
    commands.add_parser("bench", help="training and decode beside torch's own")
    check = commands.add_parser("check", help="an installed package against float64; exit 1: wrong, 2: not checked")
    check.add_argument("package", help="flash-attn, causal-conv1d, wheelsmith-kernels")
    check.add_argument("--json", metavar="FILE", help="write the result to FILE")
    check.add_argument("--wheel", metavar="FILE", help="the wheel that was installed, for its sha256")
    return parser.parse_args()


def main():
    arguments = _parse()
    if arguments.command == "health":
        from ._health import health

        report = health()
        print(json.dumps(report, indent=1))
        return 0 if report["ready"] else 1
    if arguments.command == "check":
        from ._check import check

        return check(arguments.package, arguments.wheel, arguments.json)
    from . import _selftest

    return _selftest.test() if arguments.command == "test" else _selftest.bench()


sys.exit(main())
