#!/usr/bin/env bats
# The pins of `lock`, and how a pin is renewed.
# labels: cuda
# timeout: 300

load base

@test "a pin of CUDA that is made anew is chosen anew" {
	# a pin of an archive kit that does not exist
	need_no_toolkit
	jq '.cuda[0] = {cuda: "13.0", how: "archive", name: "cuda-13.0", digest: (64 * "a")}' m.lock.json > new
	mv new m.lock.json
	ws plan --matrix m.json --why '*'
	[[ "$output" == *"cuda: archive cuda-13.0, aaaaaaaaaaaa"* ]]
	ws -2 lock --matrix m.json --update tinier
	[[ "$stderr" == *"the lock has no pin of 'tinier'"* ]]
	ws -0 lock --matrix m.json --update cuda
	[ "$(jq -r '.cuda[0].how' m.lock.json)" = host ]
}

# The command that an error names; "wheelsmith" is the one that is tested.
named_command() { # TEXT
	sed -n "s/.*$1 *wheelsmith //p" <<< "$stderr"
}

@test "a difference from the lock names the command that pins it, also without a matrix" {
	local package=(tiny==1.0 --torch "$TORCH" --python "$PY" --arch 8.6 --recipes "$PWD/recipes")
	local command
	build -0 --offline
	echo '// changed' >> recipes/tiny/src/kernel.cpp
	build -3 --offline --locked
	command=$(named_command 'if the change is intended:')
	[ "$command" = "lock --matrix m.json --store $WHEELSMITH_STORE --update tiny" ]
	eval "ws $command"
	[ "$status" -eq 0 ]
	build -0 --offline --locked
	# Packages without a matrix have a lock of their own, in the store.
	ws -4 build "${package[@]}" --cuda 13.0 --offline
	[[ "$(named_command 'a network:')" == "fetch tiny==1.0 --torch $TORCH --python $PY --arch 8.6 --cuda 13.0 "* ]]
	serve "$BASE/www"
	ws lock "${package[@]}" --cuda 13.0 --index "$INDEX"
	unserve
	[ "$status" -eq 0 ]
	echo '// again' >> recipes/tiny/src/kernel.cpp
	ws -3 build "${package[@]}" --cuda 13.0 --offline --locked
	eval "ws $(named_command 'if the change is intended:')"
	[ "$status" -eq 0 ]
	[[ "$stderr" == "$WHEELSMITH_STORE/locks/"*": 1 sources, 1 CUDA kits, 1 torch releases"* ]]
	ws -0 build "${package[@]}" --cuda 13.0 --offline --locked
}

# Everything on PATH but compilers and Pythons.
login_node() {
	mkdir -p bare
	find /usr/bin /bin -maxdepth 1 \( -name '*gcc*' -o -name '*g++*' -o -name '*clang*' -o -name 'c++*' -o -name 'cc' \
		-o -name 'cpp*' -o -name '*python*' \) -prune -o -maxdepth 1 -type f -exec ln -sf -t bare {} +
	PATH=$PWD/bare PYENV_ROOT=/none "$@"
}

@test "downloads are fetched and locked on a host without compiler and Python" {
	serve "$BASE/www"
	matrix m.json '"python": ["3.11", "3.12"]'
	rm -rf "$WHEELSMITH_STORE" m.lock.json
	local from=(--index "$INDEX")
	host_toolkit > /dev/null || { from=(--index "torch=$INDEX") && export WHEELSMITH_INDEX=; } # for the archive kit
	login_node ws fetch --matrix m.json "${from[@]}"
	[ "$status" -eq 0 ]
	cp m.lock.json fetched.json
	rm m.lock.json
	login_node ws lock --matrix m.json "${from[@]}"
	[ "$status" -eq 0 ]
	cmp m.lock.json fetched.json
	unserve
}

@test "pins are kept when a later download fails" {
	serve "$BASE/www"
	mkdir -p recipes/zero
	jq -n '{name: "zero", version: "1.0", source: [{sdist: "zero-1.0.tar.gz", sha256: (64 * "0")}],
		python: {packages: ["zero"]}}' > recipes/zero/1.0.json
	matrix m.json '"packages": ["tiny==1.0", "zero==1.0"]'
	jq 'del(.sources)' m.lock.json > base.json
	local command
	for command in 'build --offline' build fetch lock; do
		cp base.json m.lock.json
		eval "ws $command --matrix m.json --index '$INDEX'"
		[ "$status" -eq 4 ]
		[ "$(jq -r '.sources[].package' m.lock.json)" = tiny ]
	done
	# But what should have been made anew is not lost for it.
	cp m.lock.json before.json
	ws -4 lock --matrix m.json --index "$INDEX" --update all
	cmp m.lock.json before.json
	unserve
}
