#!/bin/sh
# Shell scripts are clean under shellcheck.
set -eu
find dev .ci/run tests -name '*.sh' -o -path dev -o -path .ci/run | xargs shellcheck
