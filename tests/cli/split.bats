#!/usr/bin/env bats
# A .cu unit as nvcc's own commands: the same bytes as from one nvcc, and only what differs runs again.
# labels: cuda
# serial: its hard links change the ctime of the toolkit, which other builds watch
# timeout: 600

load splitting

@test "parts make the object that one nvcc makes" {
	build -0 -v
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
	build -0
	CELL=$(built '.cells[0].cell')
	same_as_whole
}

@test "another arch costs its own cicc and ptxas" {
	build -0
	matrix m.json '"arch": ["8.0;8.6"]'
	build -0 -v
	[[ "$(ran_parts)" == *"cicc compute_80;"*"ptxas sm_80;" ]]
	[[ "$(ran_parts)" != *"cicc compute_86;"* ]]
	[[ "$(ran_parts)" != *"ptxas sm_86;"* ]]
}

@test "an edit that the GPU's code does not see costs no cicc" {
	local src=recipes/tiny/src
	printf '#ifndef __CUDA_ARCH__\nstatic const int host_only = 1;\n#endif\n' > $src/kernel.h
	sed -i '1i#include "kernel.h"' $src/kernel.cu
	sed -i 's/float \*x) { add<<</float *x) { if (0) return; add<<</' $src/kernel.cu
	build -0
	sed -i 's/= 1/= 2/' $src/kernel.h
	build -0 -v
	# The images' file is made again: it was not kept.
	[ "$(ran_parts)" = "cudafe++;fatbinary;host;preprocess;preprocess compute_86;" ]
	same_as_whole
}

# A toolkit of links to the host's, and one tool of its own: the same version, other bytes.
other_tool() { # PATH
	cp -al "$TOOLKIT" toolkit
	rm "toolkit/$1"
	cp "$TOOLKIT/$1" "toolkit/$1"
	echo >> "toolkit/$1"
}

@test "another ptxas of the same version runs, and nothing else where it makes the same" {
	needs_host_toolkit
	TOOLKIT=$(readlink -f "$(host_toolkit)")
	build -0
	other_tool bin/ptxas
	CUDA_HOME=$PWD/toolkit build -0 -v
	[ "$(ran_parts)" = "ptxas sm_86;" ]
	rm -rf toolkit
	other_tool bin/nvlink
	CUDA_HOME=$PWD/toolkit build -0 -v
	[ -z "$(ran_parts)" ]
}

@test "device code that would have to be linked is refused by name" {
	recipe 'e["nvcc_flags"] = ["-rdc=true"]'
	build -3
	[[ "$stderr" == *"'-rdc=true' cannot be a flag"*"relocatable device code needs a device link, which is not supported"* ]]
}

@test "an error of one part names the unit, and its log is the unit's" {
	echo '__global__ void k() { asm("no such instruction;"); }' >> recipes/tiny/src/kernel.cu
	build -5
	[[ "$stderr" == *kernel.cu* ]]
	grep -r "Parsing error near 'instruction'" dist/logs
	[ "$(built '.failures | length')" -eq 1 ]
}

@test "a unit that one nvcc compiles says why" {
	needs clang++
	recipe 'r["known_bad"] = [{"when": {"cuda": "13.0"}, "gcc": gcc, "why": "a test"} for gcc in range(4, 30)]'
	build -0 -v
	[ "$(built '.undivided[] | .unit + ": " + .why')" = "kernel.cu: the host compiler is not gcc" ]
	[[ "$stderr" == *"; in one command: the host compiler is not gcc"* ]]
}

@test "the inputs that a command waited for, and the reason why it ran" {
	build -0 --why kernel.cu
	[[ "$stderr" == *"ptxas kernel.cu (sm_86)  began at "*"waited for cicc kernel.cu (compute_86), then "*" for a slot"* ]]
	sed -i 's/+= 1/+= 2/' recipes/tiny/src/kernel.cu
	build --why tiny._C.so
	[[ "$stderr" == *"link tiny._C.so  began at "*"waited for compile kernel.cu, then "*" for a slot"* ]]
	sed -i 's/(42)/(43)/' recipes/tiny/src/module.cpp
	build --why module.cpp
	[[ "$stderr" == *"compile module.cpp  began at "*"  ran because "* ]]
	build --why module.cpp
	[[ "$stderr" == *"no command ran for 'module.cpp'"* ]]
}

@test "of what was never measured the parts of a long kernel come before a short file" {
	recipe 'r["estimates"] = [{"match": "*.cu", "cpu_s": 100}, {"match": "*.cpp", "cpu_s": 20}]'
	build -0 -j 1 --json
	local started
	started=$(sed 's/^[^{]*//' <<< "$output" | jq -r 'select(.event == "action-started") | .stage' | tr '\n' ' ')
	[[ "$started" == *" cicc ptxas compile "* ]]
}
