#!/usr/bin/env bats
# Two wheelsmith processes on one store: they share the work and do not wait for dead processes.
# timeout: 300

load base

setup() {
	in_place
	only_host
	WORK=$WHEELSMITH_STORE/work
	children=()
}

# One more unit, before which its compiler waits.
add_waiting_unit() {
	recipe 'e["sources"].append("waiting.cpp")'
	touch recipes/tiny/src/waiting.cpp
	waiting_compiler BEFORE waiting.cpp
}

teardown() {
	local process
	for process in "${children[@]}"; do
		kill -9 "$process" 2> /dev/null || true
	done
	working_below "$WORK" | while read -r process _; do
		kill -9 "$process" 2> /dev/null || true
	done
}

# Starts `build` as NAME: NAME.out, NAME.err, its number in $child.
start() { # NAME ARGUMENTS
	touch "$1.err"
	hears_signals "$WHEELSMITH" build --matrix m.json "${@:2}" > "$1.out" 2> "$1.err" 3>&- &
	child=$!
	children+=("$child")
}

has_ended() { # PROCESS
	! kill -0 "$1" 2> /dev/null
}

# Its exit status, once it has ended.
end_of() { # NAME PROCESS
	wait_for 60 has_ended "$2"
	status=0
	wait "$2" || status=$?
	echo "== $1: $status"
	cat "$1.out" "$1.err"
}

# A process other than THAT, which has ended.
another_compiler_waits() { # THAT
	[ -n "$(compilers_that_wait)" ] && [ ! -e "/proc/$1" ]
}

actions_ran() { # FILE...
	sed -nE 's/^[0-9]+ actions: .*, ([0-9]+) ran$/\1/p' "$@" | awk '{ sum += $1 } END { print sum }'
}

@test "two builds of one matrix at the same time do each action once and deliver one wheel" {
	add_waiting_unit
	start one
	first=$child
	wait_for 60 one_compiler_waits
	start two
	second=$child
	wait_for 60 grep -q 'compile waiting.cpp.*another wheelsmith is making it' two.err
	go_on_compiling
	end_of one "$first"
	[ "$status" -eq 0 ]
	end_of two "$second"
	[ "$status" -eq 0 ]
	[ "$(actions_ran one.err two.err)" -eq 6 ]
	[ "$(cat one.out)" = "$(cat two.out)" ]
	[ "$(ls dist | grep -c 'whl$')" -eq 1 ]
	dist_is_whole
	[ -z "$(find dist -name '.*' -type f)" ]
	[ "$(ls "$WORK")" = keys ]
	# Also from an empty store and without a barrier.
	rm -r "$WHEELSMITH_STORE" dist
	from_base
	only_host
	for name in a b c; do
		start $name
	done
	end_of a "${children[2]}"
	[ "$status" -eq 0 ]
	end_of b "${children[3]}"
	[ "$status" -eq 0 ]
	end_of c "${children[4]}"
	[ "$status" -eq 0 ]
	[ "$(actions_ran a.err b.err c.err)" -eq 5 ]
	dist_is_whole
}

@test "a process that waits for a killed one takes over its work" {
	add_waiting_unit
	start one
	first=$child
	wait_for 60 one_compiler_waits
	start two -o other
	second=$child
	wait_for 60 grep -q 'another wheelsmith is making it' two.err
	held=$(compilers_that_wait)
	kill -9 "$first"
	end_of one "$first"
	[ "$status" -eq 137 ]
	wait_for 10 another_compiler_waits "$held"
	go_on_compiling
	end_of two "$second"
	[ "$status" -eq 0 ]
	dist_is_whole other
	not compgen -G 'dist/*.whl'
	# The next run removes the leftovers of the killed one.
	build -0
	[ "$(built .actions.ran)" -eq 0 ]
	[ "$(ls "$WORK")" = keys ]
}

@test "a process that waits for a failing compiler reports the failure, too, and Ctrl-C ends the wait" {
	add_waiting_unit
	echo '#error no' >> recipes/tiny/src/waiting.cpp
	start one
	first=$child
	wait_for 60 one_compiler_waits
	start two -o other
	second=$child
	start three -o third
	wait_for 60 grep -q 'another wheelsmith is making it' two.err
	wait_for 60 grep -q 'another wheelsmith is making it' three.err
	kill -INT "$child"
	end_of three "$child"
	[ "$status" -eq 130 ]
	go_on_compiling
	end_of one "$first"
	[ "$status" -eq 5 ]
	end_of two "$second"
	[ "$status" -eq 5 ]
	grep -q "'waiting.cpp' failed: g++ exited with 1" two.err
}

@test "two processes fetch a common download once" {
	mkdir -p www/files pure-1.0/pure recipes/pure
	head -c 300000 /dev/urandom > pure-1.0/pure/noise
	touch pure-1.0/pure/__init__.py
	tar czf www/files/pure-1.0.tar.gz pure-1.0
	serve "$PWD/www"
	cat > recipes/pure/1.0.json <<- END
		{"name": "pure", "version": "1.0", "python": {"packages": ["pure"]},
		 "source": [{"sdist": "pure-1.0.tar.gz",
		             "sha256": "$(sha256sum < www/files/pure-1.0.tar.gz | cut -d' ' -f1)"}]}
	END
	export WHEELSMITH_INDEX=http://127.0.0.1:$PORT/~file,slow=200000/simple
	matrix m.json '"packages": ["pure==1.0"]'
	start one
	first=$child
	wait_for 10 compgen -G "$WHEELSMITH_STORE/partial/*.part"
	start two
	end_of two "$child"
	[ "$status" -eq 0 ]
	grep -q "'pure-1.0.tar.gz' is being fetched by another process; waiting for it" two.err
	end_of one "$first"
	[ "$status" -eq 0 ]
	[ "$(grep -c pure-1.0.tar.gz "$ASKED")" -eq 1 ]
	dist_is_whole
	unserve
}
