#!/usr/bin/env bats
# What plan says of what build made.
# timeout: 300

load building

setup_file() {
	make_base
	export BASE
}

setup() {
	in_place
	only_host
}

decisions() {
	"$WHEELSMITH" plan --json --matrix m.json | jq -r '.cells[].decision' | xargs
}

@test "after a build the plan finds its wheels, also when that build made the lock" {
	[ "$(decisions)" = build ]
	build
	[ "$status" -eq 0 ]
	[ "$(decisions)" = cached ]
	rm -r m.lock.json "$WHEELSMITH_STORE/cells"
	[ "$(decisions)" = build ]
	serve "$BASE/www"
	build --index "$INDEX"
	unserve
	[ "$status" -eq 0 ]
	[ "$(built .actions.ran)" -eq 0 ]
	[ "$(decisions)" = cached ]
}
