#!/usr/bin/env bash
# run_bats.sh - one file of tests/cli, for ctest: run_bats.sh BATS FILE. What bats says and how it ends;
# but 77, a skip, where nothing failed and something could not run: to bats that is a success.
"$1" --tap "$2" | awk '{ print; fflush() } /^ok .* # skip/ { skipped = 1 } END { exit skipped ? 77 : 0 }'
ends=("${PIPESTATUS[@]}")
exit $((ends[0] ? ends[0] : ends[1]))
