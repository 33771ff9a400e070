#!/bin/sh
# clang-format of version 14 is the style.
set -eu
tool=$(command -v clang-format-14 || command -v clang-format)
"$tool" --version | grep -q 'version 14\.' || { echo "clang-format 14 is needed (./dev setup)"; exit 1; }
find builder tests kernels '(' -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' ')' -print0 | xargs -0 "$tool" --dry-run --Werror
