#!/usr/bin/env bats
# The power fails while a build writes to the store: the next one makes the same wheel, and goes on where it was.
# timeout: 400

load base

crashes() { # POINTS [--no-sync]
	strace -o /dev/null true || cannot_run "no strace"
	run --separate-stderr timeout 380 python3 "$WS_ROOT/tests/support/crash_replay.py" "$WHEELSMITH_STORE" "$@" -- \
		"$WHEELSMITH" build --matrix m.json --offline
	echo "$output"
	echo "$stderr"
	[ "$status" -eq 0 ]
}

@test "from the store of a crash the same wheel is made, and nothing runs that had ended" {
	crashes 25
	[ "${lines[-1]}" = "25 points, 0 wrong" ]
}

@test "a store that did not sync what it notes would be found out" {
	crashes 6 --no-sync
	[[ "${lines[-1]}" != *" 0 wrong" ]]
}
