#!/usr/bin/env bats
# The program where a library of build farms is missing: it is built without them, and says so.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p "$HOME/.config/wheelsmith"
	BARE=$WS_BINARY_DIR/tests/wheelsmith-without-remote
}

server_is() { # ENDPOINT
	echo '{"remote": {"endpoint": "'"$1"'", "trust": ["ci.pem.pub"]}}' > "$HOME/.config/wheelsmith/config.json"
}

refuses() { # WORDS...
	run --separate-stderr "$BARE" "$@" --torch 2.11.0 --python 3.11 --arch 9.0 causal-conv1d==1.5.3.post1
	echo "$stderr"
	[ "$status" -eq 3 ]
	[ "$(grep -c '^error' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"this program was built without build farms and shared results"* ]]
}

@test "a server and a farm are refused in one line; without them it works" {
	server_is grpc://127.0.0.1:9
	refuses build --executor remote
	refuses build
	server_is http://127.0.0.1:9/cache
	refuses build
	run -0 "$BARE" plan --torch 2.11.0 --python 3.11 --arch 9.0 causal-conv1d==1.5.3.post1
	[[ "$output" == *"1 to build"* ]]
}

@test "the program contains no part that was left out" {
	needs nm
	[ "$(nm "$WHEELSMITH" | grep -cE ' (U|T) (nghttp2_|protobuf_c_|reapi__)')" -gt 10 ]
	run -0 nm "$BARE"
	[ "$(grep -cE ' (nghttp2_|protobuf_c_|reapi__)' <<< "$output")" -eq 0 ]
}

@test "where the library is missing it is configured without, unless it was asked for" {
	needs cmake pkg-config
	local folder file
	mkdir packages
	for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
		for file in "$folder"/*.pc; do
			[ ! -e "$file" ] || [[ "$file" == */libprotobuf-c.pc ]] || ln -sf "$file" packages/
		done
	done
	export PKG_CONFIG_LIBDIR=$PWD/packages
	run -0 cmake -S "$WS_ROOT" -B bare -G Ninja
	[[ "$output" == *"no build farms and no shared results: libprotobuf-c"* ]]
	grep -q 'without_remote' bare/build.ninja
	[ "$(grep -c 'builder/remote/.*\.c\.o:' bare/build.ninja)" -eq 0 ]
	# Its tests are left out, too.
	grep -q 'fuzz_zip' bare/build.ninja
	[ "$(grep -cE 'fuzz_farm|shared_results_driver|test_net_rpc' bare/build.ninja)" -eq 0 ]
	run ! cmake -S "$WS_ROOT" -B wanted -G Ninja -D BUILD_TESTING=OFF -D WS_REMOTE=ON
	[[ "$output" == *"libprotobuf-c 1.4, protoc-c or libnghttp2 1.52 is missing"* ]]
}
