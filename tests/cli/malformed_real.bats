#!/usr/bin/env bats
# Malformed wheels given to pip and uv as well: the table of docs/malformed-wheels.md.
# labels: network real
# timeout: 1800

load helpers

@test "we take none, and nothing of ours is written outside" {
	python3 -m venv "$BATS_TEST_TMPDIR/venv"
	"$BATS_TEST_TMPDIR/venv/bin/pip" install -q pip==26.3 uv==0.13.9
	run -0 python3 "$WS_ROOT/tests/real/malformed.py" "$WHEELSMITH" "$BATS_TEST_TMPDIR/venv" "$BATS_TEST_TMPDIR/work"
	[[ "$output" == *"| **malformed** | | **0 of 180** |"* ]]
}
