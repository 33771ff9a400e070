#!/bin/sh
# No sentence of comments, messages, tests and pages has to be read twice (english.py).
set -eu
python3 tests/lint/english.py
