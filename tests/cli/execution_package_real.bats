#!/usr/bin/env bats
# A package as people build it, by a farm of two workers one of which is lost on the way (BuildGrid), and once more on a
# host that has nothing.
# labels: real network
# timeout: 2400

load building
load sharing
load farming

setup() {
	own_home
	cd "$BATS_TEST_TMPDIR" || return
	unset WHEELSMITH_INDEX
	export WHEELSMITH_STORE=$PWD/store
	"$WHEELSMITH" publish --new-key ci.pem
	start_buildgrid
	remote_is "grpc://127.0.0.1:$PORT" '"instance": "main", "access": "write", "key": "'"$PWD/ci.pem"'",
		"platform": ["OSFamily=linux"]'
	start_worker w1 OSFamily=linux
	start_worker w2 OSFamily=linux
	sed 's/"packages": .*/"packages": ["causal-conv1d==1.5.3.post1"],/' "$WS_ROOT/matrix/ampere-a10.json" > m.json
}

teardown() {
	end_workers
	end_farm pids
}

@test "causal-conv1d of ampere-a10.json through two workers, one killed; a second store compiles nothing" {
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote --json > events 2> log 3>&- &
	local building=$! status=0 began=$SECONDS sum
	until_it_compiles w1
	kill -KILL "$(cat w1.pid)"
	wait $building || status=$?
	cat log
	[ "$status" -eq 0 ]
	echo "# the farm: $((SECONDS - began)) s" >&3
	sum=$(wheel_sum)
	grep -q '"worker":"w2"' events

	export WHEELSMITH_STORE=$PWD/second
	rm -r dist
	began=$SECONDS
	ws -0 build --matrix m.json --kits archive
	echo "# a second store: $((SECONDS - began)) s" >&3
	nothing_ran
	[ "$(wheel_sum)" = "$sum" ]
}
