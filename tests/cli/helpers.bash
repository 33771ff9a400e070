# helpers.bash - what several files of this folder need: `load helpers`.
# shellcheck shell=bash disable=SC2154

bats_require_minimum_version 1.5.0

# A home, a store and a configuration of the test's own, and nothing of the caller's that steers us.
private_home() {
	export HOME="$BATS_TEST_TMPDIR/home" WHEELSMITH_STORE="$BATS_TEST_TMPDIR/store"
	mkdir -p "$HOME"
	unset XDG_CONFIG_HOME XDG_CACHE_HOME WHEELSMITH_INDEX COLUMNS
	unset CC CXX CUDAHOSTCXX CFLAGS NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN
	unset TORCH_CUDA_ARCH_LIST MAX_JOBS LIBRARY_PATH CPATH CUDA_HOME
}

# A test that cannot run here is skipped at a desk and fails in CI.
cannot_run() { # why
	if [ -n "${WS_CI:-}" ]; then
		echo "this test cannot run: $1" >&2
		return 1
	fi
	skip "$1"
}

# Programs that ./dev setup installs.
needs() { # program...
	local program
	for program; do
		command -v "$program" > /dev/null || cannot_run "needs $program (./dev setup)"
	done
}

# The folder of a CUDA 13.0 toolkit that is installed on this host; fails where there is none.
host_toolkit() {
	local folder
	for folder in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda-13.0 /usr/local/cuda; do
		if [ -x "$folder/bin/nvcc" ] && "$folder/bin/nvcc" --version | grep -q 'release 13\.0'; then
			echo "$folder"
			return
		fi
	done
	return 1
}

# For tests whose subject is the toolkit of the host.
needs_host_toolkit() {
	host_toolkit > /dev/null || cannot_run "needs a CUDA 13.0 toolkit on this host"
}

# Compares $output with golden/NAME.txt; with WS_UPDATE_GOLDEN=1 writes it there instead.
golden() { # name
	local file="$BATS_TEST_DIRNAME/golden/$1.txt"
	if [ "${WS_UPDATE_GOLDEN:-}" = 1 ]; then
		printf '%s\n' "$output" > "$file"
		return 0
	fi
	diff -u "$file" - <<< "$output"
}

# A port of this host that was free a moment ago.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
