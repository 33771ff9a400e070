#!/usr/bin/env bats
# The index that this host is configured for, with its real pages and files.
# labels: network
# timeout: 300

load helpers

probe() {
	"$WS_BINARY_DIR/tests/net_probe" "$@"
}

field() {
	sed -n "s/^$1: //p" <<< "$output"
}

@test "torch 2.5.1 has its five Linux wheels, each with a digest" {
	run -0 probe wheels torch 2.5.1
	for python in 39 310 311 312 313; do
		grep -Eq "^torch-2.5.1-cp$python-cp$python-manylinux1_x86_64.whl [0-9a-f]{64} " <<< "$output"
	done
	[ "$(field files)" -gt 500 ]
	echo "# $(grep -c '^torch-2' <<< "$output") wheels of 2.5.1, $(field files) files" >&3
}

@test "one range request returns the last 2 MiB of its wheel" {
	run -0 probe tail torch torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl 2097152
	[ "$(field size)" -eq 906474467 ]
	[ "$(field tail)" -eq 2097152 ]
	[ "$(field read)" -eq 2097182 ]
	[ "$(field wire)" -eq 2097182 ]
	[ "$(field requests)" -eq 2 ]
	[ "$(field end)" = zip ]
	echo "# $(field wire) bytes in $(field requests) requests, $(field ms) ms" >&3
}

@test "a wheel of 40 MB is downloaded, resumed and proved" {
	wheel=nvidia_cuda_nvcc_cu12-12.9.86-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl
	to=$BATS_TEST_TMPDIR/wheel
	run -0 probe get nvidia-cuda-nvcc-cu12 "$wheel" "$to"
	[ "$(field sha256)" = "$(sha256sum "$to" | cut -d' ' -f1)" ]
	[ "$(field wire)" -eq "$(stat -c %s "$to")" ]
	echo "# $(field wire) bytes, $(field ms) ms" >&3
	head -c 30000000 "$to" > "$to.partial"
	size=$(stat -c %s "$to")
	rm "$to"
	run -0 probe get nvidia-cuda-nvcc-cu12 "$wheel" "$to"
	[ "$(field wire)" -eq $((size - 30000000)) ]
}

@test "a package that is not there is named" {
	run -0 probe wheels no-such-package-of-wheelsmith 1.0
	[ "$(field files)" -eq 0 ]
}

@test "another index can be named" {
	WHEELSMITH_INDEX=http://127.0.0.1:9/simple run -4 probe wheels torch 2.5.1
	[[ "$output" == *"cannot fetch 'http://127.0.0.1:9/simple/torch/'"* ]]
}
