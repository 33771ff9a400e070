#!/usr/bin/env bats
# --here and its like: the torch of python3 and the GPU of the host, without a matrix.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
	PATH="$PWD/bin:$PATH"
}

# A GPU for nvidia-smi to tell of.
gpu() { # ARCH
	cat > bin/nvidia-smi <<- END
		#!/bin/sh
		case \$1 in *gpu=*) echo "0, NVIDIA X, $1, 23028 MiB, 550.1" ;; esac
	END
	chmod +x bin/nvidia-smi
}

@test "the architecture is the GPU's" {
	gpu 8.6
	run -0 "$WHEELSMITH" plan --json --torch 2.11.0 causal-conv1d==1.5.3.post1
	[ "$(jq -r '.cells[0].arch' <<< "$output")" = 8.6 ]
	run -0 "$WHEELSMITH" plan --json --here --torch 2.11.0 causal-conv1d==1.5.3.post1
	[ "$(jq -r '.cells[0].arch' <<< "$output")" = 8.6 ]
}

@test "two GPUs are one set, whichever the driver names first" {
	gpu 9.0
	sed -i 's/ echo .*;;/ printf "%d, NVIDIA X, %s, 23028 MiB, 550.1\\n" 0 9.0 1 8.6 2 9.0 ;;/' bin/nvidia-smi
	run -0 "$WHEELSMITH" plan --json --torch 2.11.0 causal-conv1d==1.5.3.post1
	[ "$(jq -r '.cells[0].arch' <<< "$output")" = "8.6;9.0" ]
	[[ "$(jq -r '.cells[0].cell' <<< "$output")" == */sm86+90 ]]
}

@test "without a GPU the architecture has to be named" {
	printf '#!/bin/sh\nexit 9\n' > bin/nvidia-smi
	chmod +x bin/nvidia-smi
	run -3 "$WHEELSMITH" plan --here causal-conv1d==1.5.3.post1
	[[ $output == "error: this host has no GPU to take the architecture of"* ]]
	run -0 "$WHEELSMITH" plan --here --arch hopper --torch 2.11.0 causal-conv1d==1.5.3.post1
}

@test "a Python without a torch has nothing to build for" {
	gpu 9.0
	python3 -m venv --without-pip venv
	PATH="$PWD/venv/bin:$PATH" run -0 "$WHEELSMITH" plan --here --json causal-conv1d==1.5.3.post1
	[ "$(jq -r '.cells[0].rule' <<< "$output")" = not-installed ]
}
