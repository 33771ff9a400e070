#!/usr/bin/env bats
# doctor --remote: the abilities of the server in the user's configuration, and one line for each reason why the server
# cannot be used. The servers: buildbox-casd alone, with execution, and behind nginx with TLS; a server without either
# protocol.
# labels: network
# timeout: 300

load building
load sharing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	start_casd
	start_tls
	export GRPC GRPCS KEYS=$BATS_FILE_TMPDIR
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/casd.pid")" "$(cat "$BATS_FILE_TMPDIR/nginx.pid")" 2> /dev/null || true
}

setup() {
	private_home
	export COLUMNS=200 WHEELSMITH_INDEX=http://127.0.0.1:9/simple
	unset REQUESTS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE
	export PIP_CERT=$KEYS/ca.pem
	cd "$BATS_TEST_TMPDIR" || return
	touch key.pub
}

# The part of the page.
look() { # ENDPOINT [MEMBERS]
	remote_is "$1" '"trust": ["'"$PWD"'/key.pub"]'"${2:+, $2}"
	run "$WHEELSMITH" doctor --remote
	output=$(sed -n '/^remote /,/^libraries /p' <<< "$output" | sed '$d' | tr -s ' \n' ' ')
	echo "$output"
}

@test "a cache that runs nothing" {
	look "$GRPC" '"instance": "main"'
	[ "$status" -eq 0 ]
	[[ "$output" == *"$GRPC, instance main; round trip of "*" ms"* ]]
	[[ "$output" == *"API 2.1 to 2."* ]]
	[[ "$output" == *"SHA-256"* ]]
	[[ "$output" == *"results are shared, and taken from who asks"* ]]
	[[ "$output" == *"execution none: it is a cache"* ]]
	"$WHEELSMITH" doctor --remote --json > page
	[ "$(jq -c '.remote | [.answers, .cache, .executes, .takes_records]' page)" = '[true,true,false,true]' ]
	[ "$(jq '.remote.round_trip_us > 0' page)" = true ]
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" page
}

@test "a server that runs actions" {
	mkdir other
	cd other
	start_casd --jobs=1
	look "$GRPC" '"instance": "main"'
	kill "$(cat casd.pid)"
	[ "$status" -eq 0 ]
	[[ "$output" == *"execution it runs actions: build --executor remote"* ]]
}

@test "without --remote no server is contacted" {
	look grpc://127.0.0.1:9
	[ "$status" -eq 1 ]
	run "$WHEELSMITH" doctor --json
	[ "$(jq .remote <<< "$output")" = null ]
}

@test "each server that cannot be used has its line and its cure" {
	serve "$PWD"
	echo 'Authorization: Bearer old' > headers
	local endpoint members says cure
	while IFS='|' read -r endpoint members says cure; do
		look "$endpoint" "$members"
		[ "$status" -eq 1 ]
		[[ "$output" == *"x "*"$says"* ]]
		[[ "$output" == *"-> "*"$cure"* ]] || [ -z "$cure" ]
		"$WHEELSMITH" doctor --remote --json > page || true
		[ "$(jq .remote.answers page)" = false ]
		python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" page
	done <<- END
		grpc://no-such-host.invalid||no-such-host.invalid|
		grpc://127.0.0.1:9||cannot be reached|
		grpc://127.0.0.1:$PORT||does not speak HTTP/2|grpcs:// is with TLS
		${GRPCS/grpcs/grpc}||does not speak HTTP/2|grpcs:// is with TLS
		$GRPCS|"headers": "$PWD/headers"|the server refuses: HTTP status 401|renew the token in $PWD/headers
		$GRPCS||HTTP status 401|name a file with the server's token
		$GRPC|"instance": "other"|other|correct the "instance"
		http://127.0.0.1:9||cannot be reached|
	END
	unserve
	unset PIP_CERT
	look "$GRPCS"
	[ "$status" -eq 1 ]
	[[ "$output" == *"issuer certificate"*"-> "*"CA"* ]]
}

@test "no server is configured" {
	run -1 "$WHEELSMITH" doctor --remote
	[[ "$output" == *"the user's configuration has no 'remote'"* ]]
}

@test "a token stands nowhere" {
	echo 'Authorization: Bearer abc' > headers
	look "$GRPCS" '"headers": "'"$PWD/headers"'", "instance": "main"'
	[ "$status" -eq 0 ]
	[[ "$output" != *abc* ]]
}
