#!/usr/bin/env bats
# shellcheck disable=SC2016 # programs in single quotes
# doctor in a home of the test's own: what it finds, how it degrades, what it marks.

load helpers

setup() {
	private_home
	export COLUMNS=80
	unset CURL_CA_BUNDLE SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT
	index=(--index "https://who:secret@example.org/simple")
	fake="$BATS_TEST_TMPDIR/fake"
	mkdir -p "$fake"
	export PATH="$fake:$PATH"
	cd "$BATS_TEST_TMPDIR" || return
}

# The page on one line, whatever its width.
flat() {
	tr -s ' \n' ' ' <<< "$output"
}

# A program in front of PATH.
put_program() { # name, text
	printf '#!/bin/sh\n%s\n' "$2" > "$fake/$1"
	chmod +x "$fake/$1"
}

# A Python that reports its version but has no headers.
put_python() { # path
	cat > "$1" <<'SH'
#!/bin/sh
[ "$1" = -V ] && echo "Python 3.12.9" && exit
cat <<JSON
{"implementation": "cpython", "version": {"major": 3, "minor": 12, "micro": 9, "releaselevel": "final", "serial": 0},
 "free_threaded": false, "executable": "$0", "include": "/usr/include/python3.12", "multiarch": "",
 "ext_suffix": ".cpython-312-x86_64-linux-gnu.so", "library": "$0", "purelib": "/nowhere"}
JSON
SH
	chmod +x "$1"
}

# The program as if installed below $BATS_TEST_TMPDIR/prefix, with data that a test may change.
install_copy() {
	mkdir -p prefix/bin prefix/share/wheelsmith
	cp "$WHEELSMITH" prefix/bin/
	cp -r "$WS_ROOT/matrix" prefix/share/wheelsmith/
	WHEELSMITH="$PWD/prefix/bin/wheelsmith"
}

@test "a host that can build" {
	run -0 "$WHEELSMITH" doctor "${index[@]}"
	for part in host store compilers CUDA Pythons torch GPUs indexes libraries ignored; do
		grep -q "^$part " <<< "$output"
	done
	[[ "$output" == *"cores, "*" of memory, "*" of it free"* ]]
	[[ "$output" == *"most is held by "* ]]
	[[ "$output" == *"$WHEELSMITH_STORE"*"not there yet"* ]]
	[[ "$output" == *"gcc   12."*"for CUDA 12.0 and newer"* ]]
	[[ "$output" == *"archive kits for 11.8, 12.4, 12.6, 12.8, 12.9, 13.0"* ]]
	[[ "$output" == *"/usr/bin/python3"* ]]
	[[ "$output" == *"https://example.org/simple  (--index)"* ]]
	[[ "$output" != *secret* ]]
	[[ "$output" == *"no variable that is ignored is set"* ]]
	[[ "$output" == *"this host can build"* ]]
	[ ! -e "$WHEELSMITH_STORE" ]
}

@test "no line is wider than the page, unless it is one long word" {
	for COLUMNS in 40 60 80 100; do
		"$WHEELSMITH" doctor "${index[@]}" > page
		python3 - "$COLUMNS" <<'PYTHON'
import sys
width = int(sys.argv[1])
for line in open("page", encoding="utf-8").read().split("\n")[:-2]:
    assert len(line) <= width or " " not in line[14:].strip(), line
PYTHON
	done
}

@test "GPUs and who uses them" {
	put_program nvidia-smi 'case $1 in
*gpu=*) echo "0, NVIDIA H200, 9.0, 143771 MiB, 580.159.04"; echo "1, NVIDIA A10, 8.6, 23028 MiB, 580.159.04" ;;
*apps=*) printf "435, /opt/train\033[2J, 518 MiB\n" ;; esac'
	run -0 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$output" == *"0  NVIDIA H200, arch 9.0, 140.4 GiB"*"1  NVIDIA A10, arch 8.6, 22.5 GiB"* ]]
	[[ "$output" == *"used by /opt/train?[2J (435), 518 MiB"* ]]
	[[ "$output" == *"driver 580.159.04"* ]]
	put_program nvidia-smi 'echo "NVIDIA-SMI has failed"; exit 9'
	run -0 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$(flat)" == *"exited with 9: NVIDIA-SMI has failed"* ]]
}

# The driver's number is a process here only where its program is the same: a container counts its own.
@test "the processes on a GPU with start and command, and leftovers of dead ones" {
	sleep 300 &
	local own=$! left
	left=$(setsid sh -c 'sleep 301 > /dev/null 2>&1 & echo $!')
	put_program nvidia-smi "case \$1 in
*gpu=*) echo '0, NVIDIA H200, 9.0, 143771 MiB, 580.1' ;;
*apps=*) echo '$own, /usr/bin/sleep, 518 MiB'; echo '$left, sleep, 2048 MiB'; echo '$$, /opt/train, 7 MiB' ;; esac"
	run "$WHEELSMITH" doctor "${index[@]}"
	run2=$("$WHEELSMITH" doctor "${index[@]}" --json)
	local parent
	parent=$(sed 's/.*) //' "/proc/$left/stat" | cut -d' ' -f2)
	kill "$own" "$left"
	[[ $(flat) == *"used by /usr/bin/sleep ($own), 518 MiB: $(id -un), for "*" s: sleep 300"* ]]
	[[ $(flat) == *"used by /opt/train ($$), 7 MiB"* ]]
	[[ $(flat) != *"($$), 7 MiB:"* ]]
	jq -e ".gpu_users[0].command == \"sleep 300\" and (.gpu_users[0].stale | not) and .gpu_users[2].command == null" <<< "$run2"
	if [ "$parent" = 1 ]; then # else this host's session manager takes orphans
		[[ $(flat) == *"! used by sleep ($left), 2.0 GiB: "*"stale: the process that started it has ended"*"if it is not needed: kill $left"* ]]
		jq -e ".gpu_users[1].stale" <<< "$run2"
	fi
}

@test "variables that are ignored, each with what takes its place" {
	CC=gcc-11 MAX_JOBS=2 TORCH_CUDA_ARCH_LIST='8.0' run -0 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$(flat)" == *"! CC; instead: the newest compiler that the CUDA toolkit takes is chosen"* ]]
	[[ "$output" == *"! TORCH_CUDA_ARCH_LIST; instead: the matrix's 'arch', or --arch"* ]]
	[[ "$output" == *"! MAX_JOBS; instead: -j N, or --memory SIZE"* ]]
}

@test "a store that cannot be made" {
	touch file
	run -1 "$WHEELSMITH" doctor "${index[@]}" --store file/store
	[[ "$output" == *"x 'file' is not a folder"*"-> name a folder for the store: --store DIR"* ]]
	[[ "$(flat)" == *"x nothing can be built here until 1 problem is solved"* ]]
	grep -q '^GPUs ' <<< "$output"
}

@test "A store with a different version" {
	mkdir "$WHEELSMITH_STORE"
	echo wheelsmith.store/77 > "$WHEELSMITH_STORE/VERSION"
	run -1 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$(flat)" == *"was made by another wheelsmith ('wheelsmith.store/77')"*"delete the folder"* ]]
	[ "$(ls "$WHEELSMITH_STORE")" = VERSION ]
}

@test "the contents of a store, and the place that the configuration names" {
	mkdir -p "$HOME/.config/wheelsmith" big/cas/aa big/trees/cuda-12.4-"$(printf '0%.0s' {1..64})"/bin
	unset WHEELSMITH_STORE
	echo "{\"store\": \"$PWD/big\"}" > "$HOME/.config/wheelsmith/config.json"
	head -c 1234567 /dev/zero > big/cas/aa/x
	touch big/trees/cuda-13.0-x.list
	run -0 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$output" == *"$PWD/big"*"1.2 MB in 2 files, 1 tree"* ]]
	[[ "$output" == *"in the store: 12.4"* ]]
	[[ "$output" != *"in the store: 12.4, "* ]]
	run -0 "$WHEELSMITH" recipe check "$WS_ROOT/recipes/causal-conv1d/1.5.3.post1.json"
	[ -e big/VERSION ]
}

@test "one Python alone, without headers" {
	put_python "$PWD/python3.12"
	run -1 "$WHEELSMITH" doctor "${index[@]}" --python "$PWD/python3.12"
	[[ "$output" == *"x Python 3.12.9 has no headers"*"apt-get install python3.12-dev"* ]]
	[ "$(grep -c '/python3.11' <<< "$output")" -eq 0 ]
	PATH="$PWD:$PATH" run "$WHEELSMITH" doctor "${index[@]}" --python 3.12 # this one, or another of the host's
	[[ "$output" == *" 3.12."* ]]
	PATH="$PWD:$PATH" run -1 "$WHEELSMITH" doctor "${index[@]}" --python python3.12
	[[ "$output" == *"x Python 3.12.9 has no headers"* ]]
	run -3 "$WHEELSMITH" doctor "${index[@]}" --python 3.99
	[[ "$output" == "error: no Python 3.99 on this host"*"name the Python: --python /path/to/python3.99"* ]]
	run -1 "$WHEELSMITH" doctor "${index[@]}" --python /nowhere/python3
	[[ "$output" == *"x "*"/nowhere/python3"* ]]
}

@test "one Python among others without headers is marked, and nothing more" {
	put_python "$fake/python3.12"
	run -0 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$output" == *"! 3.12.9"*"no headers"*"apt-get install python3.12-dev"* ]]
}

@test "the torch of an interpreter" {
	python3 -m venv --without-pip venv
	python3 "$WS_ROOT/tests/support/make_torch.py" wheels version=2.7.1 label=cu126 cuda=12.6 abi=1
	(cd venv/lib/python3.*/site-packages && python3 -m zipfile -e "$BATS_TEST_TMPDIR"/wheels/torch-*.whl .)
	run -0 "$WHEELSMITH" doctor "${index[@]}" --python "$PWD/venv/bin/python3"
	[[ "$(flat)" == *"torch 2.7.1+cu126, CUDA 12.6, cxx11abi 1 "*"/site-packages/torch"* ]]
}

@test "no compiler that any CUDA takes" {
	install_copy
	sed -i -e 's/"gcc_max": [0-9]*/"gcc_max": 4/' -e 's/"clang_max": [0-9]*/"clang_max": 4/' prefix/share/wheelsmith/matrix/facts/cuda.json
	run -1 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$output" == *"for CUDA none"* ]]
	[[ "$output" == *"x no installed C++ compiler is supported by a known CUDA version"* ]]
}

@test "mistakes in the configuration and in the data hide nothing else" {
	install_copy
	echo '{"toolkits": 3}' > prefix/share/wheelsmith/matrix/facts/cuda.json
	mkdir -p "$HOME/.config/wheelsmith"
	echo '{"stoer": "x"}' > "$HOME/.config/wheelsmith/config.json"
	run -1 "$WHEELSMITH" doctor "${index[@]}"
	[[ "$(flat)" == *"config.json:1:2: unknown key 'stoer'"* ]]
	[[ "$output" == *"cuda.json:1:"* ]]
	[[ "$output" == *"gcc   12."* ]]
	[[ "$output" == *"until 2 problems are solved"* ]]
}

@test "indexes that make no sense, certificates that do not exist" {
	run -0 "$WHEELSMITH" doctor --index nonsense
	[[ "$output" == *"! "*nonsense* ]]
	SSL_CERT_FILE=/nowhere/ca.pem run "$WHEELSMITH" doctor "${index[@]}"
	[[ "$output" == *"! the certificates '/nowhere/ca.pem' do not exist"*"SSL_CERT_FILE"* ]]
}

@test "the same as JSON" {
	put_program nvidia-smi 'case $1 in *gpu=*) echo "0, NVIDIA A10, 8.6, 23028 MiB, 550.1" ;; esac'
	MAX_JOBS=2 run -0 "$WHEELSMITH" doctor "${index[@]}" --json
	jq -e '.schema == "wheelsmith.doctor/1" and .can_build and (.host.cores >= 1) and (.host.memory_bytes > 0)
		and (.host.holders | length) > 0 and (.store.is_there | not) and (.compilers | length) > 0
		and (.archive_kits | map(.cuda) | index("12.4")) != null and (.pythons | map(select(.has_headers)) | length) > 0
		and .gpus[0].arch == "8.6" and .gpu_users == [] and .driver == "550.1" and .why_no_gpu == null
		and .indexes[0].url == "https://example.org/simple" and .indexes[0].from == "--index"
		and .ignored_variables[0].name == "MAX_JOBS" and (.libgit2 | test("^[0-9]"))
		and (.problems | map(select(.part == "ignored" and (.blocks | not))) | length) == 1' <<< "$output"
	run -1 "$WHEELSMITH" doctor "${index[@]}" --json --store /dev/null/x
	jq -e '(.can_build | not) and (.problems | map(select(.blocks))[0].part) == "store"' <<< "$output"
}
