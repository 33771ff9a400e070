#!/usr/bin/env bats
# plan --github: job matrices that GitHub takes, and a warning where it takes no more.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p recipes
	# shellcheck disable=SC2016 # jq's
	jq -n '{packages: [range(17) | "p\(.)==1.0"], torch: ["2.5.1"], cuda: ["12.4"], python: ["3.11"],
		arch: ["5.0", "6.0", "7.0", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "7.5;8.0", "7.5;8.6", "7.5;8.9",
		"8.0;8.6", "8.0;8.9", "8.0;9.0", "8.6;9.0"], recipes: "recipes"}' > fleet.json
	local i
	for i in {0..16}; do
		mkdir -p "recipes/p$i"
		jq -n --arg name "p$i" '{name: $name, version: "1.0", source: [{folder: "src"}],
			extensions: [{module: $name, binding: "pybind", sources: ["a.cu"]}]}' > "recipes/p$i/1.0.json"
	done
}

jobs_of() { # option...
	run -0 --separate-stderr "$WHEELSMITH" plan --github --matrix fleet.json "$@"
	jobs=$(jq '.include | length' <<< "$output")
}

@test "256 jobs are fine" {
	jobs_of --only 'p?-1.0/*,p10-1.0/*,p11-1.0/*,p12-1.0/*,p13-1.0/*,p14-1.0/*,p15-1.0/*'
	[ "$jobs" -eq 256 ]
	# shellcheck disable=SC2154 # bats sets it
	[[ "$stderr" != *"GitHub takes"* ]]
}

@test "above the limit the message says so, with a cure" {
	jobs_of
	[ "$jobs" -eq 272 ]
	[[ "$stderr" == *"these are 272 jobs, and GitHub takes 256 at most: plan parts with --shard"* ]]
}

@test "each part is below the limit" {
	local part sum=0
	for part in 1/2 2/2; do
		jobs_of --shard $part
		[[ "$stderr" != *"GitHub takes"* ]]
		sum=$((sum + jobs))
	done
	[ "$sum" -eq 272 ]
}
