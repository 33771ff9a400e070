#!/usr/bin/env bats
# Compilations that a build farm of two workers runs, one of which is killed: BuildGrid. Its workers have no sandbox.
# labels: real network
# timeout: 3600

load building
load sharing
load farming

setup_file() {
	farm_base
	start_buildgrid
	export GRPC=grpc://127.0.0.1:$PORT
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first in_place
	with_many
	build -0
	FIRST=$(wheel_sum)
	export FIRST
}

teardown_file() {
	end_farm "$BATS_FILE_TMPDIR/pids"
}

setup() {
	in_place
	with_many
	farm_is "$GRPC"
	start_worker w1 OSFamily=linux
	start_worker w2 OSFamily=linux
}

teardown() {
	end_workers
}

BUILD_WITH=(--kits archive)

farm_is() { # ENDPOINT
	remote_is "$1" '"instance": "main", "access": "write", "key": "'"$KEYS/ci.pem"'", "platform": ["OSFamily=linux"]'
}

# Eight units more, of some seconds each; another mark is another action. The kernel's unit goes there by parts.
with_many() { # [MARK]
	local i
	matrix m.json '"arch": ["8.0;8.6"]'
	for i in 1 2 3 4 5 6 7 8; do
		printf '#include <regex>\nextern const int number%d = %d; std::regex expression%d("a|b"); // %s\n' $i $i $i "${1:-}" \
			> recipes/tiny/src/unit$i.cpp
		sed -i "s/\"module.cpp\"/\"module.cpp\", \"unit$i.cpp\"/" recipes/tiny/1.0.json
	done
}

# How many commands each worker ran.
by_worker() {
	python3 -c 'import collections, json, sys
print(collections.Counter(e["worker"] for e in map(json.loads, sys.stdin) if e.get("worker")))' <<< "$output"
}

@test "two workers run what there is to compile: the same bytes; a second store that shares results compiles nothing" {
	build -0 --executor remote --json
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$(by_worker)" == *w1* && "$(by_worker)" == *w2* ]]
	[[ "$output" == *'"queued_ms":'* && "$output" == *'"fetch_ms":'* ]]
	[[ "$stderr" == *" queued (mean), "*" for inputs (mean)"* ]]
	end_workers
	anew
	with_many
	build -0
	nothing_ran
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "a worker that is killed: what it had runs on the other one, and the bytes are the same" {
	# The server does not run an action twice.
	mkdir here
	BATS_TEST_TMPDIR=$PWD/here in_place
	with_many killed
	build -0
	local here
	here=$(wheel_sum)
	cd ..
	anew
	with_many killed
	farm_is "$GRPC"
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote --json > events 2> log 3>&- &
	local building=$! status=0
	until_it_compiles w1
	kill -KILL "$(cat w1.pid)"
	wait $building || status=$?
	cat log
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$here" ]
	output=$(< events)
	[[ "$(by_worker)" == *w2* ]]
}

@test "a property that no worker has: it is said after a minute, and Ctrl-C ends the waiting" {
	remote_is "$GRPC" '"instance": "main", "access": "none", "platform": ["OSFamily=plan9"]'
	env --default-signal=INT "$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local building=$! status=0 i
	for ((i = 0; i < 90; i++)); do
		! grep -q 'perhaps no worker has the properties' log || break
		sleep 1
	done
	[ "$i" -ge 55 ] && [ "$i" -lt 90 ]
	kill -INT $building
	wait $building || status=$?
	cat log
	[ "$status" -eq 130 ]
}

# The module in the wheel: marks are comments, so it is the same whatever they are.
module_sum() {
	python3 -c 'import glob, hashlib, zipfile
wheel = zipfile.ZipFile(glob.glob("dist/*.whl")[0])
print(*(hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist() if name.endswith(".so")))'
}

@test "workers that are killed at 50 moments, and come again: every build ends, and the bytes are the same" {
	local module kills=0 round name building
	build
	module=$(module_sum)
	for ((round = 0; kills < 50; round++)); do
		anew
		with_many "killed $round"
		remote_is "$GRPC" '"instance": "main", "access": "none", "platform": ["OSFamily=linux"]'
		"$WHEELSMITH" build --matrix m.json --kits archive --executor remote > events 2> log 3>&- &
		building=$!
		while sleep $((RANDOM % 5 + 2)).$((RANDOM % 10)) && kill -0 $building 2> /dev/null; do
			name=w$((RANDOM % 2 + 1))
			kill -KILL "$(cat $name.pid)"
			start_worker $name OSFamily=linux
			kills=$((kills + 1))
		done
		status=0
		wait $building || status=$?
		echo "build $round: $status after $kills kills" >&3
		cat log
		[ "$status" -eq 0 ]
		[ "$(module_sum)" = "$module" ]
	done
}
