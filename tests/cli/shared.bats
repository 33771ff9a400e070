#!/usr/bin/env bats
# Results that two hosts share: nginx as docs/farm.md has it, and servers that are down, slow, full, read-only, or lie.
# labels: cuda
# timeout: 900

load building
load sharing

setup_file() {
	make_base
	export BASE
	cd "$BATS_FILE_TMPDIR" || return
	"$WHEELSMITH" publish --new-key ci.pem
	"$WHEELSMITH" publish --new-key stranger.pem
	start_nginx
	export NGINX SERVER=$BATS_FILE_TMPDIR/srv KEYS=$BATS_FILE_TMPDIR
	# The results of one host, for the tests that only read: the package of host units.
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first in_place
	only_host
	writes_to "$NGINX"
	"$WHEELSMITH" build --matrix m.json 2> first.log
	FIRST=$(wheel_sum)
	export FIRST
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/nginx.pid")" 2> /dev/null || true
}

setup() {
	in_place
}

writes_to() { # ENDPOINT
	remote_is "$1" '"access": "write", "key": "'"$KEYS/ci.pem"'"'
}

reads_from() { # ENDPOINT [KEY]
	remote_is "$1" '"trust": ["'"$KEYS/${2:-ci.pem}.pub"'"]'
}

@test "a second store makes the package with a kernel without a compile: the same bytes" {
	found_elsewhere "$NGINX"

	# Now the store has them itself and contacts no server.
	local asked
	asked=$(wc -l < "$BATS_FILE_TMPDIR/nginx/access.log")
	build -0
	[ "$(wc -l < "$BATS_FILE_TMPDIR/nginx/access.log")" -eq "$asked" ]
}

@test "records of a key that is not trusted are misses, with one warning" {
	only_host
	reads_from "$NGINX" stranger.pem
	build -0
	[ -n "$(ran)" ]
	made_here "records that no trusted key has signed"
}

@test "--offline contacts no server" {
	only_host
	reads_from http://127.0.0.1:9
	build -0 --offline
	[ -n "$(ran)" ]
	[[ "$stderr" != *warning* ]]
}

@test "a server that is not there, or is silent: one warning, and the build goes on" {
	only_host
	reads_from http://127.0.0.1:9
	build -0
	made_here "are not used any more in this run"

	serve "$SERVER"
	anew
	only_host
	reads_from "http://127.0.0.1:$PORT/~silent"
	build -0
	made_here "are not used any more in this run"
	unserve
}

@test "a server that breaks: refusals, errors, half a file, redirects" {
	only_host
	serve "$SERVER"
	local fault
	for fault in status=500 status=403 cut=10 redirect=1; do
		anew
		only_host
		reads_from "http://127.0.0.1:$PORT/~$fault"
		build -0
		made_here "are not used any more in this run: cannot fetch 'ac/"
	done
	unserve
}

@test "a server whose records trickle in is not waited for" {
	only_host
	cp -r "$SERVER" slow
	for record in slow/ac/*; do
		head -c 900000 /dev/zero >> "$record"
	done
	serve "$PWD/slow"
	reads_from "http://127.0.0.1:$PORT/~slow=5000"
	LIMIT=90 build -0
	made_here "did not arrive within 20 s"
	unserve
}

@test "wrong answers of a server give no wrong file" {
	only_host
	# Files with other bytes, of the right length and of others; records that were put under other keys.
	local how
	for how in other longer shorter swapped html; do
		rm -rf "$WHEELSMITH_STORE" dist lies
		from_base
		only_host
		cp -r "$SERVER" lies
		python3 - "$how" lies <<- 'END'
			import pathlib, sys
			how, root = sys.argv[1], pathlib.Path(sys.argv[2])
			files, records = sorted(root.glob("cas/*")), sorted(root.glob("ac/*"))
			for path in files if how in ("other", "longer", "shorter") else []:
			    data = path.read_bytes()
			    path.write_bytes({"other": bytes(b ^ 1 for b in data), "longer": data + b"x", "shorter": data[:-1]}[how])
			texts = [path.read_bytes() for path in records]
			for at, path in enumerate(records if how in ("swapped", "html") else []):
			    path.write_bytes(texts[at - 1] if how == "swapped" else b"<html>welcome</html>")
		END
		serve "$PWD/lies"
		reads_from "http://127.0.0.1:$PORT"
		build -0
		[ -n "$(ran)" ]
		made_here "they are ignored and rebuilt locally"
		unserve
	done
}

@test "a server that lost its files has misses, and no warning" {
	only_host
	cp -r "$SERVER" lost
	rm lost/cas/*
	serve "$PWD/lost"
	reads_from "http://127.0.0.1:$PORT"
	build -0
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$stderr" != *warning* ]]
	unserve
}

@test "a server that takes nothing, or is full, is still read; one that hangs up on what is sent is not" {
	only_host
	serve "$SERVER"
	local fault says
	for fault in status=507 status=403 lost; do
		anew
		only_host
		recipe 'e["sources"].append("more.cpp")'
		echo "int more_of_$RANDOM = $RANDOM;" > recipes/tiny/src/more.cpp
		writes_to "http://127.0.0.1:$PORT/~put,$fault"
		build -0
		[[ "$(ran)" == *"compile more.cpp"* ]]
		[[ "$(ran)" != *"compile module.cpp"* ]]
		[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
		says="refuses them"
		[ $fault != lost ] || says="are not used any more in this run"
		[[ "$stderr" == *"$says"* ]]
	done
	unserve
}

@test "a server whose answers to what is sent do not end is not waited for" {
	only_host
	coproc python3 "$WS_ROOT/tests/support/endless_server.py"
	local port server=$COPROC_PID
	read -r port <&"${COPROC[0]}"
	writes_to "http://127.0.0.1:$port"
	LIMIT=60 build
	kill "$server"
	[ "$status" -eq 0 ]
	made_here "refuses them: its response to 'cas/"
}

@test "a password is not in any text" {
	[ -s "$BATS_FILE_TMPDIR/first/first.log" ]
	! grep -rE 'secret|BEGIN PRIVATE' "$BATS_FILE_TMPDIR/first/first.log" "$BATS_FILE_TMPDIR/first/dist" "$SERVER"
	not grep -q '"GET.*secret' "$BATS_FILE_TMPDIR/nginx/access.log"
}

@test "mistakes in the configuration are reported before any action" {
	only_host
	local members
	while IFS='|' read -r members expected; do
		remote_is "http://cache.example" "$members"
		build -3
		[[ "$stderr" == *"$expected"* ]]
	done <<- END
		"access": "write"|'remote' has the access 'write' and no 'key' to sign with
		"access": "read"|'remote' has no 'trust': every result would be ignored
		"access": "wirte", "key": "k"|'wirte' is not
		"trust": ["$KEYS/none.pub"]|none.pub
		"trust": ["$KEYS/ci.pem.pub"], "headers": "$KEYS/ci.pem.pub"|is plain http: the headers of
	END
	# A name that begins like this host's address is somebody's.
	remote_is "http://127.cache.example" '"trust": ["'"$KEYS/ci.pem.pub"'"], "headers": "'"$KEYS/ci.pem.pub"'"'
	build -3
	[[ "$stderr" == *"is plain http: the headers of"* ]]
	remote_is "http://127.0.0.1:9" '"trust": ["'"$KEYS/ci.pem.pub"'"], "headers": "'"$KEYS/ci.pem.pub"'"'
	build -3
	[[ "$stderr" == *"is not a list of at most 5 headers"* ]]
	printf 'A: b\rAuthorization: c\n' > headers
	remote_is "http://127.0.0.1:9" '"trust": ["'"$KEYS/ci.pem.pub"'"], "headers": "'"$PWD/headers"'"'
	build -3
	[[ "$stderr" == *"is not a list of at most 5 headers"* ]]
	remote_is "http://127.0.0.1:9/x?y" '"trust": ["'"$KEYS/ci.pem.pub"'"]'
	build -3
	[[ "$stderr" == *"cannot be the 'endpoint' of 'remote'"* ]]
}

@test "headers of a file go with every request, and to this host through no proxy" {
	only_host
	serve "$SERVER"
	printf 'Authorization: Bearer abc\n' > headers
	remote_is "http://127.0.0.1:$PORT" '"trust": ["'"$KEYS/ci.pem.pub"'"], "headers": "'"$PWD/headers"'"'
	rm "$HOME/.netrc"
	unset no_proxy NO_PROXY
	export http_proxy=http://127.0.0.1:9
	build -0
	nothing_ran
	[ "$(jq -r .auth "$ASKED" | sort -u)" = "Bearer abc" ]
	unserve
}
