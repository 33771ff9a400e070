#!/usr/bin/env bats
# Verdicts on generated libraries beside the results of this host's loader.
# timeout: 300

load helpers

setup() {
	private_home
}

@test "libraries that differ in one thing from a sound one are judged as dlopen takes them" {
	run -0 python3 "$WS_ROOT/tests/support/loader_truth.py" "$WHEELSMITH" "$BATS_TEST_TMPDIR"
}
