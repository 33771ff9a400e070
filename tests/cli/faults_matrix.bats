#!/usr/bin/env bats
# A matrix without a result: the message, its place, and the exit status.

load building

setup() {
	own_home
	cd "$BATS_TEST_TMPDIR" || return
	export WHEELSMITH_INDEX=http://127.0.0.1:9/simple
	tiny "$PWD"
}

# `build`, `plan` and `fetch` refuse m.json alike: exit 3, this message, and no folder for wheels.
refused() { # MESSAGE
	local command
	for command in build plan fetch; do
		ws -3 "$command" --matrix m.json
		[ -z "$output" ]
		[ "$stderr" = "$1" ]
		[ ! -e dist ]
	done
}

@test "an axis without values is an error at its place" {
	for axis in torch cuda python arch; do
		printf '{"packages": ["tiny==1.0"],\n "recipes": "recipes", "%s": []}\n' $axis > m.json
		column=$((28 + ${#axis}))
		refused "m.json:2:$column: error: '$axis' is an empty list
    2 |  \"recipes\": \"recipes\", \"$axis\": []}
      | $(printf '%*s' $((column - 1)) '')^~
       name at least one value, or leave the key out"
	done
	echo '{"packages": [], "torch": ["2.11.0"]}' > m.json
	refused 'm.json:1:14: error: '\''packages'\'' is an empty list
    1 | {"packages": [], "torch": ["2.11.0"]}
      |              ^~
       name at least one value'
}

@test "an empty matrix, or one of a wrong kind, is an error at its place" {
	echo '{}' > m.json
	refused 'm.json:1:1: error: a matrix needs '\''packages'\''
    1 | {}
      | ^~
       like this: "packages": ["causal-conv1d==1.5.3.post1"]'
	: > m.json
	refused "m.json:1:1: error: expected a value, found the end of the text
    1 | 
      | ^"
	echo '[]' > m.json
	refused "m.json:1:1: error: expected an object, got a list
    1 | []
      | ^~"
	rm m.json
	refused "error: the matrix 'm.json' does not exist"
}

@test "a matrix of which every cell is excluded says why; planning it is not an error" {
	matrix m.json '"exclude": [{"torch": "2.11.0", "why": "not needed"}]'
	local command
	for command in build fetch; do
		ws -3 $command --matrix m.json
		[ -z "$output" ]
		[ "$stderr" = "error: every cell is excluded; the first: not needed
       the details:  wheelsmith plan --why '$CELL' --matrix m.json --store $WHEELSMITH_STORE" ]
		[ ! -e dist ]
	done
	ws -0 plan --matrix m.json
	[[ "$output" == *"1 excluded: not needed (1)"*"total: nothing to build"* ]]
	matrix m.json '"cuda": ["12.4"]'
	build -3
	[[ "$stderr" == *"error: every cell is excluded; the first: torch $TORCH is a CUDA 13 build"* ]]
	# Part of a matrix may be empty: the other machines have the rest.
	matrix m.json
	local statuses=
	for part in 1 2; do
		build --offline --shard $part/2
		statuses+=" $status"
	done
	[ "$(xargs -n1 <<< "$statuses" | sort -n | xargs)" = "0 4" ]
	build -2 --only 'other*'
	[[ "$stderr" == *"error: no cell is called 'other*'"* ]]
}
