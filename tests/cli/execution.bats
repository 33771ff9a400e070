#!/usr/bin/env bats
# Compilations that a build farm runs: buildbox-casd, which is a whole server of the Remote Execution API and runs each
# action in a sandbox that has this host's /usr.
# labels: network
# timeout: 900

load building
load sharing

setup_file() {
	needs bwrap
	farm_base
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

# A killed casd leaves FUSE mounts of its sandboxes.
teardown() {
	[ -f casd.pid ] || return 0
	pkill -KILL -f "$PWD/casd" || true
	awk -v below="$PWD/casd" 'index($2, below) == 1 { print $2 }' /proc/mounts | xargs -r -n 1 umount -l
}

BUILD_WITH=(--kits archive)

farm_is() { # ENDPOINT [MEMBERS]
	remote_is "$1" '"instance": "main", "trust": ["'"$KEYS/ci.pem.pub"'"]'"${2:+, $2}"
}

@test "units are compiled by the farm and the rest here: the same bytes, and the store has them under its own keys" {
	farm_is "$GRPC" '"platform": ["OSFamily=linux"]'
	build -0 --executor remote --json --trace trace
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
	build -0
	nothing_ran
}

# Without an external function its names are made of the seed.
with_hidden_names() {
	cat > recipes/tiny/src/hidden.cu <<- 'END'
		namespace { __device__ int hidden; }
		template <typename T> __global__ void use(T *p) { *p = hidden; }
		template <typename T> void call(T *p) { use<T><<<1, 1>>>(p); }
		template void call<int>(int *);
	END
	sed -i 's/"module.cpp"/"module.cpp", "hidden.cu"/' recipes/tiny/1.0.json
}

@test "internal names of a unit are the same on the farm, from one nvcc and from its separate steps" {
	with_hidden_names
	build -0
	local sum
	sum=$(wheel_sum)
	anew
	with_hidden_names
	farm_is "$GRPC"
	build -0 --executor remote
	[ "$(wheel_sum)" = "$sum" ]
}

# The commands of kernel.cu that ran, "cicc compute_86", from the lines of a build.
ran_parts() {
	sed -nE '/from the store|] compile/d; s/.*] ([a-z+]+) kernel\.cu( \(([^)]*)\))?  .*/\1 \3/p' <<< "$stderr" |
		sed 's/ $//' | sort | tr '\n' ';'
}

@test "a unit for two architectures is compiled there by parts: the same bytes; this host has them under its own keys" {
	matrix m.json '"arch": ["8.0;8.6"]'
	build -0
	local sum
	sum=$(wheel_sum)
	anew
	matrix m.json '"arch": ["8.0;8.6"]'
	farm_is "$GRPC"
	build -0 --executor remote -v
	[ "$(wheel_sum)" = "$sum" ]
	[ "$(ran_parts)" = "cicc compute_80;cicc compute_86;cudafe++;fatbinary;host;preprocess;preprocess compute_80;\
preprocess compute_86;ptxas sm_80;ptxas sm_86;" ]
	[[ "$stderr" == *", 11 on the farm"* ]]
	[ "$(built '[.on_farm[].stage] | sort | unique | join(" ")')" = "cicc compile cudafe++ fatbinary host preprocess ptxas" ]

	rm -rf dist
	build -0
	nothing_ran
	matrix m.json '"arch": ["8.0;8.6;9.0"]'
	build -0 -v
	[[ "$(ran_parts)" == *"cicc compute_90;"*"ptxas sm_90;" ]]
	[[ "$(ran_parts)" != *"cicc compute_80;"* && "$(ran_parts)" != *"ptxas sm_8"* ]]
}

@test "a farm that is lost with what it kept of a unit: that is made again here, and the bytes are the same" {
	matrix m.json '"arch": ["8.0;8.6"]'
	build -0
	local sum
	sum=$(wheel_sum)
	anew
	matrix m.json '"arch": ["8.0;8.6"]'
	start_casd --jobs=2
	farm_is "$GRPC"
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote,local --json > events 2> log 3>&- &
	local wheelsmith=$! i
	for ((i = 0; i < 600; i++)); do
		! grep -q '"action-started".*"stage":"cicc"' events || break
		sleep 0.05
	done
	kill -KILL "$(cat casd.pid)"
	wait $wheelsmith || status=$?
	cat events log
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$sum" ]
	[ "$(grep -c '"action-done".*"stage":"preprocess","outcome":"ran".*"worker"' events)" -eq 3 ]
	[ "$(grep '"action-done".*"stage":"preprocess","outcome":"ran"' events | grep -vc '"worker"')" -ge 2 ]
	[ "$(grep -c '^warning.*built here' log)" -eq 1 ]
}

@test "a unit that fails there fails as it does here, with its log" {
	farm_is "$GRPC"
	echo 'this is no C++' >> recipes/tiny/src/module.cpp
	build -5 --executor remote
	[[ "$stderr" == *"'module.cpp' failed: g++ exited with 1"* ]]
	[[ "$stderr" == *"before 'this'"* ]]
}

@test "Ctrl-C takes back what the farm does" {
	lasting lasting 80
	farm_is "$GRPC"
	env --default-signal=INT "$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local wheelsmith=$! began i
	until_compiled lasting
	began=$SECONDS
	kill -INT $wheelsmith
	wait $wheelsmith || status=$?
	[ "$status" -eq 130 ]
	[ $((SECONDS - began)) -le 5 ]
	for ((i = 0; i < 50; i++)); do
		pgrep -f 'cc1plus.*lasting\.cpp' > /dev/null || break
		sleep 0.1
	done
	not pgrep -f 'cc1plus.*lasting\.cpp'
}

@test "a farm that is lost: one line, or what is left is built here" {
	lasting lasting 80
	build -0
	local sum
	sum=$(wheel_sum)
	anew
	lasting lasting 80
	start_casd --jobs=2
	farm_is "$GRPC"
	"$WHEELSMITH" build --matrix m.json --kits archive --executor remote 2> log 3>&- &
	local wheelsmith=$!
	until_compiled lasting
	kill -KILL "$(cat casd.pid)"
	wait $wheelsmith || status=$?
	cat log
	[ "$status" -eq 4 ]
	[ "$(grep -c "^error.*the farm at '127.0.0.1:$PORT'" log)" -eq 1 ]

	build -0 --executor remote,local
	[ "$(wheel_sum)" = "$sum" ]
	[ "$(grep -c '^warning.*built here' <<< "$stderr")" -eq 1 ]
}

@test "a server that keeps results and runs nothing says so" {
	start_casd
	farm_is "$GRPC"
	build --executor remote
	[ "$status" -ne 0 ]
	[[ "$stderr" == *"it has no Execution"* ]]
	build -0 --executor remote,local
	[ "$(wheel_sum)" = "$FIRST" ]
}

# The sandbox sees this host's /usr except one file.
casd_with() { # FILE INSTEAD
	start_casd --jobs=2 "--runner-arg=--ro-bind-mount=$2:$1"
	farm_is "$GRPC"
}

@test "workers with a different assembler: remote accepts them, remote,local does not" {
	local as other
	as=$(readlink -f /usr/bin/as)
	cp "$as" as
	printf x >> as
	casd_with "$as" "$PWD/as"
	build -0 --executor remote,local
	[[ "$stderr" == *"'/usr/bin/as' differs from that of this host: the rest is built here"* ]]
	[ "$(wheel_sum)" = "$FIRST" ]

	anew
	casd_with "$as" "$PWD/as"
	build -0 --executor remote --json
	[[ "$stderr" == *" 2 on the farm"* ]]
	# The wheel names its compiler and the one that linked it.
	unzip -p dist/*.whl '*.dist-info/*.json' > facts
	other=$(python3 -c 'import json, re, sys
texts = re.findall(r"\{.*?\n\}", open("facts").read(), re.S)
facts = [json.loads(t) for t in texts]
build = next(f for f in facts if "linker" in f)
assert build["linker"]["tools"] != build["compiler"]["tools"]
print(build["compiler"]["version"])')
	[ -n "$other" ]
	rm -rf dist
	build -0 --executor remote
	nothing_ran
	# Results of that farm do not count on this host.
	build -0
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "headers of the workers' own: their change is a miss, and what they were is a hit again" {
	local header=/usr/include/stdint.h
	cp $header stdint.h
	echo '/* of this farm */' >> stdint.h
	casd_with $header "$PWD/stdint.h"
	build -0 --executor remote
	[ "$(wheel_sum)" = "$FIRST" ] # a comment
	build
	[[ "$stderr" == *"ran"* ]]

	kill "$(cat casd.pid)"
	echo '/* and of today */' >> stdint.h
	casd_with $header "$PWD/stdint.h"
	rm -rf dist
	build -0 --executor remote
	[[ "$stderr" == *" 1 on the farm"* ]]

	kill "$(cat casd.pid)"
	head -n -1 stdint.h > before
	mv before stdint.h
	casd_with $header "$PWD/stdint.h"
	rm -rf dist
	build -0 --executor remote
	nothing_ran
}

@test "results of earlier workers with other headers do not count" {
	local header=/usr/include/stdint.h
	cp $header stdint.h
	echo '#define WS_DAY 1' >> stdint.h
	echo 'int day() { return WS_DAY; }' >> recipes/tiny/src/module.cpp
	casd_with $header "$PWD/stdint.h"
	build -0 --executor remote
	local before
	before=$(wheel_sum)

	kill "$(cat casd.pid)"
	sed -i 's/WS_DAY 1/WS_DAY 2/' stdint.h
	anew
	echo 'int day() { return WS_DAY; }' >> recipes/tiny/src/module.cpp
	casd_with $header "$PWD/stdint.h" # with what it kept
	build -0 --executor remote
	[ "$(wheel_sum)" != "$before" ]
	python3 -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("select answer from answers"))' "$WHEELSMITH_STORE/ledger.db" | grep -q "$header"
	rm -rf dist
	build --executor remote
	nothing_ran
}

@test "a build on the farm uses results of a desk after a worker confirmed the headers" {
	farm_is "$GRPC" '"access": "write", "key": "'"$KEYS"'/ci.pem"'
	build -0
	anew
	farm_is "$GRPC"
	build -0 --executor remote
	nothing_ran
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "workers without a compiler that the toolkit takes: one line, before anything is sent" {
	local compiler
	local -a hidden=()
	printf '#!/bin/sh\n' > none
	chmod +x none
	for compiler in /usr/bin/g++-[0-9]* /usr/bin/clang++-[0-9]*; do
		[ ! -e "$compiler" ] || hidden+=("--runner-arg=--ro-bind-mount=$PWD/none:$(readlink -f "$compiler")"
			"--runner-arg=--ro-bind-mount=$PWD/none:/bin/$(basename "$(readlink -f "$compiler")")")
	done
	start_casd --jobs=2 "${hidden[@]}"
	farm_is "$GRPC"
	build -5 --executor remote
	[[ "$stderr" == *"the workers of the farm have none"* ]]
	[[ "$stderr" == *"their image needs one"* ]]
}

# One line, exit status 4, and nothing ran.
cannot_use() { # ENDPOINT WORDS
	farm_is "$1"
	build -4 --executor remote
	[ "$(grep -c '^error' <<< "$stderr")" -eq 1 ]
	[[ "$(grep '^error' <<< "$stderr")" == *"$2"* ]]
	[[ "$stderr" != *"[ "* ]]
}

@test "a farm that cannot be used: one line, before anything is sent" {
	local port
	port=$(free_port)
	cannot_use "grpc://127.0.0.1:$port" "onnect"
	cannot_use "grpc://nowhere.invalid:8980" "nowhere.invalid"
	cannot_use "grpcs://${GRPC#grpc://}" "TLS"
	python3 -m http.server --bind 127.0.0.1 "$port" > /dev/null 2>&1 3>&- &
	local web=$!
	wait_for "$port"
	cannot_use "grpc://127.0.0.1:$port" "HTTP/2"
	kill $web
	remote_is "$GRPC" '"instance": "other", "access": "none"'
	build -4 --executor remote
	[ "$(grep -c '^error' <<< "$stderr")" -eq 1 ]
}

@test "a farm with untrusted results still compiles" {
	remote_is "$GRPC" '"instance": "main", "access": "none"'
	build -0 --executor remote
	[ "$(wheel_sum)" = "$FIRST" ]
}

@test "an impossible request is one line" {
	build -3 --executor remote
	[[ "$stderr" == *"no build farm: the user's configuration has no 'remote'"* ]]
	farm_is "$GRPC"
	build -2 --executor farm
	[[ "$stderr" == *"unknown executor 'farm'"* ]]
	build -2 --executor remote --offline
	if host_toolkit > /dev/null; then
		build -3 --executor remote --kits host
		[[ "$stderr" == *"CUDA 13.0 of this host is not sent to a farm"* ]]
	fi
	python3 -m venv --without-pip venv
	mkdir torch
	fake_torch torch
	unzip -q torch/*.whl -d venv/lib/python3.*/site-packages
	ws -3 build tiny==1.0 --recipes recipes --here --python venv/bin/python3 --arch 8.6 --cuda 13.0 --kits archive --executor remote
	[[ "$stderr" == *"torch "*" of this host is not sent to a farm"* ]]
}
