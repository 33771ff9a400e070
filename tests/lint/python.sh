#!/bin/sh
# Python, which tests, tools and the reader of setup.py are written in, parses; the bench lists what it measures.
set -eu
export PYTHONDONTWRITEBYTECODE=1
git ls-files -z 'tests/*.py' 'examples/*.py' 'builder/*.py' 'tools/*.py' 'kernels/*.py' ':!tests/fuzz/corpus' | xargs -0 python3 -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path) as file:
        ast.parse(file.read(), path)'
./dev bench --list | grep '^plan ' >/dev/null
