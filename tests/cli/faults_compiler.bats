#!/usr/bin/env bats
# Compilers that crash, hang, or are killed for memory.
# timeout: 300

load base

LIMIT=60 # of one command: a deadline that does not work is a failed assertion

setup() {
	in_place
	only_host
	WORK=$WHEELSMITH_STORE/work
}

teardown() {
	local process
	[ -d "${GROUP:-}" ] || return 0
	while read -r process; do
		kill -9 "$process" 2> /dev/null || true
	done < "$GROUP/cgroup.procs"
	wait_for 10 rmdir "$GROUP" 2> /dev/null
}

# A compiler before the others on PATH: the real one, except for units that hold "MARK".
other_compiler() { # WHAT IT DOES THEN
	mkdir bin
	cat > bin/g++-12 <<- END
		#!/bin/bash
		for word; do
			case \$word in
			src/*) if grep -q MARK "\$word"; then $1; fi ;;
			esac
		done
		exec /usr/bin/g++-12 "\$@"
	END
	chmod +x bin/g++-12
	export PATH=$PWD/bin:$PATH
	echo '// MARK' >> recipes/tiny/src/module.cpp
}

@test "a compiler that crashes is not taken for an error in the sources" {
	other_compiler 'kill -SEGV $$'
	build -5
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ was ended by signal 11 (Segmentation fault)"* ]]
	[[ "$stderr" == *"the compiler itself crashed; run it again, and if it crashes in the same"* ]]
	[[ "$stderr" == *"place, another version of g++ is the cure"* ]]
	dist_is_whole
	[ -z "$(find dist -name '*.whl')" ]
	# As gcc's own driver says it when a part of it crashes.
	sed -i 's/kill -SEGV \$\$/echo "module.cpp:1: internal compiler error: Segmentation fault" >\&2; exit 4/' bin/g++-12
	build -5
	[[ "$stderr" == *"  module.cpp:1: internal compiler error: Segmentation fault"* ]]
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ exited with 4"*"the compiler itself crashed"* ]]
	# The one that crashed made nothing that is kept: without it all is well.
	rm -r bin
	build -0
	[ "$(built .actions.ran)" -ge 4 ]
}

@test "a compiler that succeeds and writes nothing is a failure" {
	other_compiler 'exit 0'
	build -5
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ succeeded but wrote no 'unit.o'"* ]]
}

@test "a compiler that hangs is ended at its deadline, whatever it does about it" {
	add_waiting_unit
	build -5 --action-timeout 2
	[[ "$stderr" == *"error: 'waiting.cpp' timed out after 2."*" s (g++)"* ]]
	[[ "$stderr" == *"if it needs more time: --action-timeout SECONDS"* ]]
	nobody_works_below "$WORK"
	[ "$(built '.cells[0].decision')" = failed ]
	# a compiler that ignores TERM is killed after five seconds.
	other_compiler 'trap "" TERM; sleep 60'
	before=$SECONDS
	build -5 --action-timeout 1
	[ $((SECONDS - before)) -le 15 ]
	[[ "$stderr" == *"error: 'module.cpp' timed out after 6."*" s (g++)"* ]]
	nobody_works_below "$WORK"
	# The deadline is not a part of the key: finished work stays.
	sed -i '/MARK/d' recipes/tiny/src/module.cpp
	go_on
	build -0
	[ "$(ran)" = $'check tiny\ncompile module.cpp\ncompile waiting.cpp\nlink tiny._C.so\npack tiny' ]
}

# ---- memory ----

# $GROUP: processes in it get so much memory and no more.
memory_group() { # BYTES
	local parent
	if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
		GROUP=/sys/fs/cgroup/memory/wheelsmith-$$
		mkdir "$GROUP" && echo "$1" > "$GROUP/memory.limit_in_bytes" && return
	elif [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		# Below the nearest one that hands memory on: those with processes in them may not.
		parent=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
		parent=${parent%/}
		until grep -qw memory "$parent/cgroup.subtree_control" || [ "$parent" = /sys/fs/cgroup ]; do
			parent=${parent%/*}
		done
		{ echo +memory > "$parent/cgroup.subtree_control"; } 2> /dev/null || true
		GROUP=$parent/wheelsmith-$$
		mkdir "$GROUP" && echo "$1" > "$GROUP/memory.max" && echo 0 > "$GROUP/memory.swap.max" && return
	fi
	cannot_run "no memory group can be made"
}

in_group() { # COMMAND...
	sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$GROUP" "$@"
}

# A unit whose compiler waits at one gate, reads N times a million tokens, and waits at another. Measured:
# 3 are 343 MiB and 8 are 669, and translating them takes no more.
add_large_unit() { # NAME N
	recipe "e['sources'].append('$1')"
	recipe 'r["estimates"] = [{"match": "*", "rss_mib": 10}]'
	{
		printf '#include "%s"\n#define B0 ;;;;\n' "$PWD/first/h"
		for ((i = 0; i < 9; i++)); do
			echo "#define B$((i + 1)) B$i B$i B$i B$i"
		done
		for ((i = 0; i < $2; i++)); do
			echo B9
		done
		printf '#include "%s"\n' "$PWD/gate/h"
	} > "recipes/tiny/src/$1"
}

two_wait() {
	[ "$(working_below "$WORK" | grep -c cc1plus)" -eq 2 ] && [ "$(grep -c '\] compile' err)" -eq 2 ]
}

@test "an action that is killed for memory runs again alone, and the build succeeds" {
	memory_group 500000000
	add_large_unit one.cpp 3
	add_large_unit two.cpp 3
	make_gate first
	make_gate gate
	in_group "$WHEELSMITH" build --matrix m.json -j 2 --memory 8G > out 2> err 3>&- &
	child=$!
	wait_for 60 two_wait
	go_on first
	wait_for 60 grep -q 'killed for memory, will run again alone' err
	go_on gate
	status=0
	wait $child || status=$?
	cat err
	[ "$status" -eq 0 ]
	[ "$(grep -c 'killed for memory' err)" -ge 1 ]
	[ "$(built '.actions.failed')" -eq 0 ]
	[ "$(built '.actions.ran')" -eq 7 ]
	dist_is_whole
}

@test "an action that is killed for memory twice is a clear error, and other results are kept" {
	memory_group 500000000
	add_large_unit large.cpp 8
	mkdir first gate
	touch first/h gate/h
	run -5 --separate-stderr in_group "$WHEELSMITH" build --matrix m.json --memory 8G --keep-work
	[ -z "$output" ]
	[[ "$stderr" == *"compile large.cpp "*"killed for memory, will run again alone"* ]]
	[[ "$stderr" == *"error: 'large.cpp' was killed (out of memory) after "* ]]
	[[ "$stderr" == *"it held 0."*" GiB; it was run again alone and was killed again"* ]]
	[[ "$stderr" == *"free memory, or build on a host with more"* ]]
	[ -f "$(sed -n 's/^ *folder: //p' <<< "$stderr")/src/large.cpp" ]
	nobody_works_below "$WORK"
	# Outside of the group there is enough.
	build -0
	[ "$(ran)" = $'check tiny\ncompile large.cpp\nlink tiny._C.so\npack tiny' ]
}
