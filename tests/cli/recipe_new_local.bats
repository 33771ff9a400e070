#!/usr/bin/env bats
# Drafts of sources that are not on an index: in a folder, in a repository.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p src/demo src/csrc
	touch src/demo/__init__.py src/csrc/k.cu src/LICENSE
	echo '#include <torch/extension.h>' > src/csrc/bind.cpp
	cat > src/setup.py <<- 'END'
		import os
		open("ran", "w")  # nothing of this file may run
		os.system("touch ran")
		here = os.path.dirname(os.path.abspath(__file__))
		setup(ext_modules=[CUDAExtension("demo._C", ["csrc/bind.cpp", "csrc/k.cu"],
		    include_dirs=[os.path.join(here, "third_party/part/include")])])
	END
}

@test "the draft of a folder" {
	run -0 "$WHEELSMITH" recipe new demo==1.0 --folder src -o recipes/
	[ -z "$(find . -name ran)" ]
	run -0 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	[[ "$output" == *"module   demo._C (pybind): 2 units, 1 of them CUDA"* ]]
	[[ "$output" == *"all that it names is there"* ]]
	grep -q "\"folder\": \"$PWD/src\"" recipes/demo/1.0.json
	grep -q 'setup.py names folders that do not exist: third_party/part/include' recipes/demo/1.0.json
	run -2 "$WHEELSMITH" recipe new demo==1.0 --folder nowhere
	[[ "$output" == *"'nowhere' is not a folder"* ]]
}

@test "a place where no draft can be written is said before anything is read" {
	touch NAME
	ln -s /nonexistent/y leads-nowhere
	local to
	for to in NAME NAME/ NAME/demo.json leads-nowhere; do
		run -2 --separate-stderr "$WHEELSMITH" recipe new demo==1.0 --folder src -o "$to"
		# shellcheck disable=SC2154 # bats sets it
		[ "$stderr" = "error: '${to%%/*}' exists and is not a folder
       write to a folder, or to a file that ends in .json (-o FILE)" ]
	done
	mkdir closed
	chmod 555 closed
	[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	chmod -R a+rX . && mkdir -m 777 store
	run -5 --separate-stderr "${as_nobody[@]}" "$WHEELSMITH" recipe new demo==1.0 --folder src -o closed --store store
	[ "$stderr" = "error: cannot write into the folder 'closed': Permission denied" ]
}

@test "--git takes a URL, and says what takes a folder" {
	run -2 "$WHEELSMITH" recipe new demo==1.0 --git "$PWD/src.git" -o demo.json
	[ "$output" = "error: --git takes a URL (https://...), not '$PWD/src.git'; --folder takes sources on this host" ]
}

@test "a setup.py that is not Python 3 is a note" {
	printf 'print "two"\n' > src/setup.py
	run -0 "$WHEELSMITH" -q recipe new demo==1.0 --folder src
	[[ "$output" == *"// check: setup.py could not be read: SyntaxError"* ]]
	[[ "$output" == *'"csrc/k.cu"'* ]]
}

@test "without python3 a draft fails with a message" {
	mkdir empty
	PATH=$PWD/empty run -3 "$WHEELSMITH" -q recipe new demo==1.0 --folder src
	[[ "$output" == *"no python3 on PATH: 'recipe new' needs one"* ]]
}

@test "the draft of a commit, with the submodule that setup.py names" {
	git() { command git -c user.name=n -c user.email=e -c protocol.file.allow=always -c init.defaultBranch=main "$@"; }
	mkdir -p served part/include
	touch part/include/p.h
	for it in part src; do
		git init -q $it
		git -C $it add -A
		git -C $it commit -qm first
	done
	git clone -q --bare part served/part.git
	printf '[submodule "p"]\n\tpath = third_party/part\n\turl = ../part.git\n[submodule "q"]\n\tpath = docs/theme\n\turl = ../no.git\n' \
		> src/.gitmodules
	git -C src add .gitmodules
	git -C src update-index --add --cacheinfo "160000,$(git -C part rev-parse HEAD),third_party/part"
	git -C src update-index --add --cacheinfo "160000,$(git -C part rev-parse HEAD),docs/theme"
	git -C src commit -qm second
	git clone -q --bare src served/own.git
	commit=$(git -C src rev-parse HEAD)
	coproc python3 "$WS_ROOT/tests/support/git_server.py" served
	read -r _ port _ <&"${COPROC[0]}"
	run -0 "$WHEELSMITH" recipe new demo==1.0 --git "http://127.0.0.1:$port/plain/own.git@$commit" -o recipes/
	run -0 "$WHEELSMITH" recipe check recipes/demo/1.0.json
	grep -q "\"commit\": \"$commit\"" recipes/demo/1.0.json
	grep -q '"submodules": \["third_party/part"\]' recipes/demo/1.0.json
	grep -q '"include": \["third_party/part/include"\]' recipes/demo/1.0.json
	eval "exec ${COPROC[1]}>&-"
}

@test "damaged sources give drafts that can be read" {
	python3 -W ignore "$WS_ROOT/tests/support/fuzz_draft.py" 12 600 drafts
	run "$WHEELSMITH" recipe check drafts/demo/*.json
	[ "$status" -eq 0 ] || grep -B1 -A4 error <<< "$output"
	[ "$(grep -c 'the text is right' <<< "$output")" -eq 600 ]
}
