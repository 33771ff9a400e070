#!/usr/bin/env bats
# Compilations that a build farm runs: buildbox-casd, which is a whole server of the Remote Execution API and runs each
# action in a sandbox that has this host's /usr.
# labels: network
# timeout: 900

load building
load sharing

setup_file() {
	needs bwrap
	make_base
	cd "$BATS_FILE_TMPDIR" || return
	with_archive_kit
	export BASE
	"$WHEELSMITH" publish --new-key ci.pem
	export KEYS=$BATS_FILE_TMPDIR
	start_casd --jobs=2
	export GRPC BOX
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first in_place
	build
	FIRST=$(wheel_sum)
	export FIRST
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/casd.pid")" 2> /dev/null || true
}

setup() {
	in_place
}

# One that was killed leaves what it had staged for its sandboxes, by FUSE.
teardown() {
	[ -f casd.pid ] || return 0
	pkill -KILL -f "$PWD/casd" || true
	awk -v below="$PWD/casd" 'index($2, below) == 1 { print $2 }' /proc/mounts | xargs -r -n 1 umount -l
}

build() { # ARGUMENTS
	ws build --matrix m.json --kits archive "$@"
}

farm_is() { # ENDPOINT [MEMBERS]
	remote_is "$1" '"instance": "main", "trust": ["'"$KEYS/ci.pem.pub"'"]'"${2:+, $2}"
}

@test "units are compiled by the farm and the rest here: the same bytes, and the store has them under its own keys" {
	farm_is "$GRPC" '"platform": ["OSFamily=linux"]'
	build --executor remote --json --trace trace
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$stderr" == *" 2 on the farm, "*" s for inputs (mean)"* ]]
	echo "$output" > events
	python3 - <<- 'END'
		import json
		away = {"kernel.cu", "module.cpp"}
		events = {x["subject"]: x for x in map(json.loads, open("events")) if x.get("worker")}
		spans = {x["args"]["worker"]: x["args"] for x in json.load(open("trace"))["traceEvents"] if "worker" in x["args"]}
		built = json.load(open("dist/build.json"))
		there = {x["subject"]: x for x in built["on_farm"]}
		assert events.keys() == there.keys() == away, (events, there)
		assert built["actions"]["on_farm"] == 2
		for x in away:
		  assert events[x]["worker"] == there[x]["worker"]
		  assert events[x]["fetch_ms"] == there[x]["fetch_ms"] > 0
		  assert events[x].get("queued_ms", 0) == there[x]["queued_ms"] < 60000
		  assert there[x]["wall_ms"] > 0 and there[x]["cpu_ms"] > 0
		assert {x["fetch_ms"] for x in spans.values()} <= {x["fetch_ms"] for x in there.values()} and spans
	END
	rm -rf dist
	build
	[ "$status" -eq 0 ]
	nothing_ran
}

@test "a unit that fails there fails as it does here, with its log" {
	farm_is "$GRPC"
	echo 'this is no C++' >> recipes/tiny/src/module.cpp
	build --executor remote
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"'module.cpp' failed: g++ exited with 1"* ]]
	[[ "$stderr" == *"before 'this'"* ]]
}

# One unit takes so long that something can happen to it.
slow() {
	python3 -c 'print("#include <regex>"); [print("std::regex r%d(\"a|b\");" % i) for i in range(250)]' \
		> recipes/tiny/src/slow.cpp
	sed -i 's/"module.cpp"/"module.cpp", "slow.cpp"/' recipes/tiny/1.0.json
}

# Until a sandbox compiles it.
is_there() {
	local i
	for ((i = 0; i < 300; i++)); do
		! pgrep -f 'cc1plus.*slow\.cpp' > /dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test "Ctrl-C takes back what the farm does" {
	slow
	farm_is "$GRPC"
	env --default-signal=INT "$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local wheelsmith=$! began i
	is_there
	began=$SECONDS
	kill -INT $wheelsmith
	wait $wheelsmith || status=$?
	[ "$status" -eq 130 ]
	[ $((SECONDS - began)) -le 5 ]
	for ((i = 0; i < 50; i++)); do
		pgrep -f 'cc1plus.*slow\.cpp' > /dev/null || break
		sleep 0.1
	done
	not pgrep -f 'cc1plus.*slow\.cpp'
}

@test "a farm that is lost: one line, or what is left is built here" {
	slow
	build
	[ "$status" -eq 0 ]
	local sum
	sum=$(wheel_sum)
	anew
	slow
	start_casd --jobs=2
	farm_is "$GRPC"
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local wheelsmith=$!
	is_there
	kill -KILL "$(cat casd.pid)"
	wait $wheelsmith || status=$?
	cat log
	[ "$status" -eq 4 ]
	[ "$(grep -c "^error.*the farm at '127.0.0.1:$PORT'" log)" -eq 1 ]

	build --executor remote,local
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$sum" ]
	[ "$(grep -c '^warning.*built here' <<< "$stderr")" -eq 1 ]
}

@test "a server that keeps results and runs nothing says so" {
	start_casd
	farm_is "$GRPC"
	build --executor remote
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"it has no Execution"* ]]
	build --executor remote,local
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "a worker with another assembler makes nothing for this host" {
	local as
	as=$(readlink -f /usr/bin/as)
	cp "$as" as
	printf x >> as
	start_casd --jobs=2 "--runner-arg=--ro-bind-mount=$PWD/as:$as"
	farm_is "$GRPC"
	build --executor remote
	[ "$status" -eq 5 ]
	[[ "$stderr" == *"its worker has another '"*"as' than this host"* ]]
	build --executor remote,local
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "what cannot be asked for is one line" {
	build --executor remote
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"there is no build farm: the user's configuration has no 'remote'"* ]]
	farm_is "$GRPC"
	build --executor farm
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"there is no executor 'farm'"* ]]
	build --executor remote --offline
	[ "$status" -eq 2 ]
	build --executor remote --kits host
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"CUDA 13.0 of this host is not sent to a farm"* ]]
}
