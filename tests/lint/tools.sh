#!/bin/sh
# Every program that a test starts is in tools.txt, with a package of `./dev setup`; in CI each of them is installed.
set -eu
exec python3 tests/lint/tools.py ${WS_CI:+--installed}
