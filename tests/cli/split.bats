#!/usr/bin/env bats
# A .cu unit as nvcc's own commands: the same bytes as from one nvcc, and only what differs runs again.
# labels: cuda
# timeout: 600

load splitting

@test "parts make the object that one nvcc makes" {
	build -v
	[ "$status" -eq 0 ]
	[ "$(ran_parts)" = "cicc compute_86;cudafe++;fatbinary;host;preprocess;preprocess compute_86;ptxas sm_86;" ]
	same_as_whole
	# It is one action for whoever asks, and found as one.
	[ "$(built .actions.ran)" -eq 5 ]
	rm -rf dist
	build -v
	[ "$(built .actions.ran)" -eq 0 ]
}

@test "two archs, and PTX, make the object that one nvcc makes" {
	matrix m.json '"arch": ["8.0;8.6+PTX"]'
	build
	[ "$status" -eq 0 ]
	CELL=$(built '.cells[0].cell')
	same_as_whole
}

@test "another arch costs its own cicc and ptxas" {
	build
	[ "$status" -eq 0 ]
	matrix m.json '"arch": ["8.0;8.6"]'
	build -v
	[ "$status" -eq 0 ]
	[[ "$(ran_parts)" == *"cicc compute_80;"*"ptxas sm_80;" ]]
	[[ "$(ran_parts)" != *"cicc compute_86;"* ]]
	[[ "$(ran_parts)" != *"ptxas sm_86;"* ]]
}

@test "an edit that the GPU's code does not see costs no cicc" {
	local src=recipes/tiny/src
	printf '#ifndef __CUDA_ARCH__\nstatic const int host_only = 1;\n#endif\n' > $src/kernel.h
	sed -i '1i#include "kernel.h"' $src/kernel.cu
	sed -i 's/float \*x) { add<<</float *x) { if (0) return; add<<</' $src/kernel.cu
	build
	[ "$status" -eq 0 ]
	sed -i 's/= 1/= 2/' $src/kernel.h
	build -v
	[ "$status" -eq 0 ]
	# The images' file is made again: it was not kept.
	[ "$(ran_parts)" = "cudafe++;fatbinary;host;preprocess;preprocess compute_86;" ]
	same_as_whole
}

@test "device code that would have to be linked is refused by name" {
	recipe 'e["nvcc_flags"] = ["-rdc=true"]'
	build
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"'-rdc=true' cannot be a flag"*"relocatable device code is not supported"* ]]
}

@test "an error of one part names the unit, and its log is the unit's" {
	echo '__global__ void k() { asm("no such instruction;"); }' >> recipes/tiny/src/kernel.cu
	build
	[ "$status" -eq 5 ]
	[[ "$stderr" == *kernel.cu* ]]
	grep -r "Parsing error near 'instruction'" dist/logs
	[ "$(built '.failures | length')" -eq 1 ]
}
