#!/usr/bin/env bats
# The headers of torch ask nothing that cannot be listed, so no unit of a shipped recipe is opaque.
# labels: network
# timeout: 600

load helpers
load kit_helpers

@test "every header of torch 2.5.1 and 2.11.0 is understood" {
	for version in 2.5.1 2.11.0; do
		run -0 kit torch "$BATS_TEST_TMPDIR/store" "$version" 3.11
		run -0 "$WS_BINARY_DIR/tests/asks_probe" "$(field path)/include"
		[[ "$output" =~ ^"files: "[0-9]{4}$ ]]
	done
}
