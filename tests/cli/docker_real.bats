#!/usr/bin/env bats
# The Dockerfile, built by buildah with chroot isolation on a bare Debian 12 with a second Python in it.
# Needs root, 25 GB below TMPDIR and a quarter of an hour on 2 idle cores.
# labels: network real
# timeout: 10800

load helpers

setup_file() {
	[ "$(id -u)" = 0 ] || cannot_run "debootstrap needs root"
	needs buildah debootstrap
	export WORK="$BATS_FILE_TMPDIR" BUILDAH_ISOLATION=chroot
	export CONTAINERS_STORAGE_CONF="$WORK/storage.conf" CONTAINERS_REGISTRIES_CONF="$WORK/registries.conf"
	export CONTEXT="$WORK/context" MATRIX="$WORK/context/matrix/quickstart.json"
	mkdir -p "$WORK/tmp" "$CONTEXT"
	export TMPDIR="$WORK/tmp" # cache mounts lie there
	# Overlay, because vfs copies every layer; and no registry, so that nothing is pulled by accident.
	printf '[storage]\ndriver = "overlay"\nrunroot = "%s"\ngraphroot = "%s"\n' "$WORK/run" "$WORK/root" \
		> "$CONTAINERS_STORAGE_CONF"
	printf 'unqualified-search-registries = []\n' > "$CONTAINERS_REGISTRIES_CONF"
	(cd "$WS_ROOT" && git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -T - -cf -) | tar -xf - -C "$CONTEXT"
	sed -i 's/"host", .*/["3.11"],/' "$MATRIX"
	second_python
	make_base
}

teardown() {
	[ -z "${SERVER_PID:-}" ] || kill "$SERVER_PID"
}

teardown_file() {
	buildah rm -a > /dev/null || true
	buildah rmi -a -f > /dev/null || true
	rm -rf "$WORK/root" "$WORK/run" "$WORK/tmp"
}

# A Python 3.12 of this host, by its folder.
second_python() {
	SECOND=$(python3.12 -c 'import sys; print(sys.base_prefix)' 2> /dev/null ||
		find "${PYENV_ROOT:-$HOME/.pyenv}/versions" -maxdepth 1 -name '3.12.*' 2> /dev/null | head -n 1)
	[ -n "$SECOND" ] || cannot_run "no Python 3.12 here"
	export SECOND
}

make_base() {
	local container
	debootstrap --variant=minbase --include=ca-certificates bookworm "$WORK/debian" > "$WORK/debootstrap.log"
	rm -rf "$WORK"/debian/var/cache/apt/archives/*.deb
	mkdir -p "$WORK/debian$SECOND" "$WORK/debian/usr/local/bin"
	cp -a "$SECOND"/{bin,include,lib} "$WORK/debian$SECOND"
	rm -rf "$WORK/debian$SECOND"/lib/python3.12/{test,site-packages/*} "$WORK/debian$SECOND"/lib/python3.12/config-*
	ln -s "$SECOND/bin/python3.12" "$WORK/debian/usr/local/bin/python3.12"
	container=$(buildah from scratch)
	buildah add -q "$container" "$WORK/debian" / > /dev/null
	buildah commit -q "$container" localhost/debian > /dev/null
	buildah rm "$container" > /dev/null
	rm -rf "$WORK/debian"
}

# Builds what is in the context. Certificates of a proxy come in as a secret.
bud() { # log, words
	local log=$1 secret=()
	shift
	[ -z "${SSL_CERT_FILE:-}" ] || secret=(--secret "id=ca,src=$SSL_CERT_FILE")
	buildah bud --layers --build-arg BASE=localhost/debian --build-arg BUILDER=localhost/debian \
		"${secret[@]}" "$@" "$CONTEXT" > "$log" 2>&1
}

# As bud, and prints what it took also where the test passes: docs/docker.md has such a table.
timed() { # log, words
	local TIMEFORMAT='# the whole of buildah: %R s; the stage:'
	{ time bud "$@"; } 2>&3 || return
	grep -E 'ready' "$1" | sed 's/^/#   /' >&3
}

compiled() { # logs
	[ -e "$1" ] || return 0
	sed -n 's/.*\] compile \([^ ]*\).*/\1/p' "$@"
}

# A process and all below it: chroot isolation has no process namespace that would end with its first.
below() { # pid
	local child
	echo "$1"
	for child in $(pgrep -P "$1"); do
		below "$child"
	done
}

@test "killed once in the middle, the second build compiles nothing twice" {
	bud "$WORK/killed.log" --target wheels &
	local build=$! family
	for _ in $(seq 7200); do
		[ -z "$(compiled "$WORK/killed.log")" ] || break
		kill -0 "$build" || { tail -n 40 "$WORK/killed.log"; return 1; }
		sleep 1
	done
	mapfile -t family < <(below "$build")
	kill -KILL "${family[@]}" || true
	wait "$build" || true
	bud "$WORK/second.log" --target wheels || { tail -n 40 "$WORK/second.log"; return 1; }
	compiled "$WORK/killed.log" "$WORK/second.log"
	[ -n "$(compiled "$WORK/killed.log")" ]
	[ "$(compiled "$WORK/killed.log" "$WORK/second.log" | sort)" = "$(printf '%s\n' causal_conv1d.cpp \
		causal_conv1d_bwd.cu causal_conv1d_fwd.cu causal_conv1d_update.cu)" ]
}

@test "where nothing changed, the stage has nothing to do" {
	touch "$CONTEXT/matrix/another.json" # the stage runs again
	timed "$WORK/nothing.log" --target wheels
	tail -n 12 "$WORK/nothing.log"
	[ -z "$(compiled "$WORK/nothing.log")" ]
	grep -q '1 cell: 0 to build, 1 cached' "$WORK/nothing.log"
}

@test "one more Python is its binding file and the link" {
	sed -i 's/\["3.11"\]/["3.11", "3.12"]/' "$MATRIX"
	timed "$WORK/python.log" --target wheels
	grep -E '\[ *[0-9]+/|from the store' "$WORK/python.log"
	[ "$(compiled "$WORK/python.log")" = causal_conv1d.cpp ]
	[ "$(grep -c '\] link ' "$WORK/python.log")" = 1 ]
}

@test "the image imports the package, is not root, and has no tool of ours" {
	bud "$WORK/image.log" -t localhost/image || { tail -n 40 "$WORK/image.log"; return 1; }
	grep -A 3 'verify --here' "$WORK/image.log"
	container=$(buildah from localhost/image)
	run -0 buildah run "$container" -- python3 -c 'import os, torch, causal_conv1d, causal_conv1d_cuda
print(torch.__version__, causal_conv1d.__version__, os.getuid())'
	[[ $output == *"2.11.0"*"1.5.3.post1"*"10001"* ]]
	run -1 buildah run "$container" -- sh -c 'ls -d /opt/wheelsmith/bin /ours/* /dist/* 2> /dev/null | grep . || command -v g++ || command -v nvcc || exit 1'
	buildah rm "$container"
}

@test "a stage whose wheels are all prebuilt judges them, and compiles nothing" {
	local container port count _
	bud "$WORK/again.log" --target wheels -t localhost/wheels
	container=$(buildah from localhost/wheels)
	cp -a "$(buildah mount "$container")/dist" "$WORK/dist"
	buildah rm "$container" > /dev/null
	"$WHEELSMITH" publish "$WORK/dist" --to "$WORK/idx"
	coproc SERVER { exec python3 "$WS_ROOT/tests/support/index_server.py" "$WORK/idx" "$WORK/asked" html; }
	read -r _ port <&"${SERVER[0]}"
	rm -rf "$WORK"/tmp/buildah-cache*/* # a store that knows nothing
	sed "s|\"policy\": .*|\"policy\": \"prebuilt-only\", \"indexes\": {\"prebuilt\": [\"http://127.0.0.1:$port/cu130-torch2.11/simple\"]},|" \
		"$MATRIX" > "$CONTEXT/matrix/prebuilt.json"
	timed "$WORK/prebuilt.log" --target wheels --build-arg MATRIX=matrix/prebuilt.json || { tail -n 40 "$WORK/prebuilt.log"; return 1; }
	[ -z "$(compiled "$WORK/prebuilt.log")" ]
	count=$(find "$WORK/dist" -name '*.whl' | wc -l)
	grep -q "$count ready ($count prebuilt)" "$WORK/prebuilt.log"
}

# An installation of the program, out of the first stage: what is mounted into an image that is looked at.
installation() {
	local container
	bud "$WORK/program.log" --target wheelsmith -t localhost/program
	container=$(buildah from localhost/program)
	cp -a "$(buildah mount "$container")/opt/wheelsmith" "$WORK/prefix"
	buildah rm "$container" > /dev/null
}

verify_image() { # ARGUMENTS
	run python3 "$WS_ROOT/tools/verify_image.py" --engine buildah --prefix "$WORK/prefix" "$@"
	echo "$output"
}

@test "verify-image: the image with the example server has what was built for it" {
	local before # the build that was killed left its containers
	installation
	before=$(buildah containers -q)
	buildah bud --layers --format docker --build-arg RUNTIME=localhost/image -t localhost/server "$CONTEXT/examples/server" \
		> "$WORK/server.log" 2>&1
	verify_image localhost/server
	[ "$status" -eq 0 ]
	[[ $output == *"torch 2.11.0+cu130"*"causal-conv1d: build, installed"*"causal-conv1d: loads in this torch"* ]]
	[[ $output == *"no GPU is seen"*"serves: attn sdpa"*"ends with 0 on SIGTERM"* ]]
	verify_image --require-gpu localhost/server
	[ "$status" -eq 1 ]
	[[ $output == *"fails   no GPU is seen"* ]]
	[ "$(buildah containers -q)" = "$before" ]
}

@test "verify-image: a wheel for another torch, a file that was changed, and an image that is not there" {
	local container root site
	# The symbol that every extension of the other ABI needs.
	container=$(buildah from localhost/image)
	root=$(buildah mount "$container")
	site=$(echo "$root"/opt/venv/lib/python3.11/site-packages)
	printf '#include <string>\nnamespace c10 { struct SourceLocation { const char *f, *g; unsigned l; };\nstruct Error { Error(SourceLocation, std::string); }; }\nextern "C" void f() { c10::Error e({"", "", 1}, "x"); }\n' > "$WORK/m.cpp"
	rm "$site"/causal_conv1d_cuda*.so
	g++ -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=0 -o "$site/causal_conv1d_cuda.cpython-311-x86_64-linux-gnu.so" "$WORK/m.cpp" \
		-L"$site/torch/lib" -Wl,--no-as-needed -lc10
	buildah commit -q "$container" localhost/other > /dev/null
	buildah rm "$container" > /dev/null
	verify_image localhost/other
	[ "$status" -eq 1 ]
	[[ $output == *"fails   causal-conv1d 1.5.3.post1"*"is not the file that RECORD lists"* ]]
	[[ $output == *"fails   causal-conv1d: "*"built for cxx11abi 0; this torch is cxx11abi 1"* ]]
	verify_image localhost/none
	[ "$status" -eq 2 ]
}

@test "where nothing is published and nothing may be built, the image falls back, and its label says so" {
	sed -e 's/"2.4.1", //; s/prefer-prebuilt/prebuilt-only/' "$WS_ROOT/matrix/h100-docker.json" > "$CONTEXT/matrix/h100.json"
	bud "$WORK/sdpa.log" --build-arg MATRIX=matrix/h100.json -t localhost/sdpa || { tail -n 40 "$WORK/sdpa.log"; return 1; }
	# As docs/docker.md has it: the line that the build prints, and not the step that prints it.
	[ "$(grep -o 'DECISION=[a-z].*' "$WORK/sdpa.log")" = DECISION=flash-attn=fallback ]
	bud "$WORK/label.log" --build-arg MATRIX=matrix/h100.json --build-arg DECISION=flash-attn=fallback -t localhost/sdpa
	verify_image localhost/sdpa
	[ "$status" -eq 0 ]
	[[ $output == *"its label says flash-attn=fallback"* ]]
	run ! bud "$WORK/wrong.log" --build-arg MATRIX=matrix/h100.json --build-arg DECISION=flash-attn=prebuilt
	grep -q 'the decision is not flash-attn=prebuilt' "$WORK/wrong.log"
}
