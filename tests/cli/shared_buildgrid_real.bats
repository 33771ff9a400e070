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
	"$WS_BINARY_DIR/tests/records_driver" "$GRPC" "$KEYS/ci.pem" "$PWD/driver" 2000 put
	run "$WS_BINARY_DIR/tests/records_driver" "$GRPC" "$KEYS/ci.pem" "$PWD/driver" 2000 get
	[ "$status" -eq 0 ]
	[[ "$output" == "2000 of 2000 in "* ]]
}

@test "an instance that is not there is said" {
	only_host
	remote_is "$GRPC" '"instance": "other", "trust": ["'"$KEYS/ci.pem.pub"'"]'
	build
	[ "$status" -eq 0 ]
	[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"are not used any more in this run"*other* ]]
}
