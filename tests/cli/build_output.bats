#!/usr/bin/env bats
# Output of the program, its place and form: pipes, terminals of several kinds, JSON, and exit codes.
# timeout: 300

load base

teardown() {
	[ ! -p gate.h ] || go_on
}

# The same on a terminal; $output is all that came, escape codes included.
on_terminal() { # COLUMNS ARGUMENTS...
	run python3 "$WS_ROOT/tests/support/terminal.py" "$1" -- "$WHEELSMITH" build --matrix m.json "${@:2}"
	printf '%s\n' "$output" | cat -v
}

escapes='[[:cntrl:]]'

@test "in a pipe there are plain lines, and stdout has results alone" {
	build -0
	[ "$output" = "$(echo dist/*.whl)" ]
	not grep -q "$escapes" <<< "$stderr"
	[ "$(grep -c '^\[ [1-5]/5 \] ' <<< "$stderr")" -eq 5 ]
	grep -q '^\[ [1-5]/5 \] link tiny._C.so  [0-9.]* s cpu, [0-9]* MiB$' <<< "$stderr"
	grep -q '^1 ready, 0 failed, 0 not done, 0 excluded; ' <<< "$stderr"
	# Failures too: the compiler's own colours are off.
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -5
	[ -z "$output" ]
	not grep -q "$escapes" <<< "${stderr//$'\t'/}"
}

@test "the line that installs the wheel runs as it is printed, also where Python is externally managed" {
	mkdir -p host/bin "host/lib/python$PY"
	touch "host/lib/python$PY/EXTERNALLY-MANAGED"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$(python3 -c 'import sys; print(sys.executable)')" > "host/bin/python$PY"
	chmod +x "host/bin/python$PY"
	export PATH=$PWD/host/bin:$PATH
	build -0
	local line
	line=$(sed -n 's/^install:  //p' <<< "$stderr")
	[ "$line" = "python$PY -m venv .venv && .venv/bin/pip install $(echo dist/*.whl)" ]
	PIP_NO_DEPS=1 bash -e -c "$line"
	.venv/bin/pip show tiny
	VIRTUAL_ENV=$PWD/.venv build
	[[ "$stderr" == *"install:  pip install $(echo dist/*.whl)" ]]
}

@test "each environment has its requirements file named" {
	matrix m.json '"arch": ["8.6", "9.0"]'
	build -0
	local named=() file
	for file in dist/requirements*.txt; do
		grep -qF -- "-r $file" <<< "$stderr" || return 1
		named+=("$file")
	done
	[ ${#named[@]} -eq 2 ]
}

@test "-q says nothing but results, warnings and errors" {
	build -0 -q
	[ "$output" = "$(echo dist/*.whl)" ]
	[ -z "$stderr" ]
	MAX_JOBS=8 build -0 -q # nothing is compiled
	[ -z "$stderr" ]
	grep -rl '^wheelsmith.cell/2' "$WHEELSMITH_STORE/ac" | xargs rm
	LIBRARY_PATH=/nowhere build -0 -q # nor now, though a wheel is to be built: the store has all parts
	[ -z "$stderr" ]
	[ "$(built .actions.ran)" -eq 0 ]
	echo '#error no' >> recipes/tiny/src/module.cpp
	MAX_JOBS=8 build -5 -q
	[ "$(head -n 1 <<< "$stderr")" = "warning: set in the environment and ignored: MAX_JOBS (instead: -j N, or --memory SIZE)" ]
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ exited with 1"* ]]
}

@test "a line on a terminal stays within 60 columns" {
	TERM=xterm on_terminal 60
	[ "$status" -eq 0 ]
	# Every drawing of the line: what stands between a carriage return and the erasure behind it.
	drawn=$(tr '\r' '\n' <<< "$output" | grep $'\e\\[K')
	[ "$(grep -c '^\[ [0-5]/5 \] ' <<< "$drawn")" -ge 2 ]
	python3 - "$drawn" <<- 'END'
		import re, sys
		for line in sys.argv[1].split("\n"):
		    shown = re.sub("\x1b\\[[0-9;]*[mK].*", "", line)
		    assert len(shown) < 60, shown
	END
	# No finished action has a line of its own there.
	not grep -q 'cpu, ' <<< "$output"
}

@test "TERM=dumb is a pipe, NO_COLOR is a terminal without colours" {
	echo '#error no' >> recipes/tiny/src/module.cpp
	TERM=xterm on_terminal 80
	[ "$status" -eq 5 ]
	[[ "$output" == *$'\e[1;31merror:\e[0m'* ]]
	NO_COLOR=1 TERM=xterm on_terminal 80
	[ "$status" -eq 5 ]
	[[ "$output" == *$'\e[K'* ]]
	[[ "$output" != *$'\e['[0-9]* ]]
	TERM=dumb on_terminal 80
	[ "$status" -eq 5 ]
	[[ "$output" != *$'\e'* ]]
	[[ "$output" == *" ] compile module.cpp "*"FAILED"* ]]
}

@test "a failure is reported in full when it happens, on a terminal too, and once" {
	add_waiting_unit
	echo '#error no' >> recipes/tiny/src/module.cpp
	TERM=xterm python3 "$WS_ROOT/tests/support/terminal.py" 200 -- "$WHEELSMITH" \
		build --matrix m.json -k -j2 > said 3>&- &
	child=$!
	wait_for 30 is_waiting
	wait_for 30 grep -q "'module.cpp' failed: g++ exited with 1" said
	is_waiting
	grep -q ' ] compile module.cpp .*  FAILED' said
	grep -q '^  \$ .*module.cpp' said
	grep -q 'error: #error no' said
	wait_for 5 grep -q "shell: wheelsmith shell $CELL --unit module.cpp --matrix m.json" said
	go_on
	status=0
	wait "$child" || status=$?
	cat -v said
	[ "$status" -eq 5 ]
	[ "$(grep -c "'module.cpp' failed: g++" said)" -eq 1 ]
	[ "$(grep -c 'error: #error no' said)" -eq 1 ]
	[ "$(built '.failures | length')" -eq 1 ]
}

@test "a wheel is printed, in dist/ and required as soon as it is packed" {
	add_waiting_unit
	cp -r recipes/tiny recipes/other
	sed -i 's/"tiny", "version"/"other", "version"/; s/, "waiting.cpp"//' recipes/other/1.0.json
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"]'
	"$WHEELSMITH" build --matrix m.json > out.txt 2> said 3>&- &
	child=$!
	wait_for 60 test -s out.txt
	is_waiting
	[ "$(cat out.txt)" = "$(echo dist/other-1.0*.whl)" ]
	wait_for 5 grep -q other dist/requirements.txt
	[ "$(built '.cells[] | "\(.package) \(.decision)"' | xargs)" = "tiny cancelled other build" ]
	kill -9 "$child"
	wait "$child" || true
	pip download -q --no-deps --no-index --require-hashes --find-links dist -d got -r dist/requirements.txt
	go_on
	# The next run has other cells; the wheels of the first run stay required.
	build -0 --only 'tiny*'
	[ "$(grep -c '==' dist/requirements.txt)" -eq 2 ]
	[ "$(built '.cells[].package, .earlier[].package' | xargs)" = "tiny other" ]
	rm dist/other*.whl
	build --only 'tiny*'
	[ "$(grep -c '==' dist/requirements.txt)" -eq 1 ]
}

@test "each log keeps its own text, whatever other units are called" {
	mkdir recipes/tiny/src/{a,b}
	printf '#ifdef FAIL\n#error of the second\n#else\n#warning fine\n#endif\n' > recipes/tiny/src/a/ops.cpp
	echo '#error of b' > recipes/tiny/src/b/ops.cpp
	recipe 'e["sources"] += ["a/ops.cpp", "b/ops.cpp"]; r["extensions"].append({"module": "tiny._D",
	        "binding": "pybind", "sources": ["a/ops.cpp"], "cxx_flags": ["-DFAIL"]})'
	build -5 -k
	[ "$(ls "dist/logs/$CELL")" = $'a-ops.cpp-2.log\na-ops.cpp.log\nb-ops.cpp.log' ]
	[ "$(built '.failures | length')" -eq 2 ]
	grep -q '#warning fine' "dist/logs/$CELL/a-ops.cpp.log"
	grep -q '#error of b' "$(built '.failures[] | select(.command | contains("b/ops.cpp")) | .log')"
	grep -q '#error of the second' "$(built '.failures[] | select(.command | contains("a/ops.cpp")) | .log')"
}

@test "--json is one object a line, each with its schema" {
	build -0 --json
	jq -es 'all(.[]; .schema == "wheelsmith.event/1" and (.at_ms | type) == "number")' <<< "$output"
	[ "$(jq -r 'select(.event == "action-done") | .stage' <<< "$output" | sort | xargs)" = "check compile compile link pack" ]
	[ "$(jq -r 'select(.event == "cell-done") | .subject' <<< "$output")" = "$CELL" ]
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -5 --json
	[ "$(jq -r 'select(.outcome == "failed") | .detail' <<< "$output")" = "'module.cpp' failed: g++ exited with 1" ]
}

@test "the step summary of GitHub names cells and wheels" {
	GITHUB_STEP_SUMMARY=$PWD/summary.md build -0
	grep -q "^| \`$CELL\` | ready | tiny-1.0.*\.whl | [0-9]* kB |$" summary.md
}

@test "an error that is the same for several Pythons is printed once" {
	second_python
	matrix m.json "\"packages\": [\"tiny==1.0\"], \"python\": [\"$PY\", \"$AT2\"]"
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -5 --keep-going
	[ "$(grep -c 'error: #error no' <<< "$stderr")" -eq 1 ]
	[ "$(grep -c "error: 'module.cpp' failed: g++ exited with 1" <<< "$stderr")" -eq 1 ]
	grep -q "/cp${PY2/./}/sm86: compile: 'module.cpp' failed as for $CELL; log: dist/logs/.*module.cpp.log$" <<< "$stderr" ||
		grep -q "^$CELL: compile: 'module.cpp' failed as for .*; log: dist/logs/.*module.cpp.log$" <<< "$stderr"
	[[ "$stderr" == *"error: 2 of 2 cells failed"* ]]
}
