#!/usr/bin/env bats
# The normal course of `build`: compile what is needed, deliver, repeat no work.
# labels: cuda
# timeout: 300

load base

setup() {
	in_place
}

# Python finds the module's torch libraries, little ones of the right names, where a loader looks.
import_in() { # VENV CODE
	local runtime
	runtime=$(find -L /usr/local/cuda/lib64 "$WHEELSMITH_STORE"/trees/cuda* -name 'libcudart.so.13' 2> /dev/null | head -n 1)
	fake_torch "$PWD/torch" all=1 > /dev/null
	python3 -m zipfile -e torch/*.whl torch
	LD_LIBRARY_PATH=$PWD/torch/torch/lib:${runtime%/*} "$1/bin/python" -c "$2"
}

@test "a folder of sources becomes a wheel that pip installs and Python imports" {
	build -0
	[ "$output" = "$(echo dist/tiny-1.0+cu.13.0.torch.2.11.sm.86-"$CP-$CP"-*.whl)" ]
	dist_is_whole
	[ "$(built .schema)" = wheelsmith.build/1 ]
	[ "$(built '.cells[0].cell')" = "$CELL" ]
	[ "$(built '.cells[0].sha256')" = "$(sha256sum < "$output" | cut -d' ' -f1)" ]
	[ "$(built .actions.ran)" -eq 5 ]
	python3 -m venv --without-pip venv
	(cd dist && python3 -m pip --python ../venv/bin/python install -q --no-index --require-hashes \
		--no-deps --find-links . -r requirements.txt)
	[ "$(import_in venv 'import tiny; tiny._C.run(); print(tiny.answer())')" = 42 ]
	readelf -d venv/lib/python*/site-packages/tiny/_C*.so > needed
	grep -q 'libcudart.so.13' needed
	grep -q 'libtorch_python.so' needed
	not grep -qE 'RPATH|RUNPATH' needed
}

@test "a module has the file name of its recipe" {
	sed -i 's|"binding": "pybind"|"binding": "pybind", "suffix": ".so"|' recipes/tiny/1.0.json
	build -0
	python3 -m zipfile -l "$output" > members
	grep -q '^tiny/_C\.so ' members
	not grep -q 'cpython' members
}

@test "a second build runs no action and does not touch the files of dist" {
	build -0
	local wheel=$output made
	made=$(stat -c '%i %Y' "$wheel")
	build -0 -v
	[ "$output" = "$wheel" ]
	[ "$(built .actions.ran)" -eq 0 ]
	[[ "$stderr" == *"1 ready, 0 failed, 0 not done, 0 excluded; "*" s, 0.0 s of CPU"$'\n'* ]]
	[ "$(built '.cells[0].decision')" = cached ]
	[ "$(stat -c '%i %Y' "$wheel")" = "$made" ]
	# A changed unit, and one that changes nothing behind the compiler.
	sed -i 's/(42)/(43)/' recipes/tiny/src/module.cpp
	build -0
	[ "$(ran)" = $'check tiny\ncompile module.cpp\nlink tiny._C.so\npack tiny' ]
	echo '// the end' >> recipes/tiny/src/module.cpp
	build -0 -v
	[ "$(ran)" = $'compile module.cpp\npack tiny' ]
	[[ "$stderr" == *"            because no run of this command on these inputs is known"* ]]
}

@test "a patched recipe is built and its source pinned as it came; twice is nothing to do" {
	only_host
	printf '%s\n' '--- a/module.cpp' '+++ b/module.cpp' '@@ -3,1 +3,1 @@' \
		"-$(sed -n 3p recipes/tiny/src/module.cpp)" "+$(sed -n 3p recipes/tiny/src/module.cpp | sed s/42/43/)" \
		> recipes/tiny/answer.patch
	recipe 'import hashlib; r["patches"] = [{"file": "answer.patch",
		"sha256": hashlib.sha256(open("recipes/tiny/answer.patch", "rb").read()).hexdigest()}]'
	build -0 --offline
	grep -q '(43)' "$WHEELSMITH_STORE"/trees/src-tiny-1.0-*/module.cpp
	build -0 --offline --locked
	[ "$(built .actions.ran)" -eq 0 ]
	[ "$(built '.cells[0].decision')" = cached ]
	ws plan --matrix m.json --json
	[ "$(jq -r '.cells[0].decision' <<< "$output")" = cached ]
	# The folder is what the lock pins, not what the patch makes of it.
	echo '// changed' >> recipes/tiny/src/kernel.cpp
	build -3 --offline --locked
	[[ "$stderr" == *"the sources of tiny 1.0: not what the lock pins"* ]]
}

@test "a gcc that a known-bad rule names is not chosen" {
	only_host
	local gcc
	build -0 --offline --compile-commands
	gcc=$("$(jq -r '.[0].arguments[0]' dist/compile_commands.json)" -dumpversion)
	gcc=${gcc%%.*}
	recipe "r['known_bad'] = [{'when': {'cuda': '13.0'}, 'gcc': $gcc, 'why': 'a test'}]"
	rm -r dist
	build --offline --compile-commands
	if [ "$status" -ne 0 ]; then
		[ "$status" -eq 5 ]
		[[ "$stderr" == *"gcc"*"$gcc (known to fail)"* ]]
		return
	fi
	[[ "$("$(jq -r '.[0].arguments[0]' dist/compile_commands.json)" --version)" != *" $gcc."* ]]
}

@test "the compiler that was chosen is enough: neither gcc nor clang++ need be on PATH" {
	mkdir bin
	ln -s "$(command -v g++)" "bin/g++-$(g++ -dumpversion | cut -d. -f1)"
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" bin/python3
	run -0 --separate-stderr env PATH="$PWD/bin" "$WHEELSMITH" build --matrix m.json --offline
	[ "$(ran)" = $'check tiny\ncompile kernel.cu\ncompile module.cpp\nlink tiny._C.so\npack tiny' ]
}

@test "clang++ builds where no gcc fits, and messages name it" {
	needs clang++
	only_host
	recipe 'r["known_bad"] = [{"when": {"cuda": "13.0"}, "gcc": gcc, "why": "a test"} for gcc in range(4, 30)]'
	sed -i 's/(42)/(undeclared)/' recipes/tiny/src/module.cpp
	build -5 --offline
	[[ "$stderr" == *"error: 'module.cpp' failed: clang++ exited with 1"* ]]
	sed -i 's/(undeclared)/(42)/' recipes/tiny/src/module.cpp
	recipe 'e["link_flags"] = ["-Wl,--no-such-option"]'
	build -5 --offline
	[[ "$stderr" == *"error: 'tiny._C.so' failed: clang++ exited with 1"* ]]
	recipe 'del e["link_flags"]'
	build -0 --offline
}

@test "a second Python costs its binding file and the link" {
	second_python
	sed -i 's/PyLong_FromLong(42)/PyLong_FromLong(PY_MINOR_VERSION)/' recipes/tiny/src/module.cpp
	matrix m.json "\"python\": [\"$PY\", \"$AT2\"]"
	build -0 --only "*$CP*"
	[ "$(built .actions.ran)" -eq 5 ]
	build -0
	[ "$(built '.actions | "\(.total) \(.from_store) \(.ran)"')" = "10 6 4" ]
	[ "$(ran)" = $'check tiny\ncompile module.cpp\nlink tiny._C.so\npack tiny' ]
	[ "${#lines[@]}" -eq 2 ]
	grep -q "python_version == \"$PY2\"" dist/requirements.txt
}

@test "a failure is reported once, and --keep-going finishes the rest" {
	only_host
	other_package
	sed -i 's/return PyLong_FromLong(42);/return undeclared;/' recipes/tiny/src/module.cpp
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"]'
	build -5 --keep-going
	[ "$output" = "$(echo dist/other-1.0*.whl)" ]
	[ "$(built '.cells[] | .decision' | sort | xargs)" = "build failed" ]
	[ "$(built '.failures[0] | "\(.stage) \(.subject)"')" = "compile module.cpp" ]
	log=dist/logs/$CELL/module.cpp.log
	grep -q "'undeclared' was not declared" "$log"
	[ "$(grep -c "'undeclared' was not declared" <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ exited with 1"* ]]
	[[ "$stderr" == *"log: $log"* ]]
	[[ "$stderr" == *"shell: wheelsmith shell $CELL --unit module.cpp --matrix m.json --store $WHEELSMITH_STORE"$'\n'* ]]
	[[ "$stderr" == *"error: 1 of 2 cells failed" ]]
	dist_is_whole
	sed -i 's/return undeclared;/return PyLong_FromLong(42);/' recipes/tiny/src/module.cpp
	build
	[[ "$stderr" == *"install:  "*"pip install --require-hashes --no-deps --find-links dist -r dist/requirements.txt" ]]
	python3 -m venv --without-pip venv
	python3 -m pip --python venv/bin/python install --quiet --no-index --require-hashes --no-deps --find-links dist -r dist/requirements.txt
}

@test "a failed build falls back where the matrix allows it, stops no other cell, and is reported" {
	only_host
	other_package
	sed -i 's/return PyLong_FromLong(42);/return undeclared;/' recipes/tiny/src/module.cpp
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"], "fallback": {"tiny": "plain torch"},
		"fallback_on": ["build-failed"]'
	GITHUB_STEP_SUMMARY=$PWD/summary.md build -0 -j 1
	[ "$output" = "$(echo dist/other-1.0*.whl)" ]
	why="plain torch: the build failed: 'module.cpp' failed: g++ exited with 1"
	[ "$(built '.cells[] | .decision' | xargs)" = "fallback build" ]
	[ "$(built '.cells[0].reason')" = "$why" ]
	[ "$(built '.failures[] | "\(.subject) \(.log)"')" = "module.cpp dist/logs/$CELL/module.cpp.log" ]
	[[ "$stderr" == *"error: 'module.cpp' failed: g++ exited with 1"* ]]
	[[ "$stderr" == *$'\n'"$CELL: falls back to $why"$'\n'"1 ready, 0 failed, 0 not done, 0 excluded, 1 fallback; "* ]]
	grep -qF "| \`$CELL\` | fallback | $why |" summary.md
	# A package without one still fails, and a build that never began is not a failed build.
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"], "fallback": {"other": "plain torch"},
		"fallback_on": ["build-failed"]'
	build -5
	[[ "$stderr" == *"error: 1 of 2 cells failed" ]]
	sed -i "s|{\"folder\": \"src\"}|{\"sdist\": \"other-1.0.tar.gz\", \"sha256\": \"$(printf '%064d' 0)\"}|" \
		recipes/other/1.0.json
	matrix m.json '"packages": ["other==1.0", "tiny==1.0"], "fallback": {"tiny": "plain torch", "other": "none"},
		"fallback_on": ["build-failed"]'
	for how in "" --offline; do
		build -4 $how
		[ "$(built '.cells[] | .decision' | xargs)" = "failed fallback" ]
	done
}

@test "a module with a name that nothing exports fails, whatever torch may bring unread" {
	only_host
	recipe 'e["sources"] = ["module.cpp"]'
	sed -i 's/extern "C" void tiny_add/extern void tiny_add/' recipes/tiny/src/module.cpp
	build -6
	[ "$(ran)" = $'check tiny\ncompile module.cpp\nlink tiny._C.so' ]
	[[ "$stderr" == *"fails   tiny._C needs 1 symbol that nothing exports"* ]]
	[[ "$stderr" == *"        tiny_add(float*)"* ]]
	[[ "$stderr" == *"a source file that defines it may be missing from the recipe"* ]]
	[[ "$stderr" == *" in torch $TORCH would not load"* ]]
	[ -z "$output" ]
	not compgen -G 'dist/*.whl'
}

@test "a module of Python's that check.import leaves out is for torch.ops.load_library, and needs no PyInit" {
	only_host
	recipe 'e["sources"] = ["module.cpp"]'
	sed -i /PyMODINIT_FUNC/d recipes/tiny/src/module.cpp
	for check in '' 'r["check"] = {"import": ["tiny", "tiny._C"]}'; do
		recipe "$check"
		build -6
		[[ "$stderr" == *"exports no function 'PyInit__C'"* ]]
	done
	recipe 'r["check"] = {"import": ["tiny"]}'
	build -0
	[ "$(ran)" = $'check tiny\npack tiny' ]
}

@test "an installed torch is asked what it exports, by another process" {
	only_host
	python3 -m venv --without-pip venv
	fake_torch "$PWD" all=1 > /dev/null
	python3 -m zipfile -e torch-*.whl "$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	export PATH="$PWD/venv/bin:$PATH"
	matrix m.json '"torch": ["installed"], "python": ["host"]'
	sed -i 's/return PyLong_FromLong(42);/at::no_such(1); of_torch_cpu(); return nullptr;/' recipes/tiny/src/module.cpp
	sed -i '1a namespace at { void no_such(long); } extern "C" void of_torch_cpu();' recipes/tiny/src/module.cpp
	build -6
	[[ "$stderr" == *"fails   tiny._C needs 1 symbol that torch $TORCH+cu130 does not export"* ]]
	[[ "$stderr" == *"        at::no_such(long): used by module.cpp, declared in src/module.cpp"$'\n'*"built for another torch"* ]]
	sed -i 's/at::no_such(1);//' recipes/tiny/src/module.cpp
	build -0
	run -0 "$WHEELSMITH" plan --json --matrix m.json
	[ "$(jq -r '.cells[].decision' <<< "$output")" = cached ]
}

@test "a wheel is imported where its Python and torch are, and one that cannot be is not delivered" {
	only_host
	recipe 'r["check"] = {"import": ["tiny"]}'
	python3 -m venv --without-pip venv
	site=$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	fake_torch "$PWD" all=1 > /dev/null
	python3 -m zipfile -e torch-*.whl "$site"
	export PATH="$PWD/venv/bin:$PATH" LD_LIBRARY_PATH="$site/torch/lib"
	matrix m.json '"torch": ["installed"], "python": ["host"]'
	# Its torch cannot be imported: that is not the wheel's fault.
	build -0
	[[ "$stderr" == *"not imported here: torch itself cannot be imported: not a real torch"* ]]
	[ "$(built '.cells[0].import.verdict')" = unknown ]
	# It is tried again, though nothing that we know of has changed.
	echo "__version__ = '$TORCH'" > "$site/torch/__init__.py"
	build -0
	[[ "$stderr" == *"tiny: imported by Python $PY."*" with torch $TORCH"* ]]
	[ "$(built '.cells[0].import.verdict')" = ok ]
	build
	[ "$(built .actions.ran)" -eq 0 ]
	# A package that lacks a part of itself.
	rm dist/*.whl
	echo 'import tiny.gone' > recipes/tiny/src/tiny/__init__.py
	build -6
	[ -z "$output" ]
	[[ "$stderr" == *"ModuleNotFoundError: No module named 'tiny.gone'"* ]]
	[[ "$stderr" == *"error: tiny 1.0 with torch $TORCH+cu130 cannot be imported"* ]]
	not compgen -G 'dist/*.whl'
}

@test "a module of plain C functions knows nothing of torch and Python" {
	only_host
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["kernel.cpp"]'
	cat > recipes/tiny/src/kernel.cpp <<- 'END'
		#if __has_include(<torch/extension.h>) || __has_include(<Python.h>) || defined TORCH_EXTENSION_NAME
		#error not alone
		#endif
		extern "C" void tiny_add(float *) {}
	END
	build -0
	[[ "$output" == dist/tiny-1.0+cu.13.sm.86-py3-none-*.whl ]]
	python3 -m zipfile -e dist/*.whl out
	readelf -d out/tiny/_C.so > needed
	not grep -qE 'libtorch|libc10' needed
	[ "$(python3 -c 'import ctypes; print(ctypes.CDLL("out/tiny/_C.so").tiny_add is None)')" = False ]
	# No library here exports a name of torch.
	sed -i 's/{}/{ at::no_such(1); }/; 1i namespace at { void no_such(long); }' recipes/tiny/src/kernel.cpp
	build -6
	[[ "$stderr" == *"fails   tiny._C needs 1 symbol that nothing exports"$'\n'*"at::no_such(long)"* ]]
}

@test "C and images of kernels link with the driver for C, and need libc alone" {
	only_host
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["host.c"]; e["device"] = ["gpu/twice.cu"]; e["c_flags"] = ["-DSEEN"]'
	mkdir recipes/tiny/src/gpu
	cat > recipes/tiny/src/host.c <<- 'END'
		#if defined __cplusplus || __STDC_VERSION__ != 201710L || !defined SEEN
		#error not C17
		#endif
		#include <stdlib.h>
		extern const unsigned char twice[];
		const void *tiny_image(void) { void *new = malloc(1); free(new); return twice; }
	END
	cat > recipes/tiny/src/gpu/twice.cu <<- 'END'
		#ifdef __CUDA_NO_HALF_OPERATORS__
		#error a word of torch, without torch
		#endif
		#include "factor.h"
		extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= FACTOR; }
	END
	echo '#define FACTOR 2' > recipes/tiny/src/gpu/factor.h
	build -0
	[[ "$output" == dist/tiny-1.0+cu.13.sm.86-py3-none-manylinux*_2_*_x86_64.whl ]]
	python3 -m zipfile -e dist/*.whl out
	[ "$(readelf -d out/tiny/_C.so | grep NEEDED)" = "$(readelf -d out/tiny/_C.so | grep 'NEEDED.*libc.so.6')" ]
	# The symbol points to the image, and the symbol is not exported.
	python3 -c 'import ctypes; l = ctypes.CDLL("out/tiny/_C.so"); l.tiny_image.restype = ctypes.c_void_p
assert ctypes.string_at(l.tiny_image(), 4) == bytes.fromhex("50ed55ba")'
	readelf -W --dyn-syms out/tiny/_C.so > symbols
	not grep -qw twice symbols
	unzip -p dist/*.whl '*/METADATA' > METADATA
	not grep -q '^Requires-Dist: torch' METADATA
	build
	[ "$(ran)" = "" ]
	# A header of the image is followed like any other.
	echo '#define FACTOR 3' > recipes/tiny/src/gpu/factor.h
	build -0
	[[ "$(ran)" == *"compile twice.cu"* ]]
}

@test "a module of torch's own registry knows torch and no Python, and serves every Python" {
	only_host
	recipe 'e["binding"] = "torch-library"; e["sources"] = ["kernel.cpp"]'
	cat > recipes/tiny/src/kernel.cpp <<- 'END'
		#if !__has_include(<torch/extension.h>) || __has_include(<Python.h>) || !defined TORCH_EXTENSION_NAME
		#error not with torch alone
		#endif
		namespace at { int get_num_threads(); }
		extern "C" int tiny_add(float *) { return at::get_num_threads(); }
	END
	build -0
	[[ "$output" == dist/tiny-1.0+cu.13.0.torch.2.11.sm.86-py3-none-*.whl ]]
	local first=$output
	python3 -m zipfile -e "$output" out
	readelf -d out/tiny/_C.so > needed
	grep -q 'libtorch_cpu.so' needed
	not grep -q 'libtorch_python' needed
	second_python
	matrix m.json "\"python\": [\"$PY\", \"$AT2\"]"
	build -0
	[ "$(ran)" = "" ]
	[ "$output" = "$first" ]
	# Symbols that only libtorch_python.so exports are not available.
	sed -i 's/at::get_num_threads()/torch::get_symint_class()/; s/namespace.*/namespace torch { int get_symint_class(); }/' \
		recipes/tiny/src/kernel.cpp
	build -6
	[[ "$stderr" == *"fails   tiny._C needs 1 symbol of 'libtorch_python.so' but does not name that library"* ]]
}

@test "a module of the stable ABI is compiled for the limited API that its tag promises" {
	only_host
	recipe 'e["binding"] = "stable-abi"; r["check"] = {"import": ["tiny._C"]}'
	cat >> recipes/tiny/src/module.cpp <<- 'END'
		static_assert(Py_LIMITED_API == 0x030A0000, "cp310-abi3");
	END
	build -0
	[[ "$output" == dist/tiny-1.0+cu.13.0.torch.2.11.sm.86-cp310-abi3-*.whl ]]
	python3 -m zipfile -l dist/*.whl | grep -q 'tiny/_C.abi3.so'
}

@test "the folder of a failed command is kept on demand, and the command in it can be run" {
	only_host
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -5 --keep-work
	folder=$(sed -n 's/^ *folder: //p' <<< "$stderr")
	command=$(sed -n 's/^  \$ //p' <<< "$stderr")
	[ -d "$folder/src" ]
	run -1 sh -c "cd '$folder' && $command"
	[[ "$output" == *"#error no"* ]]
	# Without --keep-work nothing is left but what was kept before.
	build
	[ "$(ls "$WHEELSMITH_STORE/work")" = "$(printf 'keys\n%s' "$(basename "$(dirname "$folder")")")" ]
}

@test "compile_commands.json holds commands that work in the folders it names" {
	build -0 --compile-commands
	[ "$(jq length dist/compile_commands.json)" -eq 2 ]
	python3 - <<- 'END'
		import json, subprocess
		for entry in json.load(open("dist/compile_commands.json")):
		    words = entry["arguments"]
		    more = ["-fsyntax-only"] if entry["file"].endswith(".cpp") else ["--dryrun"]
		    words = [w for w in words if w not in ("-MD",)]
		    at = words.index("-MF")
		    del words[at:at + 2]
		    subprocess.run(words + more, cwd=entry["directory"], check=True, env={"PATH": "/usr/bin:/bin"})
	END
}

@test "a wheel has the same bytes in another store, with another umask and clock" {
	# nvcc generates a name for an anonymous namespace.
	sed -i '1s/.*/namespace { & }/' recipes/tiny/src/kernel.cu
	build -0 -o one
	export WHEELSMITH_STORE=$PWD/a/store/elsewhere
	mkdir -p sub/dir
	from_base
	sed -i '1s/.*/namespace { & }/' recipes/tiny/src/kernel.cu
	cp -r recipes m.json m.lock.json sub/dir
	cd sub/dir
	umask 077
	TZ=Asia/Kathmandu ws -0 build --matrix m.json -o two
	[ "$(jq .actions.ran two/build.json)" -eq 5 ]
	cmp ../../one/*.whl two/*.whl
	[ "$(stat -c %a two/*.whl)" = 644 ]
}

@test "a wheel has the same bytes whichever Python's torch wheel came first" {
	second_python
	only_host
	mkdir -p www/x/files
	fake_torch www/x/files
	fake_torch www/x/files python="cp${PY2/./}"
	serve www
	matrix m.json "\"python\": [\"$PY\", \"$AT2\"]"
	local each
	for each in one two; do
		export WHEELSMITH_STORE=$PWD/$each
		cp -a store "$each"
		rm -r "$each"/trees/torch-*
		rm m.lock.json
		: > "$ASKED"
		if [ $each = two ]; then
			ws -0 fetch --matrix m.json --index "$INDEX" --only "*cp${PY2/./}*"
			grep -q "cp${PY2/./}.*\.whl" "$ASKED"
		fi
		build -0 --index "$INDEX" --only "*$CP*" -o "dist-$each"
		[ "$(ran | grep -c '^compile')" -eq 2 ]
	done
	unserve
	cmp dist-one/*.whl dist-two/*.whl
}

@test "files that the assembler reads for a .cu file are traced" {
	printf 'marker one' > recipes/tiny/src/blob
	echo 'asm(".pushsection .rodata; .inc" "bin \"src/blob\"; .popsection");' >> recipes/tiny/src/kernel.cu
	build -0
	unzip -p "$output" 'tiny/*.so' | grep -aq 'marker one'
	printf 'marker two' > recipes/tiny/src/blob
	build -0
	unzip -p "$output" 'tiny/*.so' | grep -aq 'marker two'
}

@test "any part of the store that was deleted is made again" {
	only_host
	build -0
	sum=$(built '.cells[0].sha256')
	export WHEELSMITH_INDEX=
	serve "$BASE/www"
	local part
	for part in cas ac cells trees partial work ledger.db LOCK VERSION; do
		rm -rf "${WHEELSMITH_STORE:?}/$part"
		build -0 --index "torch=$INDEX" -o "dist-$part"
		[ "$(jq -r '.cells[0].sha256' "dist-$part/build.json")" = "$sum" ]
	done
	unserve
}

# A free-threaded Python that this host does not have.
missing_python() {
	for version in 3.14t 3.13t; do
		if ! command -v "python$version" > /dev/null && ! compgen -G "${PYENV_ROOT:-none}/versions/${version%t}*t" > /dev/null; then
			echo "$version"
			return
		fi
	done
}

@test "build: a missing Python fails before any download, and wheels of the store are delivered" {
	MISSING=$(missing_python)
	# An empty store and an index that cannot be reached: a download would be reported instead.
	matrix m.json "\"python\": [\"$MISSING\"]"
	run -3 --separate-stderr "$WHEELSMITH" build --matrix m.json --store fresh
	[[ "$stderr" == *"no Python $MISSING on this host"* ]]
	run -4 --separate-stderr "$WHEELSMITH" fetch --matrix m.json --store fresh
	[[ "$stderr" == *"no Python $MISSING on this host"*"127.0.0.1"* ]]

	matrix m.json
	"$WHEELSMITH" build --matrix m.json
	rm -rf dist
	matrix m.json "\"python\": [\"$PY\", \"$MISSING\"]"
	run -3 --separate-stderr "$WHEELSMITH" plan --matrix m.json --strict
	[[ "$stderr" == *"no Python $MISSING on this host"* ]]
	run -0 --separate-stderr "$WHEELSMITH" build --matrix m.json
	[[ "$stderr" == *"1 excluded"* ]]
	[ "$(ls dist/*.whl | wc -l)" -eq 1 ]
}
