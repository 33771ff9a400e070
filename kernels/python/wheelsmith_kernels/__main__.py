"""python -m wheelsmith_kernels health|test|bench"""

import argparse
import json
import sys


def main():
    parser = argparse.ArgumentParser(prog="python -m wheelsmith_kernels")
    parser.add_argument("command", choices=("health", "test", "bench"))
    command = parser.parse_args().command
    if command == "health":
        from ._health import health

        report = health()
        print(json.dumps(report, indent=1))
        return 0 if report["ready"] else 1
    from . import _selftest

    return _selftest.test() if command == "test" else _selftest.bench()


sys.exit(main())
