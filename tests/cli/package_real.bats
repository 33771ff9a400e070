#!/usr/bin/env bats
# ./dev package: what it makes runs where only glibc is, and under pip.
# labels: real
# timeout: 1800

load helpers

setup_file() {
	export DIST="$BATS_FILE_TMPDIR/dist"
	(cd "$WS_ROOT" && ./dev package "$DIST") >&2
	ARCHIVE=$(echo "$DIST"/wheelsmith-*-linux-x86_64.tar.xz) WHEEL=$(echo "$DIST"/wheelsmith-*.whl)
	export ARCHIVE WHEEL
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

# A root with glibc, the archive's files and nothing else: no shell, no library of Debian's.
bare_root() { # folder
	local file
	mkdir -p "$1/opt" "$1/tmp" "$1/proc" "$1/dev"
	: > "$1/dev/null" # every container has one
	dpkg -L libc6 | grep -E '/lib(64)?/.*\.so' | while read -r file; do
		[ ! -f "$file" ] || install -D "$file" "$1$file"
	done
	tar -xJf "$ARCHIVE" -C "$1/opt"
	mv "$1"/opt/wheelsmith-* "$1/opt/moved"
}

# The same with the libraries of Debian 11, whose glibc is 2.31.
old_root() { # folder
	mkdir -p "$1/opt" "$1/tmp" "$1/proc" "$1/dev" unpacked "$1/lib64"
	: > "$1/dev/null"
	(cd "$WS_ROOT/tools" && python3 -c 'import floors, pathlib, sys
floors.unpack("bullseye", "amd64", pathlib.Path(sys.argv[1]))' "$OLDPWD/unpacked")
	cp -a unpacked/lib unpacked/lib64 "$1/"
	rm -f "$1"/lib/x86_64-linux-gnu/lib{stdc++,gcc_s,atomic}*
	tar -xJf "$ARCHIVE" -C "$1/opt"
	mv "$1"/opt/wheelsmith-* "$1/opt/moved"
}

# The loader finds the program's folder through /proc.
in_root() { # folder, words
	local root=$1
	shift
	env -i HOME=/tmp unshare -Urpf --mount-proc --root="$root" /opt/moved/bin/wheelsmith "$@"
}

@test "with glibc alone it plans and checks recipes" {
	needs unshare
	bare_root root
	run -0 in_root root --version
	run -0 in_root root plan --torch 2.11.0 --python 3.11 --arch 9.0 causal-conv1d==1.5.3.post1
	[[ $output == *"1 excluded: no Python 3.11 on this host"* ]]
	run -0 in_root root plan --matrix /opt/moved/share/wheelsmith/matrix/hopper.json
	run -0 in_root root recipe check /opt/moved/share/wheelsmith/recipes/causal-conv1d/1.5.3.post1.json
	run -0 in_root root inspect --json /opt/moved/bin/wheelsmith
	[[ $output == *'"verdict": "sound"'* ]]
}

@test "with the glibc of Debian 11 it plans, and reads ELF files in a child" {
	needs unshare
	old_root root
	run -0 in_root root --version
	run -0 in_root root plan --torch 2.11.0 --python 3.11 --arch 9.0 causal-conv1d==1.5.3.post1
	[[ $output == *"1 excluded: no Python 3.11 on this host"* ]]
	run -0 in_root root inspect --json /opt/moved/bin/wheelsmith
	[[ $output == *'"verdict": "sound"'* ]]
}

@test "every file asks for glibc 2.28 at most" {
	needs objdump
	tar -xJf "$ARCHIVE"
	local file
	for file in wheelsmith-*/bin/wheelsmith wheelsmith-*/lib/wheelsmith/*; do
		run -0 objdump -T "$file"
		newest=$(grep -o 'GLIBC_2\.[0-9]*' <<< "$output" | sort -V | tail -n 1)
		echo "$file $newest"
		[ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ]
	done
	[[ $WHEEL == *-py3-none-manylinux_2_28_x86_64.whl ]]
	run -0 "$WHEELSMITH" inspect "$WHEEL"
}

# An order that is none is refused with 70: it runs, without a library and a loader.
@test "wheelsmith-exec is beside the program and runs alone" {
	needs unshare readelf
	tar -xJf "$ARCHIVE"
	mkdir worker
	cp wheelsmith-*/bin/wheelsmith-exec worker/
	run -0 readelf -lW worker/wheelsmith-exec
	[[ $output != *INTERP* ]]
	echo none > worker/order
	run -70 env -i unshare -Ur --root="$PWD/worker" /wheelsmith-exec
	[[ $output == *"it is not a wheelsmith order"* ]]
}

@test "each library has its licence and its version" {
	tar -xJf "$ARCHIVE"
	cd wheelsmith-*/share/doc/wheelsmith/libraries
	local package version rest
	while read -r package version rest; do
		[ -s "$package.copyright" ] && [ -n "$version" ]
	done < VERSIONS
	[ "$(find . -name '*.copyright' | wc -l)" = "$(wc -l < VERSIONS)" ]
	grep -q '^libarchive-dev ' VERSIONS
	grep -q '^libssl3' VERSIONS
	grep -q '^libc6-dev ' VERSIONS
}

@test "pip installs it, and it finds its data" {
	python3 -m venv venv
	venv/bin/pip install -q --no-index "$WHEEL"
	run -0 env -i HOME="$HOME" venv/bin/wheelsmith plan --why '*' --torch 2.11.0 --python 3.11 --arch 9.0 \
		causal-conv1d==1.5.3.post1
	[[ $output == *"/venv/share/wheelsmith/recipes/causal-conv1d/"* ]]
	[ -x venv/bin/wheelsmith-exec ]
	run -0 venv/bin/pip uninstall -q -y wheelsmith
	[ -z "$(find venv -type f -path '*wheelsmith*')" ]
}

@test "for aarch64 it runs with the glibc of Debian 11 under qemu-user" {
	needs qemu-aarch64-static aarch64-linux-gnu-gcc-12
	(cd "$WS_ROOT" && ./dev package --platform aarch64 "$BATS_TEST_TMPDIR/arm") >&2
	[ -f arm/wheelsmith-*-py3-none-manylinux_2_28_aarch64.whl ]
	mkdir unpacked
	(cd "$WS_ROOT/tools" && python3 -c 'import floors, pathlib, sys
floors.unpack("bullseye", "arm64", pathlib.Path(sys.argv[1]))' "$BATS_TEST_TMPDIR/unpacked")
	tar -xJf arm/wheelsmith-*-linux-aarch64.tar.xz
	run -0 qemu-aarch64-static -L unpacked wheelsmith-*/bin/wheelsmith plan --torch 2.11.0 --python 3.11 --arch 9.0 \
		causal-conv1d==1.5.3.post1
	[[ $output == *"9.0/aarch64"*"1 to build"* ]]
}

@test "the same files make the same bytes" {
	local folder
	tar -xJf "$ARCHIVE"
	folder=$(echo wheelsmith-*)
	version=${folder#wheelsmith-} version=${version%-linux-x86_64}
	SOURCE_DATE_EPOCH=$(git -C "$WS_ROOT" log -1 --format=%ct) "$WS_ROOT/tools/package.py" "$folder" "$version" again
	diff -r "$DIST" again
}
