#!/usr/bin/env bats
# --here and related options: the torch of python3 and the GPU of the host, without a matrix.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
	PATH="$PWD/bin:$PATH"
}

# A GPU for nvidia-smi to report.
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

# A matrix of named versions with one extra point.
extra() { # POINT
	cat > m.json <<- END
		{"packages": ["causal-conv1d==1.5.3.post1"], "torch": ["2.11.0"], "python": ["3.11"], "arch": ["8.6"],
		 "include": [$1]}
	END
}

# The plan of the extra point.
planned() { # KEY...
	run -0 --separate-stderr "$WHEELSMITH" plan --json --matrix m.json
	local key
	for key; do
		jq -r ".cells[1].$key" <<< "$output"
	done | xargs
}

@test "an extra point asks this host what a value of an axis would" {
	gpu 7.5
	local here
	here=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	extra '{"torch": "2.6.0+cu126", "arch": "9.0"}'
	[ "$(planned python arch)" = "$here 9.0" ]
	extra '{"torch": "2.6.0", "python": "3.12"}'
	[ "$(planned python arch)" = "3.12 7.5" ]
	python3 -m venv --without-pip venv
	extra '{"torch": "2.6.0", "python": "./venv/bin/python3"}'
	[ "$(planned python arch)" = "$here 7.5" ]
	python3 "$WS_ROOT/tests/support/make_torch.py" . version=2.6.0
	python3 -m zipfile -e torch-2.6.0-*.whl venv/lib/python3*/site-packages
	extra '{"torch": "installed", "python": "./venv/bin/python3"}'
	[ "$(planned torch python arch)" = "2.6.0 $here 7.5" ]
	# values of an axis are not searched for the extra point.
	sed -i 's/3\.11/3.19/' m.json
	[ "$(planned torch)" = 2.6.0 ]
}

@test "an extra point that cannot be met is reported at its place" {
	gpu 7.5
	extra '{"torch": "2.51.0", "arch": "9.0"}'
	run -3 "$WHEELSMITH" plan --matrix m.json
	[[ $output == "m.json:2:24: error: torch '2.51.0' is unknown, and was not looked up"* ]]
	extra '{"torch": "2.6.0", "python": "./none"}'
	run -3 "$WHEELSMITH" plan --matrix m.json
	[[ $output == "m.json:2:43: error: "*"./none"* ]]
}
