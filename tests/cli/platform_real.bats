#!/usr/bin/env bats
# A wheel for aarch64, made on x86-64 of a real package, is imported beside torch's own aarch64 wheel by
# Debian's arm64 Python under qemu-user.
# labels: network real
# timeout: 7200

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

# Debian 12's arm64 Python 3.11 with what it needs, unpacked; run with words: it runs under qemu-user.
arm_python() { # [WORDS]
	local root=$BATS_TEST_TMPDIR/root
	local libraries=$root/usr/lib/aarch64-linux-gnu
	if [ $# -eq 0 ]; then
		"$WS_ROOT/tools/sysroot.py" bookworm arm64 "$root" python3.11-minimal libpython3.11-stdlib libstdc++6 libgomp1
	else
		qemu-aarch64-static -L "$root" -E PYTHONHOME="$root/usr" -E PYTHONPATH="$PWD/site" \
			-E LD_LIBRARY_PATH="$libraries" "$root/usr/bin/python3.11" "$@"
	fi
}

# For aarch64 hosts with glibc 2.28; torch's own dependencies have older tags too.
arm_pip() { # COMMAND WORDS
	local platforms=() one command=$1
	shift
	for one in ${PLATFORMS:-manylinux_2_28}; do platforms+=(--platform "${one}_aarch64"); done
	python3 -m pip "$command" -q --no-cache-dir "${platforms[@]}" --python-version 3.11 --only-binary=:all: "$@"
}

serve() { # FOLDER
	local word port
	coproc python3 "$WS_ROOT/tests/support/index_server.py" "$1" "$BATS_TEST_TMPDIR/log" html
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	INDEX=http://127.0.0.1:$port
}

teardown() {
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" || true
}

# The Python is 3.11, which Debian has for arm64; kernels are those of 3.12.
@test "wheels of two packages for two machines are built, published, taken by pip and imported beside torch" {
	needs aarch64-linux-gnu-g++-12 qemu-aarch64-static
	sed 's/"3.12"/"3.11"/' "$WS_ROOT/matrix/grace.json" > m.json
	"$WHEELSMITH" build --matrix m.json
	[ "$(find dist -name '*_aarch64.whl' | wc -l)" -eq 2 ]
	[ "$(find dist -name '*_x86_64.whl' | wc -l)" -eq 2 ]
	run -0 "$WHEELSMITH" verify dist/*.whl --torch 2.11.0 --arch 9.0
	"$WHEELSMITH" publish dist --to index
	serve index
	arm_pip download --no-deps -d taken --index-url "$INDEX/cu130-torch2.11-sm90/simple/" causal-conv1d mamba-ssm
	[ "$(find taken -name '*_aarch64.whl' | wc -l)" -eq 2 ]
	for wheel in taken/*.whl; do
		cmp "$wheel" "dist/${wheel##*/}"
	done
	PLATFORMS="manylinux2014 $(printf 'manylinux_2_%d ' $(seq 17 28))" \
		arm_pip install --no-compile --target site torch==2.11.0 einops
	arm_pip install --no-compile --no-deps --target site taken/*.whl
	arm_python
	run -0 arm_python -c 'import platform, torch, selective_scan_cuda, causal_conv1d.cpp_functions
print(platform.machine(), torch.ops.DaoAILab._causal_conv1d_fwd_cpp.default._schema)
print(selective_scan_cuda.fwd.__doc__)'
	[[ $output == *"aarch64 DaoAILab::_causal_conv1d_fwd_cpp(Tensor x, Tensor weight"* ]]
	[[ $output == *"fwd(arg0: torch.Tensor"* ]]
}

# Debian 11's Python 3.9, libc and libstdc++, unpacked; run with words: under its own loader.
old_python() { # [WORDS]
	local root=$BATS_TEST_TMPDIR/old
	if [ $# -eq 0 ]; then
		"$WS_ROOT/tools/sysroot.py" bullseye amd64 "$root" python3.9-minimal libpython3.9-stdlib libstdc++6 libgomp1
	else
		PYTHONHOME=$root/usr PYTHONPATH=$PWD/site "$root/lib64/ld-linux-x86-64.so.2" \
			--library-path "$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/python3.9" "$@"
	fi
}

@test "a wheel made here is imported beside torch on a system with glibc 2.31, and one for this host is not" {
	local pip=(python3 -m pip install -q --no-cache-dir --no-compile --target site --python-version 3.9 --only-binary=:all:) one
	for one in manylinux1 manylinux2014 manylinux_2_17 manylinux_2_27 manylinux_2_28; do
		pip+=(--platform "${one}_x86_64")
	done
	"$WHEELSMITH" build causal-conv1d --torch 2.6.0 --python 3.9 --arch 8.0
	"$WHEELSMITH" build causal-conv1d --torch 2.6.0 --python 3.9 --arch 8.0 --glibc host -o host
	"${pip[@]}" torch==2.6.0 einops
	"${pip[@]}" --no-deps dist/*.whl
	old_python
	local ask='import os, torch, causal_conv1d_cuda
print(os.confstr("CS_GNU_LIBC_VERSION"), causal_conv1d_cuda.causal_conv1d_fwd.__doc__)'
	run -0 old_python -W ignore -c "$ask"
	[[ $output == *"glibc 2.31 causal_conv1d_fwd(arg0: torch.Tensor"* ]]
	unzip -qo host/*.whl '*.so' -d site
	run -1 old_python -W ignore -c "$ask"
	[[ $output == *"version \`GLIBC"*"not found"* ]]
}
