#!/usr/bin/env bats
# Results that two hosts share over the Remote Execution API, by a second server that has nothing in common with the one of
# shared_grpc.bats: BuildGrid.
# labels: real network cuda
# timeout: 900

load building
load sharing
load farming

setup_file() {
	make_base
	export BASE
	cd "$BATS_FILE_TMPDIR" || return
	"$WHEELSMITH" publish --new-key ci.pem
	start_buildgrid
	export KEYS=$BATS_FILE_TMPDIR GRPC=grpc://127.0.0.1:$PORT
}

teardown_file() {
	end_farm "$BATS_FILE_TMPDIR/pids"
}

setup() {
	in_place
}

writes_to() { # ENDPOINT
	remote_is "$1" '"instance": "main", "access": "write", "key": "'"$KEYS/ci.pem"'"'
}

reads_from() { # ENDPOINT
	remote_is "$1" '"instance": "main", "trust": ["'"$KEYS/ci.pem.pub"'"]'
}

@test "a second store makes the package with a kernel without a compile: the same bytes" {
	found_elsewhere "$GRPC"
}

@test "2,000 records, more at a time than the server has threads" {
	"$WS_BINARY_DIR/tests/shared_results_driver" "$GRPC" "$KEYS/ci.pem" "$PWD/driver" 2000 put
	run -0 "$WS_BINARY_DIR/tests/shared_results_driver" "$GRPC" "$KEYS/ci.pem" "$PWD/driver" 2000 get
	[[ "$output" == "2000 of 2000 in "* ]]
}

@test "an instance that is not there is said" {
	only_host
	remote_is "$GRPC" '"instance": "other", "trust": ["'"$KEYS/ci.pem.pub"'"]'
	build -0
	[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"are not used any more in this run"*other* ]]
}

@test "doctor --remote: what it can, and servers that are of no use" {
	writes_to "$GRPC"
	run -0 "$WHEELSMITH" doctor --remote
	[[ "$output" == *"2.0 to 2.2"*"SHA-256"*"taken from who asks"*"it runs actions"* ]]
	local kind says port
	while IFS='|' read -r kind status_expected says; do
		port=$(free_port)
		"$VENV/bin/python" "$WS_ROOT/tests/support/odd_server.py" "$port" "$kind" 3>&- 9>&- &
		wait_for "$port"
		writes_to "grpc://127.0.0.1:$port"
		run "$WHEELSMITH" doctor --remote
		kill $!
		[ "$status" -eq "$status_expected" ]
		[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"$says"* ]]
	done <<- END
		no-cache|1|x the server has no cache
		no-sha256|1|x the server does not know SHA-256
		reader|0|! "access" is "write", and the server does not take results
	END
}
