#!/usr/bin/env bats
# Built again after an edit is what a fresh store gives: 20,000 layouts of headers, by fixed seeds. And
# what the sources of the shipped recipes ask for can all be listed.
# labels: network real
# timeout: 7200

@test "20,000 layouts of headers are never stale" {
	for part in 0 1 2 3; do
		WS_STALE_FIRST=$((10000 + part * 5000)) WS_STALE_COUNT=5000 \
			"$WS_BINARY_DIR/tests/test_compile_stale" 'random*' > "$BATS_TEST_TMPDIR/$part" 2>&1 &
		pids[part]=$!
	done
	for part in 0 1 2 3; do
		wait "${pids[part]}" || { cat "$BATS_TEST_TMPDIR/$part"; false; }
	done
}

@test "no unit of a shipped recipe is opaque" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	local package
	for package in causal-conv1d==1.5.3.post1 flash-attn==2.6.1 flash-attn==2.8.3 mamba-ssm==2.2.6.post3; do
		"$WHEELSMITH" fetch "$package" --torch 2.11.0 --python 3.11 --arch 9.0 --cuda 13.0
	done
	run "$WS_BINARY_DIR/tests/asks_probe" "$WHEELSMITH_STORE"/trees/src-{causal,mamba}*/csrc \
		"$WHEELSMITH_STORE"/trees/src-flash*/csrc/{flash_attn,cutlass/include}
	[[ "$output" =~ ^"files: "[0-9]+$ ]]
}
