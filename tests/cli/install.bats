#!/usr/bin/env bats
# An installed program: it runs without the source tree, also after its prefix was moved.

load helpers

setup_file() {
	export PREFIX="$BATS_FILE_TMPDIR/prefix"
	cmake --install "$WS_BINARY_DIR" --prefix "$PREFIX" > "$BATS_FILE_TMPDIR/log"
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

# Plans with the program in $1 and checks the folder of its data.
plans_from() { # prefix
	run -0 "$1/bin/wheelsmith" plan --why '*' --torch 2.11.0 --python 3.11 --arch 9.0 \
		causal-conv1d==1.5.3.post1
	echo "$output"
	[[ $output == *"recipe $1/share/wheelsmith/recipes/causal-conv1d/1.5.3.post1.json"* ]]
	[[ $output == *"decision  build"* ]]
}

@test "it plans" {
	plans_from "$PREFIX"
}

@test "it opens nothing of the source tree or the build tree" {
	needs strace
	strace -f -qq -e trace=file -o trace "$PREFIX/bin/wheelsmith" plan --matrix \
		"$PREFIX/share/wheelsmith/matrix/quickstart.json"
	[ -s trace ]
	run ! grep -F -e "\"$WS_ROOT" -e "\"$WS_BINARY_DIR" trace
}

@test "a prefix can be moved, and be reached through a link" {
	cp -r "$PREFIX" moved
	plans_from "$PWD/moved"
	ln -s moved/bin/wheelsmith wheelsmith
	run -0 ./wheelsmith plan --torch 2.11.0 --python 3.11 --arch 9.0 causal-conv1d==1.5.3.post1
}

@test "a program without its data says so" {
	mkdir -p alone/bin
	cp "$PREFIX/bin/wheelsmith" alone/bin
	[ ! -d /usr/local/share/wheelsmith ] || cannot_run "this host has an installation"
	run -3 alone/bin/wheelsmith plan --torch 2.11.0 causal-conv1d==1.5.3.post1
	[[ $output == *"the program's data is not in"* ]]
	[[ $output == *"cmake --install"* ]]
}

@test "the release build needs no test package" {
	mkdir pc
	pkg-config --variable pc_path pkg-config | tr : '\n' | while read -r folder; do
		[ ! -d "$folder" ] || find "$folder" -name '*.pc' ! -name cmocka.pc -exec ln -sf -t pc {} +
	done
	cd "$WS_ROOT"
	PKG_CONFIG_LIBDIR=$BATS_TEST_TMPDIR/pc cmake --preset release -B "$BATS_TEST_TMPDIR/release"
	[ ! -e "$BATS_TEST_TMPDIR/release/tests" ]
}

@test "everything is where it belongs" {
	cd "$PREFIX/share"
	[ -f wheelsmith/matrix/facts/torch.json ]
	[ -f wheelsmith/matrix/facts/exports/torch-2.11.0.zst ]
	[ -f wheelsmith/matrix/kits/cuda-13.0.json ]
	[ -f wheelsmith/recipes/README.md ]
	[ -f wheelsmith/schemas/lock-1.json ]
	[ -f doc/wheelsmith/LICENSE ]
	[ -f doc/wheelsmith/README.md ]
	cmp bash-completion/completions/wheelsmith "$WS_ROOT/completions/wheelsmith.bash"
	cmp zsh/site-functions/_wheelsmith "$WS_ROOT/completions/_wheelsmith"
	cmp fish/vendor_completions.d/wheelsmith.fish "$WS_ROOT/completions/wheelsmith.fish"
	[ -z "$(find . -name '*.lock.json' -o -name '*.scd')" ]
	! command -v scdoc > /dev/null || [ -f man/man1/wheelsmith.1 ]
}

@test "the manual is found beside the program" {
	needs scdoc man
	PATH="$PREFIX/bin:$PATH" run -0 man -w wheelsmith
	[ "$output" = "$PREFIX/share/man/man1/wheelsmith.1" ]
}
