#!/usr/bin/env bats
# The shipped recipes are what the source distributions say.
# labels: network
# timeout: 900

load helpers

setup_file() {
	export PYTHONDONTWRITEBYTECODE=1
}

@test "each recipe agrees with its sdist" {
	run -0 python3 "$WS_ROOT/tests/support/check_recipes.py" "$WS_ROOT" "$BATS_FILE_TMPDIR"
	count=$(grep -l '"sdist"' "$WS_ROOT"/recipes/*/*.json | wc -l)
	[ "$count" -ge 30 ]
	[ "$output" = "$count recipes, 0 differences" ]
}

@test "a wrong count is found" {
	mkdir -p "$BATS_TEST_TMPDIR/recipes/flash-attn"
	sed '/flash_bwd/s/"count": 24/"count": 25/' "$WS_ROOT/recipes/flash-attn/2.8.3.json" \
		> "$BATS_TEST_TMPDIR/recipes/flash-attn/2.8.3.json"
	run -1 python3 "$WS_ROOT/tests/support/check_recipes.py" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR"
	[[ "$output" == *"csrc/flash_attn/src/flash_bwd_*.cu: 25, the sdist has 24"* ]]
}

@test "a unit that is left out is found" {
	mkdir -p "$BATS_TEST_TMPDIR/recipes/causal-conv1d"
	sed 's/causal_conv1d_bwd.cu",$/causal_conv1d_fwd.cu",/;/causal_conv1d_update.cu"$/d' \
		"$WS_ROOT/recipes/causal-conv1d/1.7.0.json" > "$BATS_TEST_TMPDIR/recipes/causal-conv1d/1.7.0.json"
	run -1 python3 "$WS_ROOT/tests/support/check_recipes.py" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR"
	[[ "$output" == *"csrc/causal_conv1d_bwd.cu: 0, setup.py has 1"* ]]
	[[ "$output" == *"csrc/causal_conv1d_fwd.cu: 2, setup.py has 1"* ]]
	[[ "$output" == *"csrc/causal_conv1d_update.cu: 0, setup.py has 1"* ]]
}

@test "a flag that setup.py does not pass is found" {
	mkdir -p "$BATS_TEST_TMPDIR/recipes/torch-spline-conv"
	sed '/nvcc_flags/s/"-O2"/"-O1"/' "$WS_ROOT/recipes/torch-spline-conv/1.2.2.json" \
		> "$BATS_TEST_TMPDIR/recipes/torch-spline-conv/1.2.2.json"
	run -1 python3 "$WS_ROOT/tests/support/check_recipes.py" "$BATS_TEST_TMPDIR" "$BATS_FILE_TMPDIR"
	[[ "$output" == *"nvcc_flags of torch_spline_conv._basis_cuda: -O1 -O2"* ]]
}
