#!/usr/bin/env bats
# A run with nothing to do starts no compiler, no nvcc and no Python: what they said is remembered.
# labels: cuda
# timeout: 600

load base

setup() {
	in_place
	needs strace
}

# The programs that a build starts, beside our own, once each.
started() {
	rm -rf dist
	strace -f -e trace=execve -e signal=none -o trace "$WHEELSMITH" build --matrix m.json > /dev/null 2> said
	grep -q '1 ready' said
	sed -nE 's/.*execve\("([^"]+)".* = 0$/\1/p' trace | xargs -n 1 basename | sort -u | grep -vx wheelsmith
}

# A file younger than two seconds may change without a new time, so its program is asked again.
settle() {
	sleep 3
}

# The Python of the cell is asked for its torch, since what the recipe imports might be tried there.
@test "a run with nothing to do starts no other program" {
	recipe 'r["check"] = {"import": ["tiny"]}'
	build -0
	settle
	started > first || true
	run started
	[ -z "$output" ]
}
