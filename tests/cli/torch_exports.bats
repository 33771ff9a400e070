#!/usr/bin/env bats
# The list that ships is the one that the wheels on the index give today: 500 MB over the wire.
# labels: network real
# timeout: 900

load helpers

@test "the list of torch 2.11.0 is made again, the same" {
	run -0 "$WHEELSMITH" --store "$BATS_TEST_TMPDIR/store" internal exports 2.11.0 "$BATS_TEST_TMPDIR"
	# Compared unpacked: another libzstd may pack differently.
	zstd -qdc "$BATS_TEST_TMPDIR/torch-2.11.0.zst" > "$BATS_TEST_TMPDIR/made"
	zstd -qdc "$WS_ROOT/matrix/facts/exports/torch-2.11.0.zst" | cmp - "$BATS_TEST_TMPDIR/made"
	[ -z "$(ls "$BATS_TEST_TMPDIR/store/work" | grep exports)" ]
}

@test "a release that is not there is said to be so" {
	run -3 "$WHEELSMITH" --store "$BATS_TEST_TMPDIR/store" internal exports 2.99.0 "$BATS_TEST_TMPDIR"
	[[ "$output" == *"no index has torch '2.99.0'"* ]]
}
