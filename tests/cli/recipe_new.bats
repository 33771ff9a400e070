#!/usr/bin/env bats
# Drafts of recipes for real packages of the index, and `recipe check --fetch` of what is shipped.
# labels: network
# timeout: 900

load helpers

setup_file() {
	# Sources are fetched once for the whole file.
	export SHARED_STORE="$BATS_FILE_TMPDIR/store"
}

setup() {
	private_home
	export WHEELSMITH_STORE="$SHARED_STORE"
	cd "$BATS_TEST_TMPDIR" || return
}

# The keys of two recipes, comments aside, as sorted JSON.
keys() { # file, jq filter
	python3 -c 'import json, sys; sys.path.insert(0, sys.argv[1]); from check_schemas import relaxed
print(json.dumps(relaxed(open(sys.argv[2]).read())))' "$WS_ROOT/tests/support" "$1" | jq -S "$2"
}

# The files that a recipe's sources name, patterns opened, in the order of the link.
units() { # file, folder of the sources
	keys "$1" '.extensions[0].sources' | (cd "$2" && python3 -c 'import glob, json, sys
for source in json.load(sys.stdin):
    print(*([source] if isinstance(source, str) else sorted(glob.glob(source["glob"]))), sep="\n")')
}

@test "the shipped recipes' sources are what they say" {
	# All are on the index or in this repository: repositories elsewhere may be out of reach.
	[ -z "$(grep -LE '"(sdist|folder)"' "$WS_ROOT"/recipes/*/*.json)" ]
	run -0 "$WHEELSMITH" -q recipe check --fetch "$WS_ROOT"/recipes/*/*.json
	local recipes=("$WS_ROOT"/recipes/*/*.json)
	[ "$(grep -c 'all that it names is there' <<< "$output")" -eq ${#recipes[@]} ]
	[[ "$output" == *"module   flash_attn_2_cuda (pybind): 73 units, 72 of them CUDA"* ]]
}

@test "the draft of causal-conv1d equals the shipped recipe" {
	run -0 "$WHEELSMITH" recipe new causal-conv1d==1.5.3.post1 -o recipes/
	[[ "$output" == *"wrote recipes/causal-conv1d/1.5.3.post1.json, with "*" lines to check"* ]]
	sources=$(sed -n 's/^its sources, to read:  //p' <<< "$output")
	grep -q CUDAExtension "$sources/setup.py"
	run -0 "$WHEELSMITH" recipe check recipes/causal-conv1d/1.5.3.post1.json
	[[ "$output" == *"all that it names is there"* ]]
	for what in .name .version '.source[0]' .extensions .python .metadata .requires.python .check; do
		diff -u <(keys "$WS_ROOT/recipes/causal-conv1d/1.5.3.post1.json" "$what") \
			<(keys recipes/causal-conv1d/1.5.3.post1.json "$what")
	done
}

@test "the drafts of the other shipped packages compile the same" {
	for recipe in "$WS_ROOT"/recipes/{flash-attn/2.8.3,flash-attn/2.6.1,mamba-ssm/2.2.6.post3}.json; do
		version="$(basename "$recipe" .json)"
		name="$(basename "$(dirname "$recipe")")"
		"$WHEELSMITH" -q recipe new "$name==$version" > draft.json
		tree=$(echo "$SHARED_STORE"/trees/src-"$name-$version"-*/)
		diff -u <(units "$recipe" "$tree") <(units draft.json "$tree")
		[ "$(units draft.json "$tree" | wc -l)" -gt 1 ]
		for what in '.extensions[0].module' '.extensions[0].include' '.extensions[0].cxx_flags' \
			'.extensions[0].nvcc_flags' .python.packages .cxx_std .metadata.requires .metadata.extras; do
			diff -u <(keys "$recipe" "$what") <(keys draft.json "$what")
		done
	done
}

@test "the draft of a package with arguments by place and f-strings" {
	run -0 "$WHEELSMITH" -q recipe new grouped-gemm==0.3.0 --output grouped-gemm/0.3.0.json
	run -0 "$WHEELSMITH" recipe check grouped-gemm/0.3.0.json
	[[ "$output" == *"module   grouped_gemm_backend (pybind): 2 units, 2 of them CUDA"* ]]
	[[ "$output" == *"all that it names is there"* ]]
	diff -u <(keys grouped-gemm/0.3.0.json '.extensions[0].include') - <<< '[
  "third_party/cutlass/include",
  "csrc"
]'
	grep -q '// check: setup.py adds to nvcc_flags under a condition: -DGROUPED_GEMM_CUTLASS' grouped-gemm/0.3.0.json
}

@test "the draft of a package whose modules a loop makes" {
	run -0 "$WHEELSMITH" -q recipe new torch-scatter==2.1.2 -o torch-scatter/2.1.2.json
	[ "$(keys torch-scatter/2.1.2.json '[.extensions[].module]' | jq -r 'join(" ")')" = "torch_scatter._scatter_cpu \
torch_scatter._scatter_cuda torch_scatter._segment_coo_cpu torch_scatter._segment_coo_cuda torch_scatter._segment_csr_cpu \
torch_scatter._segment_csr_cuda torch_scatter._version_cpu torch_scatter._version_cuda" ]
	run -0 "$WHEELSMITH" recipe check torch-scatter/2.1.2.json
	[[ "$output" == *"module   torch_scatter._segment_coo_cuda (pybind): 3 units, 1 of them CUDA"* ]]
	[[ "$output" == *"all that it names is there"* ]]
}

@test "a file that is there is not overwritten" {
	echo mine > draft.json
	run -2 "$WHEELSMITH" recipe new causal-conv1d==1.5.3.post1 -o draft.json
	[[ "$output" == *"'draft.json' is there already"* ]]
	[ "$(cat draft.json)" = mine ]
}

@test "without a version it is the newest, and a name without .json is a folder" {
	run -0 "$WHEELSMITH" recipe new causal-conv1d -o mine
	[[ "$output" =~ "causal-conv1d: version "([^,]+)", the newest with a source distribution" ]]
	[ -f "mine/causal-conv1d/${BASH_REMATCH[1]}.json" ]
	run -3 "$WHEELSMITH" recipe new spconv
	[[ "$output" == *"the package index has no source distribution of 'spconv'"* ]]
	run -2 "$WHEELSMITH" recipe new causal-conv1d --folder .
	[[ "$output" == *"'causal-conv1d' names no version of a package"* ]]
}

@test "a version of wheels alone gives a form for git" {
	run -0 "$WHEELSMITH" recipe new spconv==2.3.8 -o spconv/2.3.8.json
	[[ "$output" == *"warning: spconv 2.3.8 has wheels, but no source distribution"* ]]
	[[ "$(keys spconv/2.3.8.json '.source[0].git')" == '"https://'* ]]
	run -0 "$WHEELSMITH" recipe check spconv/2.3.8.json
}

@test "a source distribution without its sources is a dead end, and its setup.py serves for git" {
	run -0 "$WHEELSMITH" recipe new fast-hadamard-transform==1.1.0 -o draft.json
	[[ "$output" == *"warning: 'fast_hadamard_transform-1.1.0.tar.gz' cannot be built: it lacks 2 of the files"* ]]
	url=https://github.com/Dao-AILab/fast-hadamard-transform
	[[ "$output" == *"wheelsmith recipe new fast-hadamard-transform==1.1.0 --git $url"* ]]
	run -0 "$WHEELSMITH" recipe new fast-hadamard-transform==1.1.0 --git "$url" -o git.json
	[[ "$output" != *warning* ]]
	[ "$(keys git.json '.source[0].git')" = "\"$url\"" ]
	diff -u <(keys draft.json .extensions) <(keys git.json .extensions)
	[ "$(keys git.json '.extensions[0].sources | length')" -eq 2 ]
}

@test "a name that the index lacks is reported" {
	run -3 "$WHEELSMITH" recipe new causal-conv1d==77.0
	[[ "$output" == *"the package index has no 'causal-conv1d' 77.0"*"it has sources of: "*"--git"* ]]
	run -3 "$WHEELSMITH" recipe new no-such-package-of-wheelsmith==1.0
	[[ "$output" == *"the package index has no 'no-such-package-of-wheelsmith'"* ]]
}
