#!/usr/bin/env bats
# Long proofs of kits: every definition, export lists, the real package of Debian.
# labels: network real
# timeout: 3600

load helpers
load kit_helpers

# name, nvcc, files, soname, g++ as the definitions were proved to have
all() {
	cat <<-'KITS'
		11.8 11.8.89 1330 libcudart.so.11.0 11
		12.4 12.4.131 1654 libcudart.so.12 12
		13.0 13.0.88 1858 libcudart.so.13 12
		13.1 13.1.115 2013 libcudart.so.13 12
		13.2 13.2.86 2080 libcudart.so.13 12
		13.3 13.3.73 2161 libcudart.so.13 12
		13.4 13.4.92 2439 libcudart.so.13 12
		13.5 13.5.37 2507 libcudart.so.13 12
	KITS
}

@test "all eight kits are assembled, compile and link" {
	while read -r cuda nvcc files soname gcc; do
		echo "# cuda $cuda" >&3
		run -0 kit archive "$BATS_TEST_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-$cuda.json"
		[ "$(field release)" = "$nvcc" ]
		[ "$(find "$(field path)" -type f | wc -l)" -eq "$files" ]
		[ "$(field soname)" = "$soname" ]
		small_enough
		mapfile -t folders < <(field include)
		echo "#   $(($(field wire) / 1000000)) MB, $(field ms) ms, $(($(field rss_kib) / 1024)) MiB" >&3
		compiles "$(field path)" "$gcc" "$BATS_TEST_TMPDIR" "${folders[@]}"
		links "$soname" "$gcc" "$BATS_TEST_TMPDIR"
	done < <(all)
}

@test "13.3 by a manifest of split components" {
	run -0 kit archive "$BATS_TEST_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-13.3.json"
	fingerprint=$(field fingerprint)
	python3 "$WS_ROOT/tests/support/repack_redist.py" "$(field path)" "$BATS_TEST_TMPDIR/served/redist" 13.3.1 13.3.73 13
	serve "$BATS_TEST_TMPDIR/served"
	REDIST_URL=$SERVED/redist run -0 kit redist "$BATS_TEST_TMPDIR/other" 13.3
	[ "$(field fingerprint)" = "$fingerprint" ]
	[ "$(field include | tail -1)" = cuda/include/cccl ]
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include cuda/include/cccl
	links libcudart.so.13 12 "$BATS_TEST_TMPDIR"
}

@test "the export list of 2.11.0 is the one that ships" {
	run -0 kit exports "$BATS_TEST_TMPDIR/store" 2.11.0 "$BATS_TEST_TMPDIR/list.zst"
	cmp "$BATS_TEST_TMPDIR/list.zst" "$WS_ROOT/matrix/facts/exports/torch-2.11.0.zst"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/store/partial")" ]
	echo "# $(($(field wire) / 1000000)) MB, $(field ms) ms, $(($(field rss_kib) / 1024)) MiB" >&3
}

# The tools of the real nvidia-cuda-toolkit 11.8; of the packages it needs (nvidia-cuda-dev has 774 MB)
# only the names, from the mirror's list of contents, and three headers.
@test "Debian's own layout is recognised" {
	run -0 kit archive "$BATS_TEST_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-11.8.json"
	headers=$(field path)/include root=$BATS_TEST_TMPDIR/root
	deb=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["archives"][0]["sha256"])' \
		"$WS_ROOT/matrix/kits/cuda-11.8.json")
	mkdir -p "$root"
	dpkg-deb -x "$BATS_TEST_TMPDIR/store/cas/${deb:0:2}/$deb" "$root"
	ln -sf ../../../../etc/nvcc.profile "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile"
	mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/*.sources | head -1)
	python3 - "$mirror" "$root" <<-'PY'
		import gzip, os, sys, urllib.request
		url = sys.argv[1] + "/dists/bookworm/non-free/Contents-amd64.gz"
		names = gzip.decompress(urllib.request.urlopen(url).read()).decode().splitlines()
		for path, package in (line.rsplit(None, 1) for line in names):
		    if package.endswith("/nvidia-cuda-dev"):
		        full = os.path.join(sys.argv[2], path)
		        os.makedirs(os.path.dirname(full), exist_ok=True)
		        open(full, "a").close()
	PY
	cp "$headers/crt/host_config.h" "$root/usr/include/crt/host_config.h"
	cp "$headers/cuda_runtime_api.h" "$root/usr/include/cuda_runtime_api.h"
	runtime=$(field runtime)
	HOST_ROOT=$root CUDA_HOME='' PATH=/usr/bin:/bin run kit host "$BATS_TEST_TMPDIR/store"
	[[ "$output" == *"found: cuda-11.8 11.8.89 $root/usr/lib/nvidia-cuda-toolkit"* ]]
	echo "# without libthrust-dev and libcu++-dev: $(field missing | tr '\n' ',')" >&3
	[ "$(field missing)" = "$(printf 'CCCL (thrust/version.h)\nnv/target\nlibcudart.so')" ]
	mkdir -p "$root/usr/include/thrust" "$root/usr/include/nv"
	touch "$root/usr/include/thrust/version.h" "$root/usr/include/nv/target"
	cp "$runtime" "$root/usr/lib/x86_64-linux-gnu/" # libcudart11.0 is a package of its own
	HOST_ROOT=$root CUDA_HOME='' PATH=/usr/bin:/bin run -0 kit host "$BATS_TEST_TMPDIR/store"
	[ "$(field soname)" = libcudart.so.11.0 ]
	[ "$(field gcc_max)" = 11 ]
	[ "$(field include)" = "" ]
}
