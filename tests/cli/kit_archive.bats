#!/usr/bin/env bats
# The archive kit of CUDA 12.4, from the index and the Debian mirror of this host, and the same by a
# manifest like NVIDIA's on loopback, also by a command. They compile and link for real.
# labels: network
# timeout: 900

load helpers
load kit_helpers

setup_file() {
	export STORE=$BATS_FILE_TMPDIR/store
	kit archive "$STORE" "$WS_ROOT/matrix/kits/cuda-12.4.json" > "$BATS_FILE_TMPDIR/first" 2>&1 ||
		cat "$BATS_FILE_TMPDIR/first" >&3
}

@test "12.4 is assembled: 1654 files, as the definition was proved" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	[ "$(field release)" = 12.4.131 ]
	[ "$(field debian)" = mirror ]
	[ "$(field include)" = cuda/include ]
	[ "$(field gcc_max)" = 13 ]
	[ "$(find "$(field path)" -type f | wc -l)" -eq 1654 ]
	[ "$(find "$(field path)" -type f -perm 0555 | wc -l)" -eq 11 ]
	[ "$(find "$(field path)" -type f -not -perm 0444 -not -perm 0555 | wc -l)" -eq 0 ]
	[ -z "$(ls -A "$STORE/partial")" ]
	small_enough
	echo "# 12.4: $(($(field wire) / 1000000)) MB, $(field ms) ms, $(($(field rss_kib) / 1024)) MiB" >&3
}

@test "from the store it needs no network" {
	OFFLINE=1 run -0 kit archive "$STORE" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$(field wire)" = 0 ]
	echo "# again: $(field ms) ms" >&3
}

@test "a second store gets the same tree" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	tree=$(field tree)
	mkdir -p "$BATS_TEST_TMPDIR/other/cas"
	cp -r "$STORE/cas" "$BATS_TEST_TMPDIR/other/"
	run kit archive "$BATS_TEST_TMPDIR/other" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$(field tree)" = "$tree" ]
}

@test "It compiles and links without files of a different CUDA" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
}

@test "the same by NVIDIA's manifest, archives by variant" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	fingerprint=$(field fingerprint)
	python3 "$WS_ROOT/tests/support/repack_redist.py" "$(field path)" "$BATS_TEST_TMPDIR/served/redist" 12.4.1 12.4.131 12.4
	serve "$BATS_TEST_TMPDIR/served"
	REDIST_URL=$SERVED/redist run -0 kit redist "$BATS_TEST_TMPDIR/store" 12.4
	[ "$(field release)" = 12.4.131 ]
	[ "$(field soname)" = libcudart.so.12 ]
	[ "$(field fingerprint)" = "$fingerprint" ]
	small_enough
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
	echo "# redist: $(($(field wire) / 1000000)) MB, $(field ms) ms" >&3
}

# Packed once; each test serves links of its own to it.
serve_redist() { # kit
	local packed=$BATS_FILE_TMPDIR/packed
	[ -d "$packed" ] ||
		python3 "$WS_ROOT/tests/support/repack_redist.py" "$1" "$packed/redist" 12.4.1 12.4.131
	cp -al "$packed" "$BATS_TEST_TMPDIR/served"
	serve "$BATS_TEST_TMPDIR/served"
}

@test "without a Debian mirror NVIDIA's compiler takes the place of Debian's" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	serve_redist "$(field path)"
	DEBIAN_MIRROR='' REDIST_URL=$SERVED/redist run -0 kit archive "$BATS_TEST_TMPDIR/store" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[ "$(field debian)" = redist ]
	compiles "$(field path)" 12 "$BATS_TEST_TMPDIR" cuda/include
	links libcudart.so.12 12 "$BATS_TEST_TMPDIR"
	DEBIAN_MIRROR='' REDIST_URL=$SERVED/nothing run -4 kit archive "$BATS_TEST_TMPDIR/none" "$WS_ROOT/matrix/kits/cuda-12.4.json"
	[[ "$output" == *"(cure: debian-mirror"* ]]
}

# An installation that has no definition of CUDA 12.4, a package that needs no torch, and the manifest.
without_definition() {
	local there=$BATS_TEST_TMPDIR/there
	mkdir -p "$there/bin" "$there"/share/wheelsmith/{matrix,recipes} "$there/recipes/twice/src/twice" "$HOME/.config/wheelsmith"
	cp "$WHEELSMITH" "$there/bin/wheelsmith"
	cp -r "$WS_ROOT/matrix/facts" "$WS_ROOT/matrix/kits" "$there/share/wheelsmith/matrix/"
	cp -r "$WS_ROOT/floor" "$there/share/wheelsmith/"
	rm "$there/share/wheelsmith/matrix/kits/cuda-12.4.json"
	cd "$there"
	echo '{"name": "twice", "version": "1.0", "source": [{"folder": "src"}], "python": {"packages": ["twice"]},
		"extensions": [{"module": "twice._C", "binding": "c-abi", "sources": ["twice.cu"]}]}' > recipes/twice/1.0.json
	touch recipes/twice/src/twice/__init__.py
	echo '__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
		extern "C" void run(float *x) { twice<<<1, 32>>>(x); }' > recipes/twice/src/twice.cu
	echo '{"packages": ["twice==1.0"], "cuda": ["12.4"], "arch": ["8.6"], "recipes": "recipes"}' > m.json
	echo "{\"redist\": \"$SERVED/redist\"}" > "$HOME/.config/wheelsmith/config.json"
	PATH=$there/bin:$PATH
}

@test "a CUDA without a definition is planned, fetched, locked and built by NVIDIA's manifest" {
	output=$(cat "$BATS_FILE_TMPDIR/first")
	serve_redist "$(field path)"
	private_home
	without_definition
	run wheelsmith plan --matrix m.json --why '*'
	[[ "$output" == *"compiled with NVIDIA's redistributables"* ]]
	run wheelsmith plan --matrix m.json --kits host
	[[ "$output" == *"no CUDA 12.4 toolkit on this host"* ]]
	run -4 wheelsmith build --matrix m.json --kits archive --offline
	[[ "$output" == *"CUDA toolkits: 12.4"* ]]
	run -0 wheelsmith fetch --matrix m.json --kits archive
	[ "$(jq -r '.cuda[0] | .how, .name' m.lock.json | xargs)" = "redist cuda-12.4" ]
	[ "$(jq -r '.cuda[0].definition' m.lock.json)" = "$(sha256sum < "$BATS_TEST_TMPDIR/served/redist/redistrib_12.4.1.json" | cut -d' ' -f1)" ]
	run wheelsmith plan --matrix m.json --why '*'
	[[ "$output" == *"compiled with NVIDIA's redistributables, locked"* ]]
	cp "$WS_ROOT/matrix/kits/cuda-12.4.json" share/wheelsmith/matrix/kits/
	run wheelsmith plan --matrix m.json --why '*'
	[[ "$output" == *"compiled with NVIDIA's redistributables, locked"* ]]
	run -0 wheelsmith build --matrix m.json --offline --locked
	[ -e dist/twice-1.0+cu.12.sm.86-py3-none-*.whl ]
	# A manifest that is not the one that was locked.
	sed -i '$ s/$/ /' "$BATS_TEST_TMPDIR/served/redist/redistrib_12.4.1.json"
	rm -rf "$WHEELSMITH_STORE"
	run -4 wheelsmith fetch --matrix m.json
	[[ "$output" == *"redistrib_12.4.1.json is not the one that was locked"* ]]
}
