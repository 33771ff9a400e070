#!/usr/bin/env bats
# The bundled kernels: both wheels, in real torch releases from the oldest to new ones, without a GPU.
# labels: network cuda real
# timeout: 5400

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
}

# One wheel into dist/, made in seconds.
one_wheel() {
	echo '{"packages": ["wheelsmith-kernels==0.3.0"], "cuda": ["13.0"], "python": ["3.11"], "arch": ["7.5"]}' > m.json
	"$WHEELSMITH" build --matrix m.json --kits host
}

@test "operators, fakes, gradients and refusals in torch 2.4.1, 2.5.1 and 2.15.0" {
	one_wheel
	for torch in 2.4.1 2.5.1 2.15.0; do
		python3 -m venv venv
		venv/bin/python3 -m pip install -q "torch==$torch" 'numpy<2.3' setuptools dist/*.whl
		run -0 venv/bin/python3 "$WS_ROOT/tests/support/kernels_in_torch.py"
		[[ "${lines[-1]}" == "torch $torch"* ]]
		rm -r venv
	done
}

@test "the library opens in every Python that is here, from 3.9 on" {
	one_wheel
	python3 -m zipfile -e dist/*.whl out
	local tried=0 python
	for python in python3.{9..15} python3.{13..15}t; do
		command -v "$python" > /dev/null && "$python" -c '' 2> /dev/null || continue
		PYTHONPATH=out "$python" -W error -c 'import wheelsmith_kernels, compileall
from wheelsmith_kernels._native import _open, library_path
assert _open(library_path()).wsk_version() == b"0.3.0"
assert compileall.compile_dir(wheelsmith_kernels.__path__[0], quiet=1, force=True)'
		tried=$((tried + 1))
	done
	[ "$tried" -ge 1 ]
}

@test "both wheels of matrix/kernels.json, and ptxas' table for every architecture of both CUDAs" {
	"$WHEELSMITH" build --matrix "$WS_ROOT/matrix/kernels.json"
	local wheels=(dist/*.whl) nvcc
	[ "${#wheels[@]}" -eq 2 ]
	[ "$(stat -c %s dist/*.whl | sort -n | tail -n 1)" -lt 60000000 ]
	[ "$(jq '[.cells[] | select(.wheel) | .cpu_ms] | max < 600000' dist/build.json)" = true ]
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
	python3 "$WS_ROOT/tests/support/kernel_resources.py" "$nvcc" "$WS_ROOT/kernels/resources.txt" 75 80 86 89 90 100 120
	nvcc=$(echo store/trees/cuda-12.4-*/bin/nvcc)
	python3 "$WS_ROOT/tests/support/kernel_resources.py" "$nvcc" "$WS_ROOT/kernels/resources.txt" 75 80 86 89 90
}

@test "mamba-ssm +any beside torch 2.5.1, with transformers 4.57.3 and 5.17.0" {
	one_wheel
	echo '{"packages": ["causal-conv1d==1.5.3.post1+any", "mamba-ssm==2.2.6.post3+any"], "cuda": ["13.0"], "python": ["3.11"], "arch": ["7.5"]}' > any.json
	"$WHEELSMITH" build --matrix any.json -o any
	[ -e any/mamba_ssm-2.2.6.post3+any-py3-none-any.whl ]
	python3 -m venv venv
	venv/bin/python3 -m pip install -q torch==2.5.1 'numpy<2.3' dist/*.whl any/*.whl
	for release in 4.57.3 5.17.0; do
		venv/bin/python3 -m pip install -q "transformers==$release"
		run -0 venv/bin/python3 "$WS_ROOT/tests/support/mamba_in_transformers.py"
		[[ "$output" == *"torch 2.5.1 transformers $release"* ]]
		[ "${lines[-1]}" = "selective_state_update wheelsmith_kernels._scan" ]
	done
}
