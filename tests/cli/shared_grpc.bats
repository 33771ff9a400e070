#!/usr/bin/env bats
# Results that two hosts share over the Remote Execution API: buildbox-casd, bare and behind nginx with TLS.
# labels: cuda network
# timeout: 900

load building
load sharing

setup_file() {
	make_base
	export BASE
	cd "$BATS_FILE_TMPDIR" || return
	"$WHEELSMITH" publish --new-key ci.pem
	export KEYS=$BATS_FILE_TMPDIR
	start_casd
	start_tls
	export GRPC GRPCS CASD=$PORT
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first in_place
	only_host
	writes_to "$GRPC"
	"$WHEELSMITH" build --matrix m.json 2> first.log
	FIRST=$(wheel_sum)
	export FIRST
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/casd.pid")" "$(cat "$BATS_FILE_TMPDIR/nginx.pid")" 2> /dev/null || true
}

setup() {
	in_place
}

writes_to() { # ENDPOINT
	remote_is "$1" '"instance": "main", "access": "write", "key": "'"$KEYS/ci.pem"'"'
}

reads_from() { # ENDPOINT [MEMBERS]
	remote_is "$1" '"instance": "main", "trust": ["'"$KEYS/ci.pem.pub"'"]'"${2:+, $2}"
}

@test "a second store makes the package with a kernel without a compile: the same bytes" {
	found_elsewhere "$GRPC"
}

# A unit whose object has 1.5 MB that do not compress to nothing.
with_large() {
	only_host
	recipe 'e["sources"].append("large.cpp")'
	python3 -c 'import random; random.seed(1); print("extern const char large[]; const char large[] = \"%s\";"
		% "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=1500000)))' > recipes/tiny/src/large.cpp
}

@test "files larger than a batch go as streams" {
	with_large
	writes_to "$GRPC"
	build -0
	[[ "$stderr" != *warning* ]]
	anew
	with_large
	reads_from "$GRPC"
	build -0
	nothing_ran
}

@test "more files that go as streams than a process may have open" {
	local driver=$WS_BINARY_DIR/tests/shared_results_driver
	(ulimit -n 400 && "$driver" "$GRPC" "$KEYS/ci.pem" "$PWD/from" 500 put 1100000)
	(ulimit -n 400 && "$driver" "$GRPC" "$KEYS/ci.pem" "$PWD/to" 500 get 1100000)
}

@test "by TLS with a token, over connections that end after 20 calls; with a certificate of the client" {
	only_host
	unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
	export PIP_CERT=$KEYS/ca.pem
	reads_from "$GRPCS" '"headers": "'"$KEYS/headers"'"'
	build -0
	nothing_ran
	[[ "$stderr" != *warning* ]]
	anew
	only_host
	reads_from "$MUTUAL" '"certificate": "'"$KEYS/client.pem"'", "certificate_key": "'"$KEYS/client.key"'"'
	build -0
	nothing_ran
	[[ "$stderr" != *warning* ]]
}

@test "through a proxy that connects us, whose login is in no text" {
	only_host
	unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE no_proxy NO_PROXY
	export PIP_CERT=$KEYS/ca.pem
	coproc python3 "$WS_ROOT/tests/support/bad_proxy.py" 0 connect 2> asked
	local port proxy=$COPROC_PID
	read -r port <&"${COPROC[0]}"
	reads_from "$GRPCS" '"headers": "'"$KEYS/headers"'"'
	export https_proxy=http://me:secret@127.0.0.1:$port
	build
	kill "$proxy"
	[ "$status" -eq 0 ]
	nothing_ran
	[[ "$stderr" != *warning* ]]
	grep -q "^CONNECT ${GRPCS#grpcs://}$" asked
	# It is gone: said without the login.
	anew
	only_host
	build -0
	made_here "are not used any more in this run"
	[[ "$stderr" != *secret* ]]
}

# Reads lines ENDPOINT|MEMBERS|WORDS.
each_is_left() {
	local endpoint members says
	while IFS='|' read -r endpoint members says; do
		anew
		only_host
		reads_from "$endpoint" "$members"
		build -0
		made_here "are not used any more in this run"
		[[ "$stderr" == *"$says"* ]]
	done
}

@test "a server that is not there, not trusted, not gRPC, or will not: one warning, and the build goes on" {
	only_host
	serve "$BASE/www"
	each_is_left <<- END
		grpc://127.0.0.1:9||cannot be reached
		grpc://no-such-host.invalid||cannot be reached
		$GRPCS||issuer certificate
		grpc://127.0.0.1:$PORT||does not speak HTTP/2
		${GRPCS/grpcs/grpc}||does not speak HTTP/2
	END
	unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
	export PIP_CERT=$KEYS/ca.pem
	each_is_left <<- END
		$GRPCS||HTTP status 401
		$MUTUAL||HTTP status 400
	END
	unserve
}

@test "an instance that is not there is said" {
	only_host
	remote_is "$GRPC" '"instance": "other", "trust": ["'"$KEYS/ci.pem.pub"'"]'
	build -0
	made_here "are not used any more in this run"
	[[ "$stderr" == *other* ]]
}

@test "a server that stalls, is cut, or sends other bytes: the build ends with the same wheel" {
	only_host
	local fault proxy port
	for fault in stall drip=1 cut=0 cut=9 cut=60 cut=150 cut=400 cut=1500 cut=6000 flip=3 flip=12 flip=40 flip=100 flip=700; do
		anew
		only_host
		coproc python3 "$WS_ROOT/tests/support/bad_proxy.py" "$CASD" "$fault"
		proxy=$COPROC_PID
		read -r port <&"${COPROC[0]}"
		reads_from "grpc://127.0.0.1:$port"
		LIMIT=60 build
		kill "$proxy"
		wait "$proxy" || true
		[ "$status" -eq 0 ]
		[ "$(wheel_sum)" = "$FIRST" ]
		[ "$(grep -c '^warning' <<< "$stderr")" -le 2 ]
		[ "$fault" != stall ] || [[ "$stderr" == *"no answer in time"* ]]
	done
}

@test "mistakes in the configuration are reported before any action" {
	only_host
	local endpoint members expected
	while IFS='|' read -r endpoint members expected; do
		remote_is "$endpoint" "$members"
		build -3
		[[ "$stderr" == *"$expected"* ]]
	done <<- END
		grpc://|"key": "$KEYS/ci.pem"|'endpoint' is not a host and its port
		grpc://host/main|"key": "$KEYS/ci.pem"|'endpoint' is not a host and its port
		grpc://a:b@host|"key": "$KEYS/ci.pem"|'endpoint' is not a host and its port
		grpc://host:x|"key": "$KEYS/ci.pem"|is not
		grpcs://host|"key": "$KEYS/ci.pem", "certificate": "c.pem"|'certificate' and 'certificate_key' belong together
		https://host|"key": "$KEYS/ci.pem", "instance": "main"|are of a server by gRPC
		grpc://cache.example|"trust": ["$KEYS/ci.pem.pub"], "headers": "$KEYS/headers"|the headers of
	END
}

# The last: what the server has is damaged by it.
@test "files with other bytes are thrown away and made again" {
	only_host
	python3 - "$KEYS/casd" <<- 'END'
		import pathlib, sys
		for path in pathlib.Path(sys.argv[1]).glob("cas/objects/*/*"):
		    data = path.read_bytes()
		    if data[:4] == b"\x7fELF":
		        path.chmod(0o644)
		        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
	END
	reads_from "$GRPC"
	build -0
	[ -n "$(ran)" ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$stderr" == *"they are ignored and rebuilt locally"* ]]
}
