#!/usr/bin/env bats
# Recipes held against sources in a folder: what is there, what is missing, where.

load helpers

setup() {
	private_home
	recipes="$BATS_TEST_TMPDIR/recipes"
	sources="$BATS_TEST_TMPDIR/sources"
	mkdir -p "$recipes/demo" "$sources/csrc/include" "$sources/demo/ops"
	cd "$BATS_TEST_TMPDIR" || return
	touch "$sources/csrc/bind.cpp" "$sources/csrc/a.cu" "$sources/csrc/b.cu" "$sources/csrc/include/x.h" \
		"$sources/demo/__init__.py" "$sources/demo/ops/__init__.py" "$sources/LICENSE" "$sources/README.md"
	sed "s|@TREE@|$sources|" > recipes/demo/1.0.json <<'JSON'
{
  "name": "Demo",
  "version": "1.0",
  "source": [{"folder": "@TREE@"}],
  "extensions": [
    {
      "module": "demo._C",
      "binding": "pybind",
      "sources": ["csrc/bind.cpp", {"glob": "csrc/*.cu", "count": 2}],
      "include": ["csrc/include", "."]
    }
  ],
  "python": {"packages": ["demo"]},
  "metadata": {"license_files": ["LICENSE"], "description_file": "README.md"},
  "estimates": [{"match": "*.cu", "rss_mib": 100}]
}
JSON
}

@test "a recipe that is right" {
	run -0 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	golden recipe-check-right
}

@test "every problem is reported at its place" {
	sed -i -e 's|"csrc/bind.cpp"|"csrc/bound.cpp"|' -e 's/"count": 2/"count": 3/' -e 's|"csrc/include"|"csrc/inc"|' \
		-e 's|\["demo"\]|["demo", "other"], "modules": ["one.py"], "data": ["demo/*.json"]|' -e 's/"LICENSE"/"COPYING"/' \
		-e 's/README.md/README.rst/' -e 's/"match": "\*.cu"/"match": "*.cpp"/' \
		recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	golden recipe-check-problems
}

@test "a mistake in a common member is reported once, at its place" {
	sed -i -e 's|"extensions": \[|"every_extension": {"include": ["csrc", "gone"]},\n  "extensions": [\n    {"module": "demo._D", "binding": "pybind", "sources": ["csrc/bind.cpp"]},|' \
		recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"recipes/demo/1.0.json:5:43: error: the sources have no folder 'gone'"* ]]
	[[ "$output" == *"  1 problem"* ]]
}

@test "all mistakes of the text are reported at once" {
	sed -i -e 's/"binding": "pybind"/"binding": "pybnd"/' -e 's/"count": 2/"count": "2"/' -e 's/"metadata"/"metdata"/' \
		-e 's/"rss_mib": 100/"rss_mib": 0/' -e 's/"version": "1.0",//' -e 's/"include": \[.*/"check": 1/' \
		recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	golden recipe-check-mistakes
}

@test "a word that is not a flag, and one that is a flag's value" {
	sed -i 's|"include":|"cxx_flags": ["-O3", "-include", "x.h", "disco"], "link_flags": ["z"],\n      "nvcc_flags": ["-Xcompiler", "a", "b"],\n      "include":|' \
		recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"error: 'disco' is not a flag, and no flag before it takes a value"* ]]
	[[ "$output" == *"error: 'z' is not a flag"*"error: 'b' is not a flag"* || "$output" == *"error: 'b' is not a flag"*"error: 'z' is not a flag"* ]]
	[[ "$output" == *"  3 problems"* ]]
}

@test "lines that a draft left to check are counted" {
	sed -i -e '2i\  // check: the name' -e '5i\  // check: where from' recipes/demo/1.0.json
	run -0 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"  marked   lines 2, 6: still to check by hand"* ]]
	"$WHEELSMITH" recipe check --json recipes/demo/1.0.json | jq -e '.recipes[0].marked_lines == [2, 6]'
}

@test "a source that a pattern and a name stand for" {
	sed -i 's|"csrc/bind.cpp", {|"csrc/bind.cpp", "csrc/a.cu", {|' recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"recipes/demo/1.0.json:9:49: error: 'csrc/a.cu' is listed twice as a source of 'demo._C'"* ]]
}

@test "a recipe of more than 4 MiB" {
	printf '%5000000s' ' ' >> recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"error: the recipe 'recipes/demo/1.0.json' is larger than 4 MiB"* ]]
}

@test "a file that no command would find" {
	mkdir recipes/deno
	mv recipes/demo/1.0.json recipes/deno/1.1.json
	run -3 "$WHEELSMITH" recipe check recipes/deno/1.1.json
	golden recipe-check-place
}

@test "the other files are judged although one cannot be read" {
	echo '{"name": "demo", "versoin": "2"}' > recipes/demo/2.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/2.json recipes/demo/3.json recipes/demo/1.0.json
	[[ "$output" == *"recipes/demo/2.json:1:18: error: unknown key 'versoin' in a recipe"* ]]
	[[ "$output" == *"the recipe 'recipes/demo/3.json' does not exist"* ]]
	[[ "$output" == *"all that it names is there"* ]]
}

@test "naming a package, or its folder, gets the answer that files are meant" {
	for it in demo recipes/demo; do
		run ! "$WHEELSMITH" recipe check "$it"
		[[ "$output" == *"name its file: recipes/PACKAGE/VERSION.json"* ]]
	done
}

@test "a patch that does not fit is reported, also one with a condition" {
	printf 'one\n' > "$sources/csrc/a.cu"
	printf -- '--- a/csrc/a.cu\n+++ b/csrc/a.cu\n@@ -1 +1 @@\n-two\n+three\n' > recipes/demo/bad.patch
	printf -- '--- /dev/null\n+++ b/csrc/c.cu\n@@ -0,0 +1 @@\n+int c;\n' > recipes/demo/good.patch
	bad=$(sha256sum < recipes/demo/bad.patch | cut -d' ' -f1)
	good=$(sha256sum < recipes/demo/good.patch | cut -d' ' -f1)
	sed -i "s|\"extensions\"|\"patches\": [{\"file\": \"good.patch\", \"sha256\": \"$good\"},\n    {\"file\": \"bad.patch\", \"sha256\": \"$bad\", \"when\": {\"torch\": \">=2.9\"}}],\n  \"extensions\"|" \
		recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"bad.patch:4:1: error:"*"of 'csrc/a.cu' does not match"* ]]
	[[ "$output" == *"'csrc/*.cu' matches 3 files where the recipe expects 2"* ]]
}

@test "a file that the recipe creates has its name and version, and must not be there already" {
	sed -i 's|"extensions": \[|"patches": [{"create": "demo/version.py", "text": "# {} {torch}\\n__version__ = '"'{version}'"'  # of {name}"}],\n  &|' \
		recipes/demo/1.0.json
	run -0 "$WHEELSMITH" recipe check --fetch recipes/demo/1.0.json
	[[ "$output" == *"python   demo: 3 files"* ]]
	[ "$(cat "$WHEELSMITH_STORE"/trees/src-demo*/demo/version.py)" = "$(printf "# {} {torch}\n__version__ = '1.0'  # of Demo")" ]
	sed -i 's|demo/version.py|demo/__init__.py|' recipes/demo/1.0.json
	run -3 "$WHEELSMITH" recipe check --fetch recipes/demo/1.0.json
	[[ "$output" == *"demo/__init__.py"*"is already there"* ]]
}

@test "results as JSON" {
	run -0 "$WHEELSMITH" --json recipe check recipes/demo/1.0.json
	jq -e '.schema == "wheelsmith.recipe-check/1" and (.recipes | length) == 1
		and .recipes[0].sources_checked and .recipes[0].source_files == 8
		and .recipes[0].modules[0].units == ["csrc/bind.cpp", "csrc/a.cu", "csrc/b.cu"]
		and .recipes[0].python_files == 2 and .recipes[0].problems == []' <<< "$output"
	sed -i 's/"count": 2/"count": 3/' recipes/demo/1.0.json
	"$WHEELSMITH" recipe check --json recipes/demo/1.0.json > found.json 2> problems && false
	jq -e '.recipes[0].problems[0] | (.place | test("1.0.json:9:")) and (.text | test("expects 3"))' found.json
}

@test "sources that are not at hand are said, a store that is not there too" {
	sed -i 's|{"folder": "[^"]*"}|{"sdist": "demo-1.0.tar.gz", "sha256": "'"$(printf '0%.0s' {1..64})"'"}|' recipes/demo/1.0.json
	run -0 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"sources  not looked at: not in the store; --fetch brings them"* ]]
	run -0 "$WHEELSMITH" recipe check --store /dev/null/x recipes/demo/1.0.json
	[[ "$output" == *"sources  not looked at: opening the store"* ]]
	run -5 "$WHEELSMITH" recipe check --fetch --store /dev/null/x recipes/demo/1.0.json
}

@test "every shipped recipe is where it is looked for" {
	run -0 "$WHEELSMITH" recipe check "$WS_ROOT"/recipes/*/*.json
	[ "$(grep -cE 'the text is right|all that it names is there' <<< "$output")" -eq "$(find "$WS_ROOT/recipes" -name '*.json' | wc -l)" ]
}

@test "a recipe without sources, of published wheels" {
	cat > recipes/demo/2.0.json <<-'JSON'
		{"name": "demo", "version": "2.0", "binding": "pybind",
		 "prebuilt": [{"from": "demo's releases", "python": ["3.11", "3.12"], "torch": ["2.5", "2.6"],
		   "except": [{"torch": "2.5", "python": "3.12"}],
		   "url": "https://example.org/demo-{version}+pt{torch}-{python}-{python}-linux_x86_64.whl"}]}
	JSON
	run -0 "$WHEELSMITH" recipe check recipes/demo/2.0.json
	[[ "$output" == *"sources  not looked at: it has none"* ]]
	[[ "$output" == *"prebuilt demo's releases: 3 names"* ]]
}

@test "recipe list has a line for each recipe, of the person's first" {
	mkdir -p mine/demo
	echo '{"name": "demo", "version": "1.0", "source": [{"folder": "."}], "python": {"packages": ["demo"]}, "metadata": {"license": "MIT"},
		"requires": {"torch": ">=2.4,<2.9"}}' > mine/demo/1.0.json
	run -0 "$WHEELSMITH" recipe list --recipes mine
	[ "${#lines[@]}" -eq $(($(find "$WS_ROOT/recipes" -name '*.json' | wc -l) + 1)) ]
	grep -qE '^demo +1\.0 +Python +<2\.9,>=2\.4 +- +MIT$' <<< "$output"
	grep -qE '^flash-attn +2\.8\.3 +pybind +any +8\.0 to 12\.1 +BSD License$' <<< "$output"
	"$WHEELSMITH" recipe list demo --recipes mine --json > list.json
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" list.json
	[ "$(jq -r '.recipes | map(.name) | join(" ")' list.json)" = demo ]
	# These folders are read-only.
	mkfifo mine/demo/3.0.json
	run -0 timeout 20 "$WHEELSMITH" recipe list demo --recipes mine
	[ "${#lines[@]}" -eq 1 ]
	# A classifier that ends where its licence would be.
	sed -i 's/"license": "MIT"/"classifiers": ["License :: OSI Approved ::", "License :: x:"]/' mine/demo/1.0.json
	run "$WHEELSMITH" recipe list demo --recipes mine
	grep -qE '^demo .* -$' <<< "$output"
	run -1 "$WHEELSMITH" recipe list nosuch
	[[ "$output" == *"no recipe for 'nosuch'"*"wheelsmith recipe new nosuch==VERSION"* ]]
}
