#!/usr/bin/env bats
# Real torch libraries and real wheels that were built for one torch, against the shipped lists.
# labels: network
# timeout: 300

load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 \
		--platform manylinux1_x86_64 torchvision==0.20.1
	python3 -m zipfile -e torchvision-*.whl .
}

probe() {
	"$WS_BINARY_DIR/tests/elf_probe" "$@"
}

take() { # WHEEL MEMBER
	run probe take "$1" "$2" "$BATS_TEST_TMPDIR/x.so"
	echo "$output"
	[ "$status" -eq 0 ]
	run -0 probe abi "$BATS_TEST_TMPDIR/x.so"
}

judge() { # TORCH
	run probe judge "$WS_ROOT/matrix/facts/exports/torch-$1.zst" cp311 \
		"$BATS_FILE_TMPDIR/torchvision/_C.so" "$BATS_FILE_TMPDIR"/torchvision.libs/*
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "libc10 of torch 2.5.1, taken by range, is cxx11abi 0" {
	take torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl torch/lib/libc10.so
	[ "${lines[0]}" = "c10 0" ]
}

@test "libc10 of torch 2.11.0 is cxx11abi 1" {
	take torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl torch/lib/libc10.so
	[ "${lines[0]}" = "c10 1" ]
}

@test "libtorch_python of torch 2.5.1 for Python 3.12 tells pybind11's id" {
	take torch-2.5.1-cp312-cp312-manylinux1_x86_64.whl torch/lib/libtorch_python.so
	[ "${lines[2]}" = "internals __pybind11_internals_v5_gcc_libstdcpp_cxxabi1011__" ]
}

@test "torchvision 0.20.1 finds all that it needs in torch 2.5.1" {
	judge 2.5.1
	[ "${lines[0]}" = "ok _C finds all of its 273 symbols" ]
	[[ "$output" == *"ok glibc 2.14 or newer: manylinux_2_17_x86_64"* ]]
	[[ "$output" == *"archs 5.0+PTX;6.0;7.0;7.5;8.0;8.6;9.0"* ]]
}

@test "it lacks two names in torch 2.6.0" {
	judge 2.6.0
	[ "${lines[0]}" = "fails _C needs 2 symbols that torch 2.6.0 does not export" ]
	[ "${lines[1]}" = "  at::Context::alertNotDeterministic(c10::string_view const&)" ]
	[ "${lines[2]}" = "  torch::autograd::VariableInfo::VariableInfo(at::Tensor const&)" ]
	[ "${lines[3]}" = "  built for another torch" ]
}

@test "in torch 2.7.1 the strings are the other ones" {
	judge 2.7.1
	[[ "${lines[0]}" == "fails _C needs "*" symbols that torch 2.7.1 does not export" ]]
	[[ "$output" == *"  built for cxx11abi 0; this torch is cxx11abi 1"* ]]
}

@test "verify takes torchvision 0.20.1 for torch 2.5.1 and refuses 0.21.0, naming the symbol" {
	cd "$BATS_FILE_TMPDIR"
	python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 \
		--platform manylinux1_x86_64 torchvision==0.21.0
	export WHEELSMITH_STORE="$BATS_TEST_TMPDIR/store" COLUMNS=100
	run -0 "$WHEELSMITH" verify torchvision-0.20.1-*.whl --torch 2.5.1
	[[ "${lines[0]}" == "loads "* ]]
	run -1 "$WHEELSMITH" verify torchvision-0.21.0-*.whl --torch 2.5.1
	[[ "${lines[0]}" == "fails "* ]]
	[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"torchvision/_C.so needs "*" that torch 2.5.1 does not export "*"::"* ]]
	# The table that others keep by hand.
	run -0 "$WHEELSMITH" verify torchvision-0.20.1-*.whl --torch all
	[ "$(grep -c ' loads$' <<< "$output")" -eq 1 ]
	grep -q '^2.5.1 *loads$' <<< "$output"
}
