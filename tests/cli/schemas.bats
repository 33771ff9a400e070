#!/usr/bin/env bats
# The output of the program matches schemas/, member by member.
# timeout: 300

load base

setup() {
	python3 -c 'import jsonschema' 2> /dev/null || cannot_run "python3 has no jsonschema (./dev setup)"
	in_place
	only_host
}

# Validates files, or stdin; $output says what there was.
valid() { # [FILE...]
	run python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

plan() { # ARGUMENTS
	"$WHEELSMITH" plan --json "$@" > plan.json
}

@test "plans: to build, cached, excluded, with archs that were dropped" {
	plan --matrix m.json
	valid plan.json
	[ "$output" = "1 plan-1" ]
	build
	plan --matrix m.json
	valid plan.json
	[ "$(jq -r '.cells[].decision' plan.json)" = cached ]
	recipe 'r["known_bad"] = [{"when": {"arch": "8.6"}, "why": "wrong results", "see": "somewhere"}]'
	recipe 'r["archs"] = ["8.6", "9.0"]'
	matrix m.json '"torch": ["2.5.1", "2.11.0"], "arch": ["8.6", "7.5;8.6;9.0"], "policy": "build-only"'
	plan --matrix m.json
	valid plan.json
	[ "$(jq -c '[.cells[].dropped_archs[].rule] | unique' plan.json)" = '["archs","known-bad"]' ]
	[ "$(jq -c '[.totals.excluded_by | keys[]]' plan.json)" = '["archs","torch-cuda"]' ]
}

@test "plans: of what ships, and with a fallback" {
	for file in "$WS_ROOT"/matrix/*.json; do
		[[ $file == *.lock.json ]] || plan --matrix "$file"
		valid plan.json
	done
	matrix m.json '"policy": "prebuilt-only", "fallback": {"tiny": "plain torch"}'
	plan --matrix m.json
	valid plan.json
	[ "$(jq -r '.cells[].decision' plan.json)" = fallback ]
}

@test "a build: its events, its record, its lock, its wheel" {
	# torch brings a libnccl, whose names ship, so every symbol is looked up.
	sed -i 's/^static.*answer/extern "C" int ncclGetVersion(int *);\n&/; s/42/ncclGetVersion(nullptr)/' recipes/tiny/src/module.cpp
	"$WHEELSMITH" build --matrix m.json --json > events
	valid events
	[[ $output == *" event-1" ]]
	valid dist/build.json
	valid m.lock.json
	"$WHEELSMITH" inspect --json dist/*.whl > inspect.json
	valid inspect.json
	[ "$(jq -r .verdict inspect.json)" = sound ]
	unzip -p dist/*.whl '*.dist-info/wheelsmith.json' > wheel.json
	valid wheel.json
	[ "$(jq -c '.measured.modules[] | [.module, .assumed, .unread]' wheel.json)" = '["tiny._C",0,[]]' ]
}

@test "a build that fails" {
	echo '#error no' >> recipes/tiny/src/module.cpp
	other_package
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"], "torch": ["2.5.1", "2.11.0"]'
	"$WHEELSMITH" build --matrix m.json --json > events || [ $? -eq 5 ]
	valid events dist/build.json
	# Both packages' units fail when both had started.
	[ "$(jq -r 'select(.outcome == "failed") | .event' events | sort -u)" = action-done ]
	[ "$(jq '[.cells[] | select(.decision == "failed")] | length' dist/build.json)" -ge 1 ]
}

# The four ways to sources and the three to a toolkit: the program reads what the schema allows.
locks() {
	local x=0123456789abcdef
	x=$x$x$x$x
	cat <<- END
		{"schema": "wheelsmith.lock/1",
		 "sources": [
		  {"package": "a", "version": "1", "how": "sdist", "from": "a-1.tar.gz", "sha256": "$x", "tree": "$x"},
		  {"package": "b", "version": "1", "how": "git", "from": "https://example.com/b", "commit": "${x:0:40}", "tree": "$x"},
		  {"package": "d", "version": "1", "how": "folder", "from": "/d", "tree": "$x"}],
		 "cuda": [
		  {"cuda": "12.4", "how": "archive", "name": "cuda-12.4", "digest": "$x", "definition": "$x", "debian": "mirror"},
		  {"cuda": "12.6", "how": "redist", "name": "cuda-12.6", "digest": "$x", "definition": "$x"},
		  {"cuda": "13.0", "how": "host", "name": "/usr/local/cuda", "digest": "$x"}],
		 "torch": [
		  {"torch": "2.5.1+cu121", "wheel": "torch.whl", "record": "$x", "tree": "$x", "cuda": "12.1", "cxx11abi": 0}]}
	END
}

@test "a lock of every kind is what the program reads" {
	locks > m.lock.json
	valid m.lock.json
	ws -0 plan --matrix m.json
	local change
	for change in 's/"how": "git"/"how": "hg"/' 's/"how": "host"/"how": "guest"/' 's/"mirror"/"server"/' \
		's/"cxx11abi": 0/"cxx11abi": 2/' 's/"tree": "0/"tree": "x/' 's/, "tree": "[0-9a-f]*"}\],/}],/' \
		's/"package": "a"/"packages": "a"/' 's/lock.1/lock\/2/'; do
		locks | sed "$change" > m.lock.json
		echo "$change"
		ws -3 plan --matrix m.json
		run ! python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" m.lock.json
	done
}

@test "the page of doctor" {
	"$WHEELSMITH" doctor --json > page || [ $? -eq 1 ]
	valid page
	CC=x PATH=/nowhere "$WHEELSMITH" doctor --json > page || [ $? -eq 1 ]
	valid page
	[ "$(jq -r '.problems[].part' page | grep -c ignored)" -eq 1 ]
}

@test "a check of recipes, right and wrong" {
	"$WHEELSMITH" recipe check --json recipes/tiny/1.0.json > right
	valid right
	recipe 'e["sources"].append("missing.cu")'
	cp recipes/tiny/1.0.json recipes/tiny/1.1.json
	echo '{"name": 1}' > recipes/tiny/1.2.json
	"$WHEELSMITH" recipe check --json recipes/tiny/*.json > wrong || [ $? -eq 3 ]
	valid wrong
	[ "$(jq '[.recipes[].problems[]] | length' wrong)" -ge 3 ]
}

@test "a member that no schema knows is noticed" {
	plan --matrix m.json
	jq '.cells[0].colour = "red"' plan.json > odd.json
	run -1 python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" odd.json
	[[ $output == *"'colour' was unexpected"* ]]
}
