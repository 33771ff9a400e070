#!/usr/bin/env bats
# `recipe update`: the recipe of a newer version, from the last one and what both versions' sources say.

load helpers
load building

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p www/x/files recipes/demo-ops
	sdist 1.0 'csrc/b.cpp csrc/k_1.cu csrc/k_2.cu' '"-O3", "-DOLD"' '"torch>=2.0"'
	serve "$PWD/www"
	export WHEELSMITH_INDEX="default=$INDEX"
}

teardown() {
	unserve
}

# demo-ops VERSION: sources, nvcc flags, requirements, and the first lines of setup.py.
sdist() {
	local top="demo_ops-$1" file
	mkdir -p "$top/demo_ops"
	touch "$top/demo_ops/__init__.py" "$top/LICENSE"
	for file in $2; do
		mkdir -p "$top/$(dirname "$file")"
		echo '#include <torch/extension.h>' > "$top/$file"
	done
	printf 'Metadata-Version: 2.1\nName: demo-ops\nVersion: %s\nSummary: Demo\nLicense: MIT\n' "$1" > "$top/PKG-INFO"
	cat > "$top/setup.py" <<- END
		import glob
		${5:-}
		open("ran", "w")  # nothing of this file may run
		setup(name="demo-ops", packages=["demo_ops"], install_requires=[$4],
		    ext_modules=[CUDAExtension("demo_ops._C", sorted(glob.glob("csrc/*.cpp") + glob.glob("csrc/*.cu")),
		        extra_compile_args={"cxx": ["-O2"], "nvcc": [$3]})])
	END
	tar czf "www/x/files/$top.tar.gz" --sort=name "$top"
}

# The recipe of 1.0 as a person left it: the draft, settled, with a rule and a flag of their own.
settle() {
	"$WHEELSMITH" -q recipe new demo-ops==1.0 > draft.json
	python3 - draft.json > recipes/demo-ops/1.0.json <<- END
		import json, sys
		sys.path.insert(0, "$WS_ROOT/tests/support")
		from check_schemas import relaxed
		recipe = relaxed(open(sys.argv[1]).read())
		recipe["extensions"][0]["sources"] = ["csrc/b.cpp", {"glob": "csrc/k_*.cu", "count": 2}]
		recipe["extensions"][0]["nvcc_flags"] = ["-O3", "-DOLD", "-DMINE"]
		recipe["known_bad"] = [{"when": {"torch": "<2.4"}, "why": "wrong results", "see": "https://example.org/1"}]
		recipe["metadata"]["license"] = "MIT"
		print(json.dumps(recipe))
	END
}

key() { # file, jq filter
	python3 -c 'import json, sys; sys.path.insert(0, sys.argv[1]); from check_schemas import relaxed
print(json.dumps(relaxed(open(sys.argv[2]).read())))' "$WS_ROOT/tests/support" "$1" | jq -c "$2"
}

@test "the recipe of a newer version" {
	settle
	run -0 "$WHEELSMITH" recipe update demo-ops --recipes recipes
	[ "$output" = "demo-ops 1.0 is the newest that has a source distribution" ]

	sdist 1.1 'csrc/b.cpp csrc/k_1.cu csrc/k_2.cu csrc/k_3.cu csrc/extra.cu' '"-O3", "-DNEW"' '"torch>=2.4", "einops"'
	sdist 2.0rc1 'csrc/b.cpp' '"-O1"' '"torch"'
	run -0 "$WHEELSMITH" recipe update demo_ops --recipes recipes -o recipes/
	[ -z "$(find "$HOME" "$WHEELSMITH_STORE" . -name ran)" ]
	[[ "$output" == *"demo-ops 1.1, after 1.0:"* ]]
	[[ "$output" == *'  nvcc_flags of demo_ops._C: --DOLD, +-DNEW'* ]]
	[[ "$output" == *"  sources of demo_ops._C: +csrc/extra.cu, +csrc/k_3.cu"* ]]
	[[ "$output" == *"  metadata.requires: +einops"* ]]
	[[ "$output" == *"  requires.torch: >=2.0 is now >=2.4"* ]]
	made=recipes/demo-ops/1.1.json
	grep -q 'check: the recipe was not what its draft said; the changes were made to it: --DOLD, +-DNEW' $made
	grep -q 'check: found with 1.0; these may be corrected in this version' $made
	[ "$(key $made .extensions[0].sources)" = '["csrc/b.cpp",{"glob":"csrc/k_*.cu","count":3},"csrc/extra.cu"]' ]
	[ "$(key $made .extensions[0].nvcc_flags)" = '["-O3","-DMINE","-DNEW"]' ]
	[ "$(key $made .known_bad[0].when.torch)" = '"<2.4"' ]
	[ "$(key $made .source[0].sha256)" = "\"$(sha256sum < www/x/files/demo_ops-1.1.tar.gz | cut -d' ' -f1)\"" ]
	run -0 "$WHEELSMITH" recipe check $made
	[[ "$output" == *"module   demo_ops._C (pybind): 5 units, 4 of them CUDA"* ]]
}

@test "a yanked release is not the newest, and is taken by its version" {
	sdist 1.2 'csrc/b.cpp' '"-O1"' '"torch"'
	touch www/x/files/demo_ops-1.2.tar.gz.yanked
	run -0 "$WHEELSMITH" recipe new demo-ops
	[[ "$output" == *"demo-ops: version 1.0, the newest with a source distribution"* ]]
	run -0 "$WHEELSMITH" recipe new demo-ops==1.2
	[[ "$output" == *"demo_ops-1.2.tar.gz was withdrawn by its authors"* ]]
	settle
	run -0 "$WHEELSMITH" recipe update demo-ops --recipes recipes
	[ "$output" = "demo-ops 1.0 is the newest that has a source distribution" ]
	run -0 "$WHEELSMITH" recipe update demo-ops==1.2 --recipes recipes -o new.json
	[[ "$output" == *"demo_ops-1.2.tar.gz was withdrawn by its authors"* ]]
}

@test "a version that has wheels alone" {
	settle
	touch www/x/files/demo_ops-1.3-py3-none-any.whl
	run -3 "$WHEELSMITH" recipe update demo-ops==1.3 --recipes recipes
	[[ "$output" == *"demo-ops 1.3 has wheels, but no source distribution"*"demo-ops==1.3 --git URL@COMMIT"* ]]
}

@test "a module that is gone, one that is new, and what the new version leaves open" {
	settle
	sdist 1.1 'csrc/b.cpp csrc/k_1.cu' '*flags' '"torch>=2.0"' \
		$'import os\nflags = ["-O3"]\nif os.cpu_count() > 2: flags.append("-lineinfo")'
	sed -i 's/"demo_ops._C"/"demo_ops._D"/' demo_ops-1.1/setup.py
	tar czf www/x/files/demo_ops-1.1.tar.gz --sort=name demo_ops-1.1
	run -0 "$WHEELSMITH" recipe update demo-ops==1.1 --recipes recipes -o new.json
	[[ "$output" == *"  module demo_ops._C is gone"*"  module demo_ops._D is new"* ]]
	[ "$(key new.json '[.extensions[].module]')" = '["demo_ops._D"]' ]
	grep -q 'check: new in this version' new.json
	grep -q 'check: .*under a condition: -lineinfo' new.json
}

@test "no recipe to go on from; sources that no index has; what is not there" {
	run -3 "$WHEELSMITH" recipe update demo-ops --recipes recipes
	[[ "$output" == *"no recipe of 'demo-ops' to go on from"*"wheelsmith recipe new demo-ops==VERSION"* ]]
	settle
	run -3 "$WHEELSMITH" recipe update demo-ops==1.0 --recipes recipes
	[[ "$output" == *"no recipe of 'demo-ops' to go on from"* ]]
	run -3 "$WHEELSMITH" recipe update demo-ops==3.0 --recipes recipes
	[[ "$output" == *"the package index has no 'demo-ops' 3.0"* ]]
	run -2 "$WHEELSMITH" recipe update 'demo ops'
	sed -i 's|{"sdist".*"sha256": "[0-9a-f]*"}|{"git": "https://example.org/demo", "commit": "0000000000000000000000000000000000000000"}|' \
		recipes/demo-ops/1.0.json
	run -2 "$WHEELSMITH" recipe update demo-ops --recipes recipes
	[[ "$output" == *"the sources of 'demo-ops' 1.0 are not on an index"*"demo-ops==VERSION --git URL@COMMIT"* ]]
}
