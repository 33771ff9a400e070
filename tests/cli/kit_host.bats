#!/usr/bin/env bats
# The CUDA toolkits that are installed here; where none is, an archive kit stands for one.
# labels: cuda network
# timeout: 600

load helpers
load kit_helpers

setup_file() {
	run kit host "$BATS_FILE_TMPDIR/store"
	if [ -z "$(field path)" ]; then
		run -0 kit archive "$BATS_FILE_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-13.0.json"
		CUDA_HOME=$(field path)
		export CUDA_HOME
	fi
}

@test "a complete toolkit names the folders that its headers come from" {
	run -0 kit host "$BATS_TEST_TMPDIR/store"
	[ -n "$(field path)" ]
	mapfile -t folders < <(field include)
	default=$(readlink -f /usr/bin/g++)
	newest=$(field path | head -1)
	headers_of "$newest" "${default##*-}" "$BATS_TEST_TMPDIR" "${folders[@]}"
	echo "# $(field name | head -1): $(field ms | head -1) ms" >&3
}

@test "its fingerprint is remembered, and the second time is quick" {
	run kit host "$BATS_TEST_TMPDIR/store"
	first=$(field fingerprint)
	[ -n "$first" ]
	run kit host "$BATS_TEST_TMPDIR/store"
	[ "$(field fingerprint)" = "$first" ]
	echo "# again: $(field ms | head -1) ms" >&3
}
