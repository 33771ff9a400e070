#!/usr/bin/env bats
# Built again after an edit is what a fresh store gives: 20,000 layouts of headers, by fixed seeds.
# labels: real
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
