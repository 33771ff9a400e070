#!/usr/bin/env bats
# --against INDEX: what is published is not made again.
# timeout: 300

load base

teardown() {
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" 2> /dev/null || true
}

decision() { # INDEX; the decision and its reason
	"$WHEELSMITH" plan --json --matrix m.json --against "$1" > plan.json
	jq -r '.cells[] | .decision + ": " + .why' plan.json
}

@test "a folder: its wheel is neither built nor delivered again, until it is yanked or the request differs" {
	build -0
	"$WHEELSMITH" publish dist --to idx
	rm -rf dist store "$WHEELSMITH_STORE"
	[ "$(decision idx)" = "cached: in idx" ]
	python3 -c 'import jsonschema' 2> /dev/null && python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" plan.json
	run -0 "$WHEELSMITH" plan --matrix m.json --against idx
	[[ $output == *"cached"*"in idx"* ]]
	run -0 "$WHEELSMITH" build --matrix m.json --against idx
	[[ $output == *"0 ready, 0 failed, 0 not done, 0 excluded, 1 published"* ]]
	[ -z "$(compgen -G 'dist/*.whl')" ]
	[ "$(jq -r '.cells[] | .decision + ": " + .reason' dist/build.json)" = "cached: in idx" ]
	python3 -c 'import jsonschema' 2> /dev/null && python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" dist/build.json
	# The platform tag is not known before a build.
	cp -a idx other
	(cd other/current && chmod u+w index.json && sed -i 's/manylinux_2_[0-9]*_x86_64/linux_x86_64/g' index.json)
	[ "$(decision other)" = "cached: in other" ]
	matrix m.json '"arch": ["8.0"]'
	[[ $(decision idx) == "build: "* ]]
	# a published wheel that needs a newer glibc than requested does not count.
	(cd other/current && sed -i 's/linux_x86_64.linux_x86_64.whl/manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl/g' index.json)
	matrix m.json '"glibc": "2.24"'
	[[ $(decision other) == "build: "* ]]
	matrix m.json '"glibc": "2.27"'
	[ "$(decision other)" = "cached: in other" ]
	matrix m.json
	"$WHEELSMITH" publish --to idx --yank tiny==1.0 --reason 'wrong'
	[[ $(decision idx) == "build: "* ]]
}

@test "a URL; a server that is gone, and what is not an index" {
	build -0
	"$WHEELSMITH" publish dist --to idx
	rm -rf dist "$WHEELSMITH_STORE"
	# shellcheck disable=SC2034 # COPROC is read
	coproc python3 "$WS_ROOT/tests/support/index_server.py" idx log
	local word port
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	[ "$(decision "http://127.0.0.1:$port/all/simple")" = "cached: in http://127.0.0.1:$port/all/simple" ]
	[[ $(decision "http://127.0.0.1:$port/cu99/simple") == "build: "* ]]
	run -4 "$WHEELSMITH" build --matrix m.json --offline --against "http://127.0.0.1:$port/all/simple"
	[[ $output == *"offline"* ]]
	kill "$COPROC_PID"
	wait "$COPROC_PID" 2> /dev/null || true
	run -4 "$WHEELSMITH" plan --matrix m.json --against "http://127.0.0.1:$port/all/simple"
	[[ $output == *"cannot be reached"* ]]
	run -8 "$WHEELSMITH" plan --matrix m.json --against nowhere
	[[ $output == *"'nowhere' is not an index"* ]]
}
