#!/usr/bin/env bats
# The long proof of verify: its verdicts on real wheels in real torches equal the results of dlopen.
# labels: network real
# timeout: 14400

@test "real wheels and labels that lie: zero wrong" {
	python3 "$WS_ROOT/tests/real/verify_truth.py" "$WHEELSMITH" \
		"${WS_TRUTH_FOLDER:-${XDG_CACHE_HOME:-$HOME/.cache}/wheelsmith-truth}" >&3
}
