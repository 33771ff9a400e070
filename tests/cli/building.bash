# building.bash - `load building`: packages that build in a second, what they are built with, and
# servers, for the files of this folder that run `build` and similar commands.
#
# The torch is one of tests/support/make_torch.py under the name of a real release: its kit comes out of
# a real wheel by ranges, and the check takes the export list of that release. CUDA is the host's 13.0,
# else the archive kit.
# shellcheck shell=bash disable=SC2154

load helpers

TORCH=2.11.0
PY=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CP=cp${PY/./}
CELL="tiny-1.0/torch$TORCH/cu13.0/$CP/sm86"

# Pythons are looked for below HOME, which is about to change.
own_home() {
	[ -n "${PYENV_ROOT:-}" ] || [ ! -d "$HOME/.pyenv" ] || export PYENV_ROOT="$HOME/.pyenv"
	private_home
}

# A store with the torch kit and the CUDA kit, made once for each wheelsmith that is tested. Without a toolkit on this host
# the CUDA kit is made of archives: 105 MB, from the index and mirror of this host.
make_base() {
	exec 9> "$WS_BINARY_DIR/test-base.lock"
	flock 9
	BASE=$WS_BINARY_DIR/test-base
	local stamp
	stamp=$(cat "$WHEELSMITH" "$BATS_TEST_DIRNAME/building.bash" | sha256sum)
	if [ "$(cat "$BASE/stamp" 2> /dev/null)" != "$stamp" ]; then
		rm -rf "$BASE"
		mkdir -p "$BASE/www/x/files"
		fake_torch "$BASE/www/x/files"
		tiny "$BASE"
		serve "$BASE/www"
		local from=(--index "$INDEX")
		host_toolkit > /dev/null || from=(--kits archive --index "torch=$INDEX")
		"$WHEELSMITH" fetch --matrix "$BASE/m.json" --store "$BASE/store" "${from[@]}" 9>&-
		# This host adds the headers of its Python to the downloads.
		"$WHEELSMITH" shell "$CELL" --matrix "$BASE/m.json" --store "$BASE/store" 9>&- < /dev/null
		unserve
		echo "$stamp" > "$BASE/stamp"
	fi
	exec 9>&-
}

fake_torch() { # FOLDER [NAME=VALUE...]
	python3 "$WS_ROOT/tests/support/make_torch.py" "$1" version=$TORCH python="$CP" abi=1 cuda=13.0 label=cu130 \
		platform=manylinux_2_28_x86_64 "${@:2}"
}

# $WHEELSMITH_STORE and ./m.json, ready to build offline: kits are links into the base, but what is
# written in place (the ledger) is copied.
from_base() {
	mkdir -p "$WHEELSMITH_STORE"
	cp -alf "$BASE"/store/{cas,ac,trees} "$WHEELSMITH_STORE" 2> /dev/null ||
		cp -a --reflink=auto "$BASE"/store/{cas,ac,trees} "$WHEELSMITH_STORE"
	cp "$BASE"/store/{VERSION,ledger.db} "$WHEELSMITH_STORE"
	tiny "$PWD"
	cp "$BASE/m.lock.json" m.lock.json
}

# Without a toolkit on this host the assembled kit of the base stands for one.
need_no_toolkit() {
	host_toolkit > /dev/null || export CUDA_HOME="$(dirname "$BASE"/store/trees/cuda-*/bin)"
}

# The usual start of a test. No index can be reached by mistake.
in_place() {
	own_home
	cd "$BATS_TEST_TMPDIR" || return
	export WHEELSMITH_INDEX=http://127.0.0.1:9/simple
	from_base
}

# A package with one kernel and one module that needs Python alone, and its matrix.
tiny() { # FOLDER
	local src=$1/recipes/tiny/src
	mkdir -p "$src/tiny"
	cat > "$1/recipes/tiny/1.0.json" <<- 'END'
		{
		  "name": "tiny", "version": "1.0",
		  "source": [{"folder": "src"}],
		  "extensions": [{"module": "tiny._C", "binding": "pybind", "sources": ["kernel.cu", "module.cpp"]}],
		  "python": {"packages": ["tiny"]}
		}
	END
	echo 'from ._C import answer' > "$src/tiny/__init__.py"
	cat > "$src/kernel.cu" <<- 'END'
		__global__ void add(float *x) { x[threadIdx.x] += 1; }
		extern "C" void tiny_add(float *x) { add<<<1, 32>>>(x); }
	END
	cat > "$src/module.cpp" <<- 'END'
		#include <Python.h>
		extern "C" void tiny_add(float *x);
		static PyObject *answer(PyObject *, PyObject *) { return PyLong_FromLong(42); }
		static PyObject *run(PyObject *, PyObject *) { tiny_add(nullptr); Py_RETURN_NONE; }
		static PyMethodDef methods[] = {
			{"answer", answer, METH_NOARGS, ""}, {"run", run, METH_NOARGS, ""}, {nullptr, nullptr, 0, nullptr}};
		static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, methods};
		PyMODINIT_FUNC PyInit__C(void) { return PyModule_Create(&module); }
	END
	matrix "$1/m.json"
}

# The matrix of all tests; more members may follow, and replace what stands before.
matrix() { # FILE [MEMBERS]
	python3 - "$1" "$PY" "{${2:-}}" <<- 'END'
		import json, sys
		matrix = {"packages": ["tiny==1.0"], "torch": ["2.11.0"], "cuda": ["13.0"], "python": [sys.argv[2]],
		          "arch": ["8.6"], "recipes": "recipes"}
		matrix.update(json.loads(sys.argv[3]))
		json.dump(matrix, open(sys.argv[1], "w"))
	END
}

# A Python beside the one of all tests: a real one, else that one under another number (PEP 739).
second_python() {
	local python
	for python in "${PYENV_ROOT:-/none}"/versions/3.1[0-9].*/bin/python3 /usr/bin/python3.1[0-9]; do
		if [ -x "$python" ] && [ "$(python_version "$python")" != "$PY" ] &&
			[ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]; then
			PY2=$(python_version "$python")
			AT2=$PY2
			return
		fi
	done
	PY2=3.12
	[ "$PY" != 3.12 ] || PY2=3.13
	AT2=$PWD/build-details.json
	python3 - "$AT2" "$PY2" <<- 'END'
		import json, os, shutil, sys, sysconfig
		minor = int(sys.argv[2][2:])
		headers = os.path.join(os.path.dirname(sys.argv[1]), f"python3.{minor}")
		shutil.copytree(sysconfig.get_path("include"), headers)
		with open(f"{headers}/patchlevel.h", "a") as file:
		    file.write(f"#undef PY_MINOR_VERSION\n#define PY_MINOR_VERSION {minor}\n")
		version = {"major": 3, "minor": minor, "micro": 0, "releaselevel": "final", "serial": 0}
		json.dump({"schema_version": "1.0", "implementation": {"name": "cpython", "version": version},
		           "abi": {"extension_suffix": f".cpython-3{minor}-x86_64-linux-gnu.so", "flags": []},
		           "c_api": {"headers": headers}}, open(sys.argv[1], "w"))
	END
}

python_version() { # INTERPRETER
	"$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

# The package of host units alone, for what needs no GPU code: a quarter of the time.
only_host() {
	printf 'extern "C" void tiny_add(float *) {}\n' > recipes/tiny/src/kernel.cpp
	rm recipes/tiny/src/kernel.cu
	sed -i 's/kernel\.cu/kernel.cpp/' recipes/tiny/1.0.json
}

# A compiler before the others on PATH: the real one, which `BEFORE` or `AFTER` a unit whose name holds
# WHICH waits until it may `go_on_compiling`. Its input is unchanged.
waiting_compiler() { # BEFORE|AFTER WHICH
	local real='/usr/bin/g++-12 "$@"'
	local wait="[ -e '$PWD/pass' ] || read -r < '$PWD/stop'"
	mkfifo stop
	mkdir -p bin
	{
		echo '#!/bin/bash'
		[ "$1" = BEFORE ] || echo "$real || exit"
		echo "for word; do case \$word in src/*$2*) $wait ;; esac; done"
		[ "$1" = AFTER ] || echo "exec $real"
	} > bin/g++-12
	chmod +x bin/g++-12
	export PATH=$PWD/bin:$PATH
}

go_on_compiling() {
	exec 7<> stop
	touch pass
	printf '\n\n\n\n' >&7
	exec 7>&-
}

# The number of those that wait.
compilers_that_wait() {
	working_below "$WHEELSMITH_STORE/work" | sed -n 's/^\([0-9]*\) .*bash .*bin\/g++-12 .* src\/.*/\1/p'
}

one_compiler_waits() {
	[ -n "$(compilers_that_wait)" ]
}

# $PWD/NAME/h is a header at which compilers wait, until they may `go_on`: a pipe. Then it is another
# file behind another link, so what was compiled meanwhile is not kept.
make_gate() { # NAME
	mkdir "$1.shut" "$1.open"
	mkfifo "$1.shut/h"
	touch "$1.open/h"
	ln -s "$1.shut" "$1"
}

go_on() { # [NAME]
	local gate=${1:-gate}
	exec 7<> "$gate.shut/h"
	cat "$gate.open/h" >&7
	ln -s "$gate.open" "$gate.new"
	mv -T "$gate.new" "$gate"
	exec 7>&-
}

# The package once more, under the name "other".
other_package() {
	mkdir -p recipes/other
	cp -r recipes/tiny/src recipes/other/
	sed '/"name"/s/tiny/other/' recipes/tiny/1.0.json > recipes/other/1.0.json
}

# One more unit, whose compiler waits at the gate.
add_waiting_unit() {
	make_gate gate
	recipe 'e["sources"].append("waiting.cpp")'
	printf '#include "%s"\n' "$PWD/gate/h" > recipes/tiny/src/waiting.cpp
}

is_waiting() {
	working_below "$WHEELSMITH_STORE/work" | grep -q 'cc1plus.*waiting.cpp'
}

# Changes the recipe: `recipe 'r["version"] = "2"'`, or of the one extension: e.
recipe() { # PYTHON
	python3 - "$1" <<- 'END'
		import json, sys
		path = "recipes/tiny/1.0.json"
		r = json.load(open(path))
		e = r["extensions"][0] if "extensions" in r else None
		exec(sys.argv[1])
		json.dump(r, open(path, "w"))
	END
}

# Runs a command, below $BELOW if that is set; its output goes to $output and $stderr, and into the log of the test. With
# -STATUS it must end so. A command that hangs ends with 124 after $LIMIT seconds: a status that no test expects.
ws() { # [-STATUS] ARGUMENTS
	local wanted=
	[[ ${1:-} != -[0-9]* ]] || { wanted=${1#-}; shift; }
	run --separate-stderr timeout --foreground -k 5 "${LIMIT:-200}" "${BELOW[@]}" "$WHEELSMITH" "$@"
	printf '%s\n' "\$ wheelsmith $*" "$output" "$stderr" "= $status"
	[ -z "$wanted" ] || [ "$status" -eq "$wanted" ]
}

# With the options $BUILD_WITH of the file.
build() { # [-STATUS] ARGUMENTS
	local wanted=()
	[[ ${1:-} != -[0-9]* ]] || { wanted=("$1"); shift; }
	ws "${wanted[@]}" build --matrix m.json "${BUILD_WITH[@]}" "$@"
}

# For conditions that must not hold: bats does not hear a failing "! command".
not() { # COMMAND...
	! "$@"
}

# A value of dist/build.json.
built() { # FILTER
	jq -r "$1" dist/build.json
}

# The actions that ran, "compile kernel.cu", sorted, from the lines of a build.
ran() {
	sed -nE 's/^\[ [0-9]+\/[0-9]+ \] (compile|link|check|pack) ([^ ]+).*cpu.*/\1 \2/p' <<< "$stderr" | sort
}

# Every wheel that is built for a release must pass verify, like any other wheel.
loads() { # WHEEL
	[[ $1 == *+cu.*.torch.2.11.* ]] || return 0
	"$WHEELSMITH" verify "$1" --torch 2.11.0 --arch 8.6 --store "$BATS_TEST_TMPDIR/verify" > verify.log 2>&1 \
		|| { cat verify.log; return 1; }
}

# The folder has no half-written file (hidden files do not count) and no wheel that would not load.
dist_is_whole() { # FOLDER
	local odd
	[ -d "${1:-dist}" ] || return 0
	odd=$(find "${1:-dist}" -type f ! -name '.*' ! -name '*.whl' ! -name 'build.json' ! -name 'requirements*.txt' \
		! -name '*.log' ! -name compile_commands.json)
	[ -z "$odd" ] || { echo "left behind: $odd"; return 1; }
	local wheel
	for wheel in "${1:-dist}"/*.whl; do
		[ -e "$wheel" ] || continue
		python3 -m zipfile -t "$wheel" > /dev/null
		loads "$wheel" || return 1
	done
}

# ---- servers ----

# A server of faults for FOLDER: $PORT, $INDEX, what was asked in $ASKED.
serve() { # FOLDER
	local own # FOLDER may be served by other tests at the same time
	own=$(mktemp -d -p "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}")
	ASKED=$own/asked.log
	mkfifo "$own/speak"
	python3 "$WS_ROOT/tests/support/fault_server.py" "$1" "$ASKED" < "$own/speak" > "$own/says" 3>&- 9>&- &
	exec 8> "$own/speak"
	until [ -s "$own/says" ]; do sleep 0.05; done
	read -r _ PORT _ < "$own/says"
	INDEX=http://127.0.0.1:$PORT/x/simple
}

unserve() {
	exec 8>&-
}

# ---- disks ----

# A file system of its own at FOLDER; leave_disks takes them away, in teardown.
small_disk() { # FOLDER SIZE [OPTIONS]
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2${3:+,$3}" tmpfs "$1" 2> /dev/null || cannot_run "no tmpfs can be mounted"
	DISKS+=("$PWD/$1")
}

# Leaves so many KiB free.
fill_disk() { # FOLDER KIB
	rm -f "$1/filler"
	head -c $((($(df --output=avail "$1" | tail -n 1) - $2) * 1024)) /dev/zero > "$1/filler"
}

leave_disks() {
	local disk
	for disk in "${DISKS[@]}"; do
		umount -l "$disk" || true
	done
}

# ---- processes ----

# A shell's & ignores Ctrl-C, and what it starts would too: `hears_signals COMMAND... &`.
hears_signals() { # COMMAND...
	exec env --default-signal=INT,QUIT "$@"
}

# Waits up to SECONDS for a condition.
wait_for() { # SECONDS COMMAND...
	local left=$(($1 * 20))
	shift
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "waited in vain for: $*" >&2; return 1; }
		sleep 0.05
	done
}

# Processes that work below a folder: number and command line.
working_below() { # FOLDER
	local process
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd" 2> /dev/null) in
		"$1" | "$1"/* | "$1 (deleted)") echo "${process#/proc/} $(tr '\0' ' ' 2> /dev/null < "$process/cmdline")" ;;
		esac
	done
}

nobody_works_below() { # FOLDER
	[ -z "$(working_below "$1")" ]
}
