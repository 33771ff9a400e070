#!/usr/bin/env bats
# The archive kit of CUDA 12.4, from the index and the Debian mirror of this host, and the same by a
# manifest like NVIDIA's on loopback. Both compile and link for real.
# labels: network
# timeout: 900

load kit_helpers

setup_file() {
	export STORE=$BATS_FILE_TMPDIR/store
	kit archive "$STORE" "$WS_ROOT/matrix/kits/cuda-12.4.json" > "$BATS_FILE_TMPDIR/first" 2>&1 ||
		cat "$BATS_FILE_TMPDIR/first" >&3
}

@test "12.4 is assembled: 1654 files, as the definition was proved" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	[ "$(field release)" = 12.4.131 ]
	[ "$(field debian)" = mirror ]
	[ "$(field include)" = cuda/include ]
	[ "$(field gcc_max)" = 13 ]
	[ "$(find "$(field path)" -type f | wc -l)" -eq 1654 ]
	[ "$(find "$(field path)" -type f -perm 0555 | wc -l)" -eq 11 ]
	[ "$(find "$(field path)" -type f -not -perm 0444 -not -perm 0555 | wc -l)" -eq 0 ]
	[ -z "$(ls -A "$STORE/partial")" ]
	small_enough
	echo "# 12.4: $(($(field wire) / 1000000)) MB, $(field ms) ms, $(($(field rss_kib) / 1024)) MiB" >&3
}

@test "from the store it needs no network" {
	OFFLINE=1 run kit archive "$STORE" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$status" -eq 0 ]
	[ "$(field wire)" = 0 ]
	echo "# again: $(field ms) ms" >&3
}

@test "a second store gets the same tree" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	tree=$(field tree)
	mkdir -p "$BATS_TEST_TMPDIR/other/cas"
	cp -r "$STORE/cas" "$BATS_TEST_TMPDIR/other/"
	run kit archive "$BATS_TEST_TMPDIR/other" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$(field tree)" = "$tree" ]
}

@test "it compiles and links with nothing of another CUDA" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
}

@test "the same by NVIDIA's manifest, archives by variant" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	fingerprint=$(field fingerprint)
	python3 "$WS_ROOT/tests/support/repack_redist.py" "$(field path)" "$BATS_TEST_TMPDIR/served/redist" 12.4.1 12.4.131 12.4
	serve "$BATS_TEST_TMPDIR/served"
	REDIST_URL=$SERVED/redist run kit redist "$BATS_TEST_TMPDIR/store" 12.4
	[ "$status" -eq 0 ]
	[ "$(field release)" = 12.4.131 ]
	[ "$(field soname)" = libcudart.so.12 ]
	[ "$(field fingerprint)" = "$fingerprint" ]
	small_enough
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
	echo "# redist: $(($(field wire) / 1000000)) MB, $(field ms) ms" >&3
}

@test "without a Debian mirror NVIDIA's compiler takes the place of Debian's" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	python3 "$WS_ROOT/tests/support/repack_redist.py" "$(field path)" "$BATS_TEST_TMPDIR/served/redist" 12.4.1 12.4.131
	serve "$BATS_TEST_TMPDIR/served"
	DEBIAN_MIRROR='' REDIST_URL=$SERVED/redist run kit archive "$BATS_TEST_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$status" -eq 0 ]
	[ "$(field debian)" = redist ]
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
	DEBIAN_MIRROR='' REDIST_URL=$SERVED/nothing run kit archive "$BATS_TEST_TMPDIR/none" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$status" -eq 4 ]
	[[ "$output" == *"--debian-mirror URL"* ]]
}
