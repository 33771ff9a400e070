#!/usr/bin/env bats
# A wheel for aarch64, made on x86-64 of a real package, is imported beside torch's own aarch64 wheel by
# Debian's arm64 Python under qemu-user.
# labels: network real
# timeout: 7200

bats_require_minimum_version 1.5.0
load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

# Debian 12's arm64 Python 3.11 with what it needs, unpacked.
arm_root() {
	(cd "$WS_ROOT/tools" && python3 - "$1" <<- 'END'
		import floors, pathlib, sys
		floors.PACKAGES = ("libc6", "libstdc++6", "libgcc-s1", "libexpat1", "zlib1g", "libffi8", "libbz2-1.0", "liblzma5",
		                   "libssl3", "libuuid1", "libcrypt1", "libpython3.11-minimal", "libpython3.11-stdlib", "python3.11-minimal")
		floors.unpack("bookworm", "arm64", pathlib.Path(sys.argv[1]))
	END
	)
}

@test "causal-conv1d for aarch64 is imported beside torch's aarch64 wheel" {
	needs aarch64-linux-gnu-g++-12 qemu-aarch64-static
	local platforms=() i
	sed 's/"3.12"/"3.11"/; s/"x86_64", //; s/, "mamba-ssm==[^"]*"//' "$WS_ROOT/matrix/grace.json" > m.json
	"$WHEELSMITH" build --matrix m.json
	[ "$(find dist -name '*aarch64.whl' | wc -l)" -eq 1 ]
	for i in $(seq 17 28); do platforms+=(--platform "manylinux_2_${i}_aarch64"); done
	python3 -m pip install -q --no-cache-dir --no-compile --target site "${platforms[@]}" --python-version 3.11 \
		--only-binary=:all: torch==2.11.0
	python3 -m pip install -q --no-deps --no-compile --target site "${platforms[@]}" --python-version 3.11 \
		--only-binary=:all: dist/*.whl
	mkdir root
	arm_root "$PWD/root"
	run -0 qemu-aarch64-static -L root -E PYTHONHOME="$PWD/root/usr" -E PYTHONPATH="$PWD/site" \
		-E LD_LIBRARY_PATH="$PWD/root/usr/lib/aarch64-linux-gnu:$PWD/root/lib/aarch64-linux-gnu" root/usr/bin/python3.11 -c \
		'import platform, torch, causal_conv1d_cuda as c; print(platform.machine(), c.causal_conv1d_fwd.__doc__)'
	echo "$output"
	[[ $output == *"aarch64 causal_conv1d_fwd(arg0: torch.Tensor"* ]]
}
