#!/usr/bin/env bash
# run_bats.sh - one file of tests/cli, for ctest: run_bats.sh BATS FILE. Prints the output of bats, of a failed test that of
# its last command too, and ends with its status. Status 77, a skip: all tests passed but one was skipped, which bats
# counts as a success. In CI a skipped test is a failure.
skip=$([ -n "${WS_CI:-}" ] && echo 1 || echo 77)
"$1" --print-output-on-failure --tap "$2" |
	awk -v skip="$skip" '{ print; fflush() } /^ok .* # skip/ { end = skip } END { exit end }'
ends=("${PIPESTATUS[@]}")
exit $((ends[0] ? ends[0] : ends[1]))
