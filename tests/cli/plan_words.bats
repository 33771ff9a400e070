#!/usr/bin/env bats
# The words in which people name releases and GPUs, and what is meant when they are near.

load building

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
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.99.0 --python 3.12 --arch 9.0
	[[ $output == *'did you mean "2.15.0"?'* ]]
}

@test "a Python that this host lacks is known before any download" {
	local which=(causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch 9.0)
	mkdir empty
	local nothing=(-u PYENV_ROOT -u UV_PYTHON_INSTALL_DIR -u XDG_DATA_HOME PATH=/nowhere HOME="$PWD/empty")
	run -0 env "${nothing[@]}" "$WHEELSMITH" plan --json "${which[@]}"
	[ "$(jq -r '.cells[] | "\(.decision) \(.rule)"' <<< "$output")" = "excluded no-python" ]
	run -3 env "${nothing[@]}" "$WHEELSMITH" plan --strict "${which[@]}"
	[[ $output == *"no Python 3.12 on this host"* ]]
	run -3 env "${nothing[@]}" "$WHEELSMITH" build --offline "${which[@]}"
	[[ $output == *"no Python 3.12 on this host"* ]]
}

@test "a Python without which nothing can be planned is an error, also where the version is chosen" {
	run -3 "$WHEELSMITH" plan causal-conv1d --torch 2.11.0 --python ./none --arch 9.0
	[[ $output == *"/none' does not answer like a Python interpreter"* ]]
	mkdir empty
	run -3 env -u PYENV_ROOT PATH=/nowhere HOME="$PWD/empty" "$WHEELSMITH" plan causal-conv1d \
		--torch installed --python 3.12 --arch 9.0
	[[ $output == *"error: no Python 3.12 on this host"* ]]
}

@test "a Python that this host lacks may be on the host that builds" {
	local which=(--python 3.12 --arch 9.0)
	mkdir empty
	local nothing=(-u PYENV_ROOT PATH=/nowhere HOME="$PWD/empty")
	run -0 --separate-stderr env "${nothing[@]}" "$WHEELSMITH" plan --github causal-conv1d==1.5.3.post1 \
		--torch 2.11.0 "${which[@]}"
	[ "$(jq '.include | length' <<< "$output")" -eq 1 ]
	# 2.3.2.post1 is newer, but does not work with this torch.
	run -0 env "${nothing[@]}" "$WHEELSMITH" plan mamba-ssm --torch 2.8.0 "${which[@]}"
	[[ $output == "mamba-ssm: version 2.2.6.post3; 2.3.2.post1 does not fit"*"no Python 3.12 on this host"* ]]
}

@test "a package that does not use torch needs none on the command line" {
	mkdir -p recipes/demo-ops
	echo '{"name": "demo-ops", "version": "1.0", "source": [{"folder": "."}], "extensions": [{"module": "demo_ops.libdemo", "binding": "c-abi", "sources": ["a.cu"]}]}' > recipes/demo-ops/1.0.json
	run -0 "$WHEELSMITH" plan --json demo-ops==1.0 --cuda 13.0 --arch 8.6 --recipes recipes
	[ "$(jq -r '.cells[].cell' <<< "$output" | cut -d/ -f1,2)" = "demo-ops-1.0/cu13.0" ]
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --cuda 13.0 --arch 8.6
	[[ $output == *"'causal-conv1d' needs torch, and none is selected"*"--torch"* ]]
}

@test "a platform is an option as a matrix has it" {
	local which=(causal-conv1d==1.5.3.post1 --torch 2.11.0 --python "$PY" --arch 9.0)
	run -0 "$WHEELSMITH" plan --json "${which[@]}" --platform aarch64 --platform x86_64
	[ "$(jq -c '[.cells[].cell | split("/")[-1]]' <<< "$output")" = '["aarch64","sm90"]' ]
	run -4 "$WHEELSMITH" build "${which[@]}" --platform aarch64 --platform x86_64 --offline --store nothing
	[[ $output == *" downloads are missing"*"torch: 2.11.0/aarch64, 2.11.0"* ]]
	run -2 "$WHEELSMITH" plan "${which[@]}" --platform arm64
	[[ $output == *"no wheels are made for platform 'arm64'"*"take x86_64 or aarch64"* ]]
	run -2 "$WHEELSMITH" plan --matrix m.json --platform aarch64
	[[ $output == *"platform come from the matrix"* ]]
}

@test "GPUs, toolkits and Pythons by the names that people use" {
	[ "$(point --torch 2.11.0 --python cp312 --arch h100 --cuda cu130)" = "2.11.0 13.0 3.12 9.0" ]
	[ "$(point --torch 2.5.1 --python cp311 --arch RTX4090 --cuda cu124)" = "2.5.1 12.4 3.11 8.9" ]
	[ "$(point --torch 2.11.0 --python 3.12 --arch rtx-3090)" = "2.11.0 13.0 3.12 8.6" ]
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch h1000
	[[ $output == *"no set of architectures is called 'h1000'"*'did you mean "h100"?'* ]]
	# Several in one wheel.
	[ "$(point --torch 2.11.0 --python 3.12 --arch 'h100;rtx4090')" = "2.11.0 13.0 3.12 8.9;9.0" ]
	[ "$(point --torch 2.11.0 --python 3.12 --arch 'RTX 4090')" = "2.11.0 13.0 3.12 8.9" ]
	[ "$(point --torch 2.11.0 --python 3.12 --arch '8.0+PTX;H100')" = "2.11.0 13.0 3.12 8.0+PTX;9.0" ]
	run -3 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch 'h1000;8.9'
	[[ $output == *"no set of architectures is called 'h1000'"*'did you mean "h100"?'* ]]
	run ! "$WHEELSMITH" verify --torch 2.11.0 --arch 'h100;8.9' nowhere.whl
	[[ $output == *nowhere.whl* ]]
	run -2 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch sm_90
	[[ $output == *'write "9.0"'* ]]
	run -2 "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python 3.12 --arch 9.0 --cuda cu13
	[[ $output == *"'cu13' is not a CUDA version"* ]]
	# Machines whose hosts are of aarch64.
	local name
	for name in gh200=9.0 GB200=10.0 DGX-Spark=12.1 gb10=12.1; do
		run -0 --separate-stderr "$WHEELSMITH" plan causal-conv1d==1.5.3.post1 --torch 2.11.0 --python "$PY" \
			--arch "${name%=*}" --platform aarch64
		[[ $output == *" ${name#*=}/aarch64 "* ]]
	done
}

# Three versions; the newest is for newer torch, and a variant with a label is never meant.
demo_recipes() {
	mkdir -p recipes/demo
	local version
	for version in 1.0 1.1 2.0 2.0+any; do
		cat > "recipes/demo/$version.json" <<- JSON
			{"name": "demo", "version": "$version", "source": [{"folder": "src"}],
			 "extensions": [{"module": "demo", "binding": "pybind", "sources": ["a.cu"]}]}
		JSON
	done
	sed -i 's/^ "ext/ "requires": {"torch": ">=2.6"},\n&/' recipes/demo/2.0*.json
}

@test "a package without its version: the newest that has a recipe and fits" {
	demo_recipes
	local where=(--python 3.12 --arch 8.6 --recipes recipes)
	run -0 --separate-stderr "$WHEELSMITH" plan --json demo --torch 2.11.0 "${where[@]}"
	[ "$(jq -r '.cells[0].cell' <<< "$output")" = demo-2.0/torch2.11.0/cu13.0/cp312/sm86 ]
	[ "$stderr" = "demo: version 2.0, the newest with a recipe" ]
	run -0 --separate-stderr "$WHEELSMITH" plan --json demo causal-conv1d==1.5.3.post1 --torch 2.5.1 "${where[@]}"
	[ "$(jq -c '[.cells[].cell]' <<< "$output")" = '["demo-1.1/torch2.5.1/cu12.4/cp312/sm86","causal-conv1d-1.5.3.post1/torch2.5.1/cu12.4/cp312/sm86"]' ]
	[[ $stderr == "demo: version 1.1; 2.0 does not fit: "*"torch"* ]]
	# Where none fits, the newest says why.
	run -3 --separate-stderr "$WHEELSMITH" build demo --torch 2.5.1 --python 3.14 --arch 8.6 --recipes recipes
	[[ $stderr == *"every cell is excluded"*"plan --why 'demo-2.0/"* ]]
	[[ $stderr == *"wheelsmith plan --why "*" demo==2.0 "* ]]
	run -2 "$WHEELSMITH" plan demo --recipes recipes
	[[ $output == "error: no torch selected"* ]]
	run -2 "$WHEELSMITH" plan 'demo>=1' --torch 2.5.1 "${where[@]}"
	[[ $output == *"'demo>=1' is not a package with its version"* ]]
}

@test "a package without a recipe: how to draft one, and which versions have sources" {
	run -3 "$WHEELSMITH" plan nosuch==1.0 --torch 2.11.0 --python 3.12 --arch 9.0
	[[ $output == *"no recipe for 'nosuch'"*"wheelsmith recipe new nosuch==1.0 -o recipes/"* ]]
	[[ $output == *"wheelsmith build nosuch==1.0 --torch 2.11.0 --python 3.12 --arch 9.0"*" --recipes recipes"* ]]
	mkdir -p www/x/files
	touch www/x/files/{nosuch-0.9.tar.gz,nosuch-1.0-py3-none-any.whl,nosuch-1.1.tar.gz,nosuch-1.2.dev3.tar.gz}
	serve "$PWD/www"
	run -3 "$WHEELSMITH" build nosuch==1.0 --torch 2.11.0 --python 3.12 --arch 9.0 --index "$INDEX"
	[[ $output == *"no recipe for 'nosuch'"*"the index has source distributions of 1.1, 0.9, and wheels alone of 1.0"* ]]
	run -3 "$WHEELSMITH" build nosuch --torch 2.11.0 --python 3.12 --arch 9.0 --index "$INDEX"
	[[ $output == *"the index has source distributions of 1.1, 0.9"*"wheelsmith recipe new nosuch==1.1 -o recipes/"* ]]
	# A version that the index does not have cannot be drafted: the newest that it has can.
	run -3 "$WHEELSMITH" build nosuch==9.9 --torch 2.11.0 --python 3.12 --arch 9.0 --index "$INDEX"
	[[ $output == *"the index has source distributions of 1.1, 0.9"*"wheelsmith recipe new nosuch==1.1 -o recipes/"* ]]
	[[ $output != *"recipe new nosuch==9.9"* ]]
	run -3 "$WHEELSMITH" build nobody==1.0 --torch 2.11.0 --python 3.12 --arch 9.0 --index "$INDEX"
	[[ $output == *"no recipe for 'nobody'"*"the package index has no 'nobody'"*"wheelsmith recipe new nobody==1.0 --git URL -o recipes/"* ]]
	run -3 "$WHEELSMITH" build nobody --torch 2.11.0 --python 3.12 --arch 9.0 --index "$INDEX"
	[[ $output == *"wheelsmith recipe new nobody==VERSION --git URL -o recipes/"* ]]
	unserve
	run -3 "$WHEELSMITH" build flash-attn==2.8.4 --offline --torch 2.11.0 --python 3.12 --arch 9.0
	[[ $output == *"no recipe for 'flash-attn' 2.8.4"*"available: "*2.8.3*"wheelsmith recipe new flash-attn==2.8.4"* ]]
}

@test "a unit that needs more than --memory is named" {
	local where=(causal-conv1d==1.5.3.post1 --torch 2.11.0 --python "$PY" --arch 9.0)
	run -0 --separate-stderr "$WHEELSMITH" plan "${where[@]}" --memory 100M
	[ "$stderr" = "warning: 'csrc/causal_conv1d.cpp' needs about 1.4 GiB, more than --memory 100 MiB: it will run alone and hold that much" ]
	run -0 --separate-stderr "$WHEELSMITH" plan "${where[@]}" --memory 2G
	[ -z "$stderr" ]
}

@test "a command that is printed names the store where it is not the usual one" {
	unset WHEELSMITH_STORE
	run -3 "$WHEELSMITH" plan nosuch==1 --torch 2.11.0
	[[ $output == *"wheelsmith build nosuch==1 --torch 2.11.0 --recipes recipes"* ]]
	run -3 "$WHEELSMITH" plan nosuch==1 --torch 2.11.0 --store "$BATS_TEST_TMPDIR/other"
	[[ $output == *"--store $BATS_TEST_TMPDIR/other --recipes recipes"* ]]
}
