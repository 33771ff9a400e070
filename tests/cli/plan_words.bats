#!/usr/bin/env bats
# The words in which people name releases and GPUs, and what is meant when they are near.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

# "torch cuda python arch" of the one cell of a plan.
point() {
	run -0 "$WHEELSMITH" plan --json causal-conv1d==1.5.3.post1 "$@"
	jq -r '.cells[0] | [.torch, .cuda, .python, .arch] | join(" ")' <<< "$output"
}

@test "a minor of torch is its release that is known" {
	[ "$(point --torch 2.12 --python 3.12 --arch 9.0)" = "2.12.1 13.0 3.12 9.0" ]
	[ "$(point --torch 2.11 --python 3.12 --arch 9.0)" = "2.11.0 13.0 3.12 9.0" ]
	echo '{"packages": ["causal-conv1d==1.5.3.post1"], "torch": ["2.12", "2.12.1"], "python": ["3.12"], "arch": ["9.0"]}' > m.json
	run -0 "$WHEELSMITH" plan --json --matrix m.json
	[ "$(jq -c '[.cells[].cell]' <<< "$output")" = '["causal-conv1d-1.5.3.post1/torch2.12.1/cu13.0/cp312/sm90"]' ]
	run ! "$WHEELSMITH" verify --torch 2.12 nowhere.whl
	[[ $output != *"not known"* ]]
}

@test "the release that is meant is the nearest of its minor" {
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.12.0 --python 3.12 --arch 9.0
	[[ $output == *"torch '2.12.0' is unknown, and was not looked up"*'did you mean "2.12.1"?'* ]]
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.51 --python 3.12 --arch 9.0
	[[ $output == *'did you mean "2.5.1"?'* ]]
}

@test "GPUs, toolkits and Pythons by the names that people use" {
	[ "$(point --torch 2.11.0 --python cp312 --arch h100 --cuda cu130)" = "2.11.0 13.0 3.12 9.0" ]
	[ "$(point --torch 2.5.1 --python cp311 --arch RTX4090 --cuda cu124)" = "2.5.1 12.4 3.11 8.9" ]
	[ "$(point --torch 2.11.0 --python 3.12 --arch rtx-3090)" = "2.11.0 13.0 3.12 8.6" ]
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch h1000
	[[ $output == *"no set of architectures is called 'h1000'"*'did you mean "h100"?'* ]]
	run -2 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch sm_90
	[[ $output == *'write "9.0"'* ]]
	run -2 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch 9.0 --cuda cu13
	[[ $output == *"'cu13' is not a CUDA version"* ]]
}
