#!/usr/bin/env bats
# A second store has torch's headers, an archive kit of CUDA and the sources of causal-conv1d from where results are shared:
# nothing from the network, nothing compiled.
# labels: network real
# timeout: 3000

load building
load sharing

setup_file() {
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR own_home
	cd "$BATS_FILE_TMPDIR" || return
	"$WHEELSMITH" publish --new-key ci.pem
	start_nginx
	export NGINX
	matrix m.json '"packages": ["causal-conv1d==1.5.3.post1"], "arch": ["9.0"], "policy": "build-only"'
	sed -i 's/, "recipes": "recipes"//' m.json
	remote_is "$NGINX" '"access": "write", "key": "'"$PWD/ci.pem"'"'
	"$WHEELSMITH" build --matrix m.json --kits archive --store first 2> first.log
	FIRST=$(wheel_sum)
	export FIRST
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/nginx.pid")" 2> /dev/null || true
}

@test "a second store downloads nothing and compiles nothing: the same wheel" {
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR own_home
	cd "$BATS_FILE_TMPDIR"
	export WHEELSMITH_STORE=$PWD/second WHEELSMITH_INDEX=http://127.0.0.1:9/simple
	remote_is "$NGINX" '"trust": ["'"$PWD/ci.pem.pub"'"]'
	rm -r dist
	local from
	from=$(date +%s%N)
	build -0 --kits archive --debian-mirror http://127.0.0.1:9
	nothing_ran
	[[ "$stderr" != *warning* && "$stderr" != *fetched* ]]
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(grep -c "from where results are shared" <<< "$stderr")" -eq 3 ]
	[ "$(cd first/trees && ls -d torch-* cuda-* src-*)" = "$(cd second/trees && ls -d torch-* cuda-* src-*)" ]
	echo "# $((($(date +%s%N) - from) / 1000000)) ms; $(grep "from where results" <<< "$stderr" | tr '\n' ';')" >&3
}
