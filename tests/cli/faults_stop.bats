#!/usr/bin/env bats
# Ctrl-C, SIGTERM, --timeout and kill -9 in the middle of real compilers: nothing keeps running, nothing
# half-written is left, and the next run goes on.
# labels: cuda
# timeout: 300

load base

setup() {
	in_place
	WORK=$WHEELSMITH_STORE/work
	touch err
}

teardown() {
	working_below "$WORK" | while read -r process _; do
		kill -9 "$process"
	done
}

# A kernel that keeps cicc busy for a minute, as long as count.h says so.
add_busy_unit() {
	recipe 'e["sources"].append("busy.cu")'
	cat > recipes/tiny/src/busy.cu <<- END
		#include "$PWD/count.h"
		__global__ void busy(float *x) {
			float a = x[0], b = x[1];
		#pragma unroll
			for (int i = 0; i < COUNT; i++) {
				a = sinf(a * b + i);
				b = cosf(b + a * i);
				if (a > b)
					x[i] = a;
			}
			x[2] = a + b;
		}
	END
	echo '#define COUNT 400' > count.h
}

is_busy() {
	[ "$(grep -c '\] compile ' err)" -eq 2 ] && working_below "$WORK" | grep -q '/cicc '
}

# Starts a build in the background.
start() { # ARGUMENTS
	hears_signals "$WHEELSMITH" build --matrix m.json "$@" > out 2> err 3>&- &
	child=$!
}

# The exit status of what was started, and how long it took to come.
ended() {
	local before=$SECONDS
	status=0
	wait "$child" || status=$?
	took=$((SECONDS - before))
	cat err
}

# Conditions after every kind of end.
all_is_quiet() {
	wait_for 4 nobody_works_below "$WORK"
	[ ! -s out ]
	[ -z "$(find dist -name '*.whl*' 2> /dev/null)" ]
	dist_is_whole
}

# The next run does what was not done, and no more.
goes_on() { # UNIT
	build -0
	[ "$(ran)" = "$(printf 'check tiny\ncompile %s\nlink tiny._C.so\npack tiny' "$1")" ]
	dist_is_whole
	[ "$(ls "$WORK")" = keys ]
}

@test "Ctrl-C at a terminal ends all compilers, and the next run continues" {
	add_busy_unit
	run -130 env TERM=dumb python3 "$WS_ROOT/tests/support/terminal.py" 80 --press "[ 2/6 ]" -- \
		"$WHEELSMITH" build --matrix m.json
	[[ "$output" == *"error: interrupted"*"finished work is kept: the same command continues from there"* ]]
	nobody_works_below "$WORK"
	[ "$(ls "$WORK")" = keys ]
	[ "$(ls dist)" = build.json ]
	[ "$(built '.cells[0].decision')" = cancelled ]
	[ "$(built .actions.ran)" -eq 2 ]
	echo '#define COUNT 2' > count.h
	goes_on busy.cu
}

@test "kill -9 leaves no process behind within seconds, and the next run continues" {
	add_busy_unit
	jq 'del(.cuda)' m.lock.json > less
	mv less m.lock.json
	start
	wait_for 60 is_busy
	kill -9 $child
	ended
	[ "$status" -eq 137 ]
	all_is_quiet
	# Its choices are pinned: the next run cannot choose differently.
	[ "$(jq '.cuda | length' m.lock.json)" -eq 1 ]
	echo '#define COUNT 2' > count.h
	goes_on busy.cu
}

@test "SIGTERM and --timeout end it with 75, and finished work is kept" {
	only_host
	add_waiting_unit
	start
	wait_for 60 is_waiting
	wait_for 60 grep -q 'compile module.cpp' err
	kill -TERM $child
	ended
	[ "$status" -eq 75 ]
	[ "$took" -le 3 ]
	[ "$(tail -n 2 err)" = "error: stopped by a signal
       finished work is kept: the same command continues from there" ]
	all_is_quiet
	build -75 --timeout 2
	[[ "$stderr" == *"error: out of time"* ]]
	[ "$(built .actions.ran)" -eq 0 ]
	all_is_quiet
	go_on
	goes_on waiting.cpp
}

@test "--timeout includes planning: an index that never answers does not hold the build up" {
	python3 -c '
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
time.sleep(100)' > port 3>&- &
	local server=$!
	wait_for 10 test -s port
	matrix m.json '"policy": "prefer-prebuilt"'
	start --timeout 1 --index "prebuilt=http://127.0.0.1:$(cat port)/simple"
	ended
	kill $server
	[ "$status" -eq 75 ]
	[[ "$(cat err)" == *"error: "*"out of time"* ]]
	[ "$took" -le 4 ]
}

# `build 2>&1 | head`: writing fails in the middle of the compilers.
@test "a reader that leaves a running build leaves no run folder" {
	only_host
	add_waiting_unit
	mkfifo says
	hears_signals env --default-signal=PIPE "$WHEELSMITH" build --matrix m.json > says 2>&1 3>&- &
	child=$!
	grep -m 1 '] compile ' < says
	go_on
	status=0
	wait "$child" || status=$?
	[ "$status" -eq 141 ]
	[ "$(ls "$WORK")" = keys ]
	dist_is_whole
}

# A compiler that does not mind being asked.
@test "a second Ctrl-C does not wait for those that will not end" {
	only_host
	deaf_compiler
	add_waiting_unit
	PATH=$PWD/bin:$PATH start
	wait_for 60 is_waiting
	kill -INT $child
	sleep 0.5
	kill -INT $child
	ended
	[ "$status" -eq 130 ]
	[ "$took" -le 3 ]
	all_is_quiet
}

deaf_compiler() {
	mkdir bin
	cat > bin/g++-12 <<- 'END'
		#!/bin/bash
		trap '' TERM INT
		/usr/bin/g++-12 "$@"
	END
	chmod +x bin/g++-12
}

# Kills at a system call: CALL:N, the Nth of that name.
killed_at() {
	run strace -o /dev/null -e "inject=${1%:*}:signal=KILL:when=${1#*:}" "$WHEELSMITH" build --matrix m.json
	echo "$1: $status"
	wait_for 4 nobody_works_below "$WORK"
	dist_is_whole
	[ "$status" -ne 137 ] || kills=$((kills + 1))
}

@test "whenever it is killed, nothing half-written is seen and the next run makes the same wheel" {
	strace -o /dev/null true || cannot_run "no strace"
	only_host
	kills=0
	for call in rename:6 rename:12 fsync:7; do
		killed_at $call
	done
	build -0
	sum=$(built '.cells[0].sha256')
	# While it delivers: everything is in the store, the output folder is new.
	for call in rename:1 rename:2 rename:3 rename:4 fsync:1 fsync:2; do
		rm -rf dist
		killed_at $call
	done
	[ $kills -ge 7 ]
	# Hidden parts are swept once they are an hour old: another host's numbers mean nothing here.
	find dist -name '.*' -exec touch -d '2 hours ago' {} +
	build -0
	[ "$(built '.cells[0].sha256')" = "$sum" ]
	[ "$(sha256sum < dist/*.whl | cut -d' ' -f1)" = "$sum" ]
	[ -z "$(find dist -name ".*")" ]
}
