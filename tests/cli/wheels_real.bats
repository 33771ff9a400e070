#!/usr/bin/env bats
# The long proof: wheels of real packages import in real torches, and hold what pip would have built.
# labels: network real
# timeout: 14400

@test "causal-conv1d and mamba-ssm import in torch 2.5.1 and 2.11.0, and are what pip wheel makes" {
	python3 "$WS_ROOT/tests/real/proof.py" "$WHEELSMITH" "$WS_BINARY_DIR/proof" >&3
}
