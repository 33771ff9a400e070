#!/bin/sh
# Shell scripts are clean under shellcheck.
set -eu
find tests -name '*.sh' -exec shellcheck {} +
shellcheck dev .ci/run
