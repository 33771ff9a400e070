#!/usr/bin/env bats
# The CUDA toolkits that are installed here.
# labels: cuda
# timeout: 300

load helpers
load kit_helpers

@test "a complete toolkit names the folders that its headers come from" {
	run kit host "$BATS_TEST_TMPDIR/store"
	[ "$status" -eq 0 ]
	[ -n "$(field path)" ] || cannot_run "no complete toolkit"
	mapfile -t folders < <(field include)
	default=$(readlink -f /usr/bin/g++)
	newest=$(field path | head -1)
	headers_of "$newest" "${default##*-}" "$BATS_TEST_TMPDIR" "${folders[@]}"
	echo "# $(field name | head -1): $(field ms | head -1) ms" >&3
}

@test "its fingerprint is remembered, and the second time is quick" {
	run kit host "$BATS_TEST_TMPDIR/store"
	first=$(field fingerprint)
	[ -n "$first" ] || cannot_run "no complete toolkit"
	run kit host "$BATS_TEST_TMPDIR/store"
	[ "$(field fingerprint)" = "$first" ]
	echo "# again: $(field ms | head -1) ms" >&3
}
