#!/usr/bin/env bats
# explain as a user runs it. The meaning of each error: tests/cases/explain.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	export COLUMNS=120
	error='ImportError: /v/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE'
}

@test "a word like the name of a file that is missing is reported" {
	run -1 --separate-stderr "$WHEELSMITH" explain nosuch.log
	# shellcheck disable=SC2154 # bats sets it
	[ "$stderr" = "there is no file 'nosuch.log': the word itself is explained" ]
}

@test "an error as a word, a file, and on standard input" {
	run -0 "$WHEELSMITH" explain "$error"
	[[ $output == "cause "*"built for cxx11abi 1; this torch is cxx11abi 0"* ]]
	[[ $output == *"torch 2.3.1 to 2.6.0 has it for cxx11abi 0"* ]]
	[[ $output == *"wheelsmith build flash-attn==2.8.3.post2 --here"* ]]
	local said=$output
	echo "$error" > error.txt
	run -0 "$WHEELSMITH" explain error.txt
	[ "$output" = "$said" ]
	run -0 "$WHEELSMITH" explain - < error.txt
	[ "$output" = "$said" ]
	run -0 "$WHEELSMITH" explain < error.txt
	[ "$output" = "$said" ]
	[ ! -e "$WHEELSMITH_STORE" ]
}

@test "an unknown text is reported as unknown" {
	run -1 --separate-stderr "$WHEELSMITH" explain "ValueError: no"
	[ "$output" = "this text has no known error" ]
	# shellcheck disable=SC2154 # bats sets it
	[ -z "$stderr" ]
	run -1 "$WHEELSMITH" explain --json "ValueError: no"
	[ "$(jq -c .explanations <<< "$output")" = "[]" ]
	run -1 "$WHEELSMITH" explain < /dev/null
}

@test "JSON is what its schema says" {
	python3 -c 'import jsonschema' 2> /dev/null || cannot_run "python3 has no jsonschema (./dev setup)"
	"$WHEELSMITH" explain --json "$error" > said
	run -0 python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" said
	[ "$output" = "1 explain-1" ]
	[ "$(jq -r '.explanations[0].captures.symbol' said)" = "${error##* }" ]
}

# A log of 40 MB on one line, and one of as many lines; and what a terminal must not get.
@test "a long log takes little memory, wherever the error stands" {
	python3 - "$error" <<- 'PYTHON'
		import sys
		with open("line", "w") as f:
		    f.write("x" * 40_000_000 + " " + sys.argv[1] + " " + "y" * 1_000_000)
		with open("lines", "w") as f:
		    f.write("note: nothing\n" * 3_000_000 + sys.argv[1] + "\n")
	PYTHON
	local log
	for log in line lines; do
		python3 - "$WHEELSMITH" "$log" <<- 'PYTHON'
			import resource, subprocess, sys
			out = subprocess.run([sys.argv[1], "explain", "--json", sys.argv[2]], capture_output=True, check=True).stdout
			assert b"cxx11abi 1" in out
			peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
			print(sys.argv[2], peak // 1024, "MiB")
			assert peak < 64 * 1024
		PYTHON
	done
	run -0 "$WHEELSMITH" explain --json lines
	[ "$(jq '.explanations[0].line' <<< "$output")" = 3000001 ]
}

@test "a text that is made to harm does not" {
	# Control sequences are not printed.
	run -0 "$WHEELSMITH" explain $'\e[31mx\e]0;pwn\a.so: undefined symbol: \xff\xfe\x01f'
	[[ $output != *$'\e'* ]]
	[[ $output != *$'\x01'* ]]
	# A name that demangles to gigabytes: the process is bounded, the answer comes without it.
	local name=_Z1fIiiEvT_ i
	name=_ZN1a
	for i in $(seq 40); do name+="IS_S_"; done
	run -0 timeout 100 "$WHEELSMITH" explain "x.so: undefined symbol: ${name}Ev"
	# text of an error is never part of a command.
	# shellcheck disable=SC2016 # it must not run
	run -0 "$WHEELSMITH" explain 'ERROR: HTTP error 404 while getting https://h/$(touch${IFS}x)-1.0+torch2.4-cp310-cp310-linux_x86_64.whl'
	! grep -q 'wheelsmith.*touch' <<< "$output"
}

@test "a file that cannot be read, and a table that has a mistake" {
	mkdir folder
	run -5 "$WHEELSMITH" explain folder
	mkdir -p prefix/bin prefix/share/wheelsmith
	cp "$WHEELSMITH" prefix/bin/
	cp -r "$WS_ROOT/matrix" "$WS_ROOT/recipes" prefix/share/wheelsmith/
	sed -i 's/No space left on device/{x}/' prefix/share/wheelsmith/matrix/facts/signs.json
	run -3 prefix/bin/wheelsmith explain x
	[[ $output == *"signs.json:"*"this is not a pattern: its text must begin with a word"* ]]
}

# the command contains the known environment of a module; a package without a recipe needs one.
@test "an environment on this host is read, not run" {
	local packages="$PWD/venv/lib/python3.11/site-packages"
	mkdir -p venv/bin "$packages/torch-2.5.1+cu124.dist-info" "$packages/demo_ops-1.0.dist-info"
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" > venv/bin/python3.11
	chmod +x venv/bin/python3.11
	echo 'demo_ops/_C.so,,' > "$packages/demo_ops-1.0.dist-info/RECORD"
	run -0 "$WHEELSMITH" explain "ImportError: $packages/demo_ops/_C.so: undefined symbol: ${error##* }"
	flat=$(tr -s ' \n' ' ' <<< "$output")
	[[ $flat == *"demo_ops._C does not find a symbol: it was built for cxx11abi 1; torch 2.5.1+cu124 is cxx11abi 0"* ]]
	[[ $flat == *"wheelsmith build demo-ops==1.0 --here --python $PWD/venv/bin/python3.11 --recipes recipes"* ]]
	[[ $flat == *"it has no recipe yet; first: wheelsmith recipe new demo-ops==1.0 -o recipes/"* ]]
	[ ! -e ran ]
}
