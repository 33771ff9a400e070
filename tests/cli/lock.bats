#!/usr/bin/env bats
# What `lock` pins, and how a pin is made anew.
# labels: cuda
# timeout: 300

load building

setup_file() {
	make_base
	export BASE
}

setup() {
	in_place
	only_host
}

@test "a pin of CUDA that is made anew is chosen anew" {
	# A pin of an archive kit that nobody has; an assembled one may stand for the host's toolkit.
	[ "$(jq -r '.cuda[0].how' m.lock.json)" = host ] || CUDA_HOME=$(echo "$WHEELSMITH_STORE"/trees/cuda-*)
	export CUDA_HOME=${CUDA_HOME:-}
	jq '.cuda[0] = {cuda: "13.0", how: "archive", name: "cuda-13.0", digest: (64 * "a")}' m.lock.json > new
	mv new m.lock.json
	ws plan --matrix m.json --why '*'
	[[ "$output" == *"cuda: archive cuda-13.0, aaaaaaaaaaaa"* ]]
	ws lock --matrix m.json --update tinier
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"the lock has no pin of 'tinier'"* ]]
	ws lock --matrix m.json --update cuda
	[ "$status" -eq 0 ]
	[ "$(jq -r '.cuda[0].how' m.lock.json)" = host ]
}
