#!/usr/bin/env bats
# Files that a recipe makes for the sources: `create` among the patches, and generators.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p src/demo src/tools src/csrc demo
	touch src/demo/__init__.py src/csrc/bind.cpp
	echo 'float 16' > src/csrc/types.txt
	echo 'NAMES = ["a", "b"]' > src/tools/names.py
	script <<- 'END'
		import os, sys
		from names import NAMES
		width = open("csrc/types.txt").read().split()[1]
		for name in NAMES:
		    with open("%s/%s.cu" % (sys.argv[2], name), "w") as out:
		        out.write("// %s %s\n" % (name, width))
	END
	recipe '"script": "tools/make.py", "arguments": ["-o", "csrc/made"], "inputs": ["tools/*.py", "csrc/types.txt"],
		"outputs": ["csrc/made/*.cu"]'
}

script() {
	cat > src/tools/make.py
}

recipe() { # the members of the generator
	cat > demo/1.0.json <<- END
		{"name": "demo", "version": "1.0", "source": [{"folder": "../src"}],
		 "patches": [{"create": "demo/version.py", "text": "# {} {torch}\n__version__ = '{version}'  # of {name}"}],
		 "generate": [{$1}],
		 "extensions": [{"module": "demo._C", "binding": "pybind",
		   "sources": ["csrc/bind.cpp", {"glob": "csrc/made/*.cu", "count": 2}]}],
		 "python": {"packages": ["demo"]}}
	END
}

check() { # status, text
	run "$WHEELSMITH" recipe check --fetch demo/1.0.json
	echo "$output"
	[ "$status" -eq "$1" ]
	[[ "$output" == *"$2"* ]]
}

@test "what a script makes is compiled; a file of the recipe's own has its name and version" {
	check 0 "module   demo._C (pybind): 3 units, 2 of them CUDA"
	[[ "$output" == *"python   demo: 2 files"* ]]
	local tree
	tree=$(dirname "$(find "$WHEELSMITH_STORE/trees" -path '*/csrc/made/a.cu')")
	[ "$(cat "$tree/b.cu")" = "// b 16" ]
	[ "$(cat "$tree/../../demo/version.py")" = "$(printf "# {} {torch}\n__version__ = '1.0'  # of demo")" ]
	[ -z "$(find "$WHEELSMITH_STORE/partial" -mindepth 1)" ]
	# Remembered: it does not run again.
	local made
	made=$(find "$WHEELSMITH_STORE/trees" -name 'src-demo*' | sort)
	check 0 "all that it names is there"
	[ "$(find "$WHEELSMITH_STORE/trees" -name 'src-demo*' | sort)" = "$made" ]
	# Another input, another tree.
	echo 'float 32' > src/csrc/types.txt
	check 0 "all that it names is there"
	[ "$(cat "$WHEELSMITH_STORE"/trees/src-demo*/csrc/made/b.cu | sort -u)" = "$(printf '// b 16\n// b 32')" ]
}

@test "it has its inputs and nothing else: no other file, no environment, no network" {
	recipe '"script": "tools/make.py", "outputs": ["csrc/made/*.cu"]'
	check 5 "ModuleNotFoundError: No module named 'names'"
	[[ "$output" == *"'tools/make.py' exited with 1"* ]]
	SECRET=1 script <<- 'END'
		import os, socket
		there = sorted(os.path.join(base, name) for base, _, names in os.walk(".") for name in names)
		assert there == ["./tools/make.py"], there
		assert "SECRET" not in os.environ and "HOME" not in os.environ, os.environ
		names = [name for _, name in socket.if_nameindex()]
		assert names in ([], ["lo"]), names
		for name in "ab":
		    open("csrc/made/%s.cu" % name, "w").close()
	END
	SECRET=1 check 0 "all that it names is there"
}

@test "a generator that writes what it did not name, or too little" {
	recipe '"script": "tools/make.py", "arguments": ["-o", "csrc/made"], "inputs": ["tools/*.py", "csrc/types.txt"],
		"outputs": ["csrc/made/a.cu"]'
	check 3 "the generator 'tools/make.py' writes a file that the recipe does not name: 'csrc/made/b.cu'"
	recipe '"script": "tools/make.py", "arguments": ["-o", "csrc/made"], "inputs": ["tools/*.py", "csrc/types.txt"],
		"outputs": ["csrc/made/*.cu", "csrc/made/c.h"]'
	check 3 "the generator 'tools/make.py' does not write 'csrc/made/c.h'"
	script <<< 'open("tools/names.py", "a").write("#")'
	check 3 "the generator 'tools/make.py' changes its input 'tools/names.py'"
	script <<< 'open("csrc/bind.cpp", "w").write("")'
	check 3 "the generator 'tools/make.py' writes a file that the sources have: 'csrc/bind.cpp'"
	script <<< 'import os; os.symlink("/etc/passwd", "csrc/made/a.cu")'
	check 3 "the generator 'tools/make.py' makes what is not a file: 'csrc/made/a.cu'"
	[ -z "$(find "$WHEELSMITH_STORE/partial" -mindepth 1)" ]
}

@test "outputs that differ between two runs are named, and nothing is kept" {
	script <<- 'END'
		import os
		open("csrc/made/a.cu", "w").close()
		with open("csrc/made/b.cu", "w") as out:
		    out.write("// " + os.getcwd())
	END
	check 3 "the generator 'tools/make.py' gives another file each time that it runs: 'csrc/made/b.cu'"
	check 3 "gives another file each time that it runs: 'csrc/made/b.cu'"
	[ -z "$(find "$WHEELSMITH_STORE/trees" -path '*/csrc/made/*')" ]
}

@test "a script that is not there; what a recipe must not say" {
	recipe '"script": "tools/none.py", "outputs": ["csrc/made/*.cu"]'
	check 3 "the generator 'tools/none.py' is not a file of the sources"
	recipe '"script": "tools/make.py"'
	check 3 "a generator needs 'outputs'"
	recipe '"script": "../make.py", "outputs": ["a.cu"]'
	check 3 "../make.py"
	recipe '"script": "tools/make.py", "arguments": ["-o", "csrc/made"], "inputs": ["tools/*.py", "csrc/types.txt"],
		"outputs": ["csrc/made/*.cu"]'
	sed -i 's/demo\/version.py/demo\/__init__.py/' demo/1.0.json
	check 3 "demo/__init__.py"
	[[ "$output" == *"is already there"* ]]
}
