#!/usr/bin/env bats
# The meaning of a recipe at a point of the matrix is the same for the plan, the compilers and the wheel. And
# what of its sources may reach a command line.
# labels: cuda
# timeout: 300

load base

setup() {
	in_place
}

@test "a header that a patch creates for one Python reaches the compiler" {
	only_host
	recipe 'r["patches"] = [{"create": "point.h", "text": "#define SEEN", "when": {"python": "=='"$PY"'"}}]
e["cxx_flags"] = ["-include", "src/point.h"]
e["sources"].append("more.cpp")'
	printf '#ifndef SEEN\n#error the macro is missing\n#endif\n' > recipes/tiny/src/more.cpp
	build -0
	[[ "$(ran)" == *"compile more.cpp"* ]]
	recipe 'r["patches"][0]["when"]["python"] = "<3"'
	build -5
	[[ "$stderr" == *point.h* ]]
}

@test "a patch of a wheel for every Python does not depend on which Python comes first" {
	recipe 'del r["extensions"]'
	echo 'answer = 42' > recipes/tiny/src/tiny/__init__.py
	printf -- '--- a/tiny/__init__.py\n+++ b/tiny/__init__.py\n@@ -1 +1 @@\n-answer = 42\n+answer = 43\n' \
		> recipes/tiny/new.patch
	recipe 'r["patches"] = [{"file": "new.patch", "sha256": "'"$(sha256sum < recipes/tiny/new.patch | cut -d' ' -f1)"'",
		"when": {"python": ">=3.12"}}]'
	local wheel digest
	for pythons in '"3.11", "3.12"' '"3.12", "3.11"'; do
		matrix m.json "\"python\": [$pythons]"
		build -0
		wheel=$output
		[[ "$wheel" == *-py3-none-any.whl ]]
		[ "$(sha256sum < "$wheel")" = "${digest:=$(sha256sum < "$wheel")}" ]
	done
}

@test "a file's name is not a command" {
	local name='k$(cd ..;cd ..;touch ran).cu'
	mv recipes/tiny/src/kernel.cu "recipes/tiny/src/$name"
	recipe 'e["sources"][0] = {"glob": "*.cu", "count": 1}'
	build
	[ -z "$(find "$WHEELSMITH_STORE" -name ran)" ]
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"recipes/tiny/1.0.json:1:"*"'$name'"* ]]
	[ ! -e dist/build.json ] || [ "$(built .actions.ran)" -eq 0 ]
}

# The recipe as it was, changed.
refused() { # PYTHON TEXT
	cp recipes/tiny/1.0.json kept.json
	recipe "$1"
	build -3
	[[ "$stderr" == *"recipes/tiny/1.0.json:1:"*"$2"* ]]
	ws -3 recipe check recipes/tiny/1.0.json
	[[ "$stderr" == *"recipes/tiny/1.0.json:1:"*"$2"* ]]
	mv kept.json recipes/tiny/1.0.json
}

@test "words that a shell or the engine would replace are refused" {
	refused 'e["nvcc_flags"] = ["-DX=\"`id`\""]' "cannot be a flag"
	refused 'e["nvcc_flags"] = ["-DX=\"$HOME\""]' "cannot be a flag"
	refused 'e["cxx_flags"] = ["-DX=\"{work}\""]' "'-DX=\"{work}\"' cannot be a flag"
	refused 'e["link_flags"] = ["-L{work}"]' "'-L{work}' cannot be a flag"
	refused 'e["include"] = ["a,b"]' "the name 'a,b' holds more than letters"
	refused 'e["sources"].append({"glob": "*.cpp", "count": 1})' "'module.cpp' is listed twice as a source of 'tiny._C'"
}

@test "a store in which nvcc cannot work is refused by name" {
	mv "$WHEELSMITH_STORE" "$BATS_TEST_TMPDIR/a,b"
	build -3 --store "$BATS_TEST_TMPDIR/a,b"
	[[ "$stderr" == *"nvcc cannot work in the store '$BATS_TEST_TMPDIR/a,b'"* ]]
}

@test "a recipe that compiles none of the .cu files of its sources says so" {
	recipe 'del r["extensions"]'
	echo > recipes/tiny/src/tiny/__init__.py
	matrix m.json '"python": ["3.11", "3.12"]'
	build -0
	[ "$(grep -c 'warning: tiny 1.0: its sources have 1 .cu file and no module compiles one' <<< "$stderr")" -eq 1 ]
	ws recipe check recipes/tiny/1.0.json
	[[ "$output" == *"warning  1 .cu file in the sources, and no module compiles one"* ]]
}
