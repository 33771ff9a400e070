#!/usr/bin/env bats
# A build farm that is full, breaks off, forgets and lies: the build ends with one line or goes on here, and no wheel is wrong. The farm
# is tests/support/farm_server.py, which carries actions out on this host.
# labels: network
# timeout: 1800

load building
load sharing
load farming

setup_file() {
	farm_base
	make_buildgrid
	export VENV
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first in_place
	only_host
	build
	FIRST=$(wheel_sum)
	export FIRST
}

setup() {
	in_place
	only_host
}

teardown() {
	end_one_farm
}

BUILD_WITH=(--kits archive)

farm_is() { # [MEMBERS]
	remote_is "$GRPC" '"instance": "main", "trust": ["'"$KEYS/ci.pem.pub"'"]'"${1:+, $1}"
}

built_there() {
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$stderr" == *" 2 on the farm"* ]]
}

one_line() { # WORDS
	[ "$status" -ne 0 ]
	[ "$(grep -c '^error' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"$1"* ]]
	[ ! -e dist/*.whl ]
}

built_here() {
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(grep -c '^warning.*built here' <<< "$stderr")" -eq 1 ]
}

@test "a farm that has no queue, and is full, is asked again after a while" {
	start_farm --busy --slots 1
	farm_is
	build --executor remote
	built_there
}

@test "an action that exceeds the farm's time limit is not retried" {
	start_farm --deadline
	farm_is
	build -5 --executor remote
	[[ "$stderr" == *"timed out"* ]]
	[ "$(stat_of ran)" -le 4 ] # two of them said what the worker is
}

@test "a disk that is full here is said, and not the farm's fault" {
	start_farm
	farm_is
	printf 'extern const char large[20 << 20] = {1};\n' >> recipes/tiny/src/kernel.cpp
	ulimit -f 15000 # KiB of a file
	build --executor remote,local
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"error: cannot write '"*"File too large"* ]]
	[[ "$stderr" != *"built here"* ]]
}

@test "batches of 64 KiB, 100 streams of a connection, 10 calls at once, GOAWAY every 3 s, one of a hundred calls unavailable: all is built there" {
	start_farm --batch 65536 --streams 100 --goaway 3 --fail 0.01 --calls 10
	farm_is
	build --executor remote
	built_there
}

@test "files that are other ones, too short or too long are not taken" {
	local lie
	for lie in other short long; do
		start_farm --lie $lie
		farm_is
		build --executor remote
		one_line "does not match its digest"
		build --executor remote,local
		built_here
		end_one_farm
		anew
		only_host
	done
}

@test "a wrong action cache: results of other actions, missing files, failures" {
	local keeps
	for keeps in other missing failed; do
		start_farm --keeps $keeps
		farm_is
		build --executor remote
		built_there
		anew
		only_host
		build --executor remote
		built_there
		end_one_farm
		anew
		only_host
	done
}

@test "a server that loses all data during an action: the build continues" {
	lasting late 20
	build
	[ "$status" -eq 0 ]
	local sum
	sum=$(wheel_sum)
	anew
	lasting late 20
	only_host
	start_farm
	farm_is
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local wheelsmith=$!
	until_compiled late
	kill -USR1 "$(cat farm.pid)"
	wait $wheelsmith || { cat log; false; }
	[ "$(wheel_sum)" = "$sum" ]
}

@test "a server that loses transient files between the parts of a unit: they are made again there" {
	rm -rf recipes
	tiny "$PWD"
	matrix m.json '"arch": ["8.0;8.6"]'
	build
	[ "$status" -eq 0 ]
	local sum i
	sum=$(wheel_sum)
	anew
	matrix m.json '"arch": ["8.0;8.6"]'
	start_farm --slots 1
	farm_is
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote --json > events 2> log 3>&- &
	local wheelsmith=$!
	for ((i = 0; i < 1200; i++)); do
		! grep -q '"action-started".*"stage":"cicc"' events || break
		sleep 0.05
	done
	kill -USR1 "$(cat farm.pid)"
	wait $wheelsmith || { cat events log; false; }
	[ "$(wheel_sum)" = "$sum" ]
	[ "$(grep -c '"action-done".*"stage":"preprocess","outcome":"ran".*"worker"' events)" -gt 3 ]
}

# Slow, in the background; until the farm compiles it.
begin() { # ARGUMENTS
	"$WHEELSMITH" build --matrix m.json --kits archive "$@" 2> log 3>&- &
	BUILD=$!
	until_compiled late
}

# The outcome.
until_it_ends() {
	status=0
	wait $BUILD || status=$?
	stderr=$(< log)
	echo "$stderr"
}

@test "a server that is killed, or stops, while it runs something: one line, or what is left is built here" {
	local signal began
	lasting late 20
	build
	[ "$status" -eq 0 ]
	FIRST=$(wheel_sum)
	for signal in KILL STOP; do
		anew
		only_host
		lasting late 20
		start_farm
		farm_is
		begin --executor remote
		began=$SECONDS
		kill -$signal "$(cat farm.pid)"
		until_it_ends
		[ $((SECONDS - began)) -le 40 ]
		one_line "the farm at '127.0.0.1:$PORT'"
		kill -CONT "$(cat farm.pid)" || true
		end_one_farm KILL
		[ $signal = KILL ] || break # that it is gone takes half a minute; what follows is the same
		start_farm
		begin --executor remote,local
		kill -$signal "$(cat farm.pid)"
		until_it_ends
		built_here
		end_one_farm KILL
	done
}

@test "a server that is restarted, empty, while it runs something: all is sent again, and built there" {
	lasting late 20
	build
	[ "$status" -eq 0 ]
	FIRST=$(wheel_sum)
	anew
	only_host
	lasting late 20
	start_farm
	farm_is
	begin --executor remote
	local old
	old=$(cat farm.pid)
	start_farm # gRPC's servers share a port
	kill -KILL "$old"
	until_it_ends
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(stat_of ran)" -ge 1 ]
}

@test "a client that is killed: the next one joins what went on, and nothing runs twice" {
	lasting late 20
	start_farm
	farm_is
	begin --executor remote
	kill -KILL $BUILD
	wait $BUILD || true
	build --executor remote
	[ "$status" -eq 0 ]
	[ "$(stat_of most_often)" -eq 1 ]
}

@test "Ctrl-C ends the waiting for a farm that is full" {
	lasting late 20
	start_farm --busy --slots 1
	farm_is
	env --default-signal=INT "$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	BUILD=$!
	until_compiled late
	sleep 1 # the others are refused
	local began=$SECONDS
	kill -INT $BUILD
	until_it_ends
	[ "$status" -eq 130 ]
	[ $((SECONDS - began)) -le 5 ]
}

@test "Ctrl-C while no worker is free: the query about the workers is cancelled on the farm" {
	local i
	start_farm --slots 0
	farm_is
	env --default-signal=INT "$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	BUILD=$!
	for ((i = 0; i < 600; i++)); do
		! grep -q queued farm.log || break
		sleep 0.1
	done
	sleep 0.5
	kill -INT $BUILD
	until_it_ends
	[ "$status" -eq 130 ]
	[ "$(stat_of cancelled)" -eq 1 ]
}
