#!/usr/bin/env bats
# Built again after an edit is what a fresh store gives: 300 layouts of headers, by fixed seeds.
# timeout: 900

@test "300 layouts of headers are never stale" {
	WS_STALE_FIRST=1000 WS_STALE_COUNT=300 "$WS_BINARY_DIR/tests/test_compile_stale" 'random*'
}
