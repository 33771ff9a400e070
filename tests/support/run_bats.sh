#!/usr/bin/env bash
# run_bats.sh - one file of tests/cli, for ctest: run_bats.sh BATS FILE. What bats says and how it ends;
# but 77, a skip, where nothing failed and something could not run: to bats that is a success. In CI
# nothing skips.
skip=$([ -n "${WS_CI:-}" ] && echo 1 || echo 77)
"$1" --tap "$2" |
	awk -v skip="$skip" '{ print; fflush() } /^ok .* # skip/ { end = skip } END { exit end }'
ends=("${PIPESTATUS[@]}")
exit $((ends[0] ? ends[0] : ends[1]))
