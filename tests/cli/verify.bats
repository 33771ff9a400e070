#!/usr/bin/env bats
# Wheels of small modules, each with one mistake, and the verdicts on them.
# timeout: 300

load helpers

good=_ZN3c105ErrorC1ENS_14SourceLocationESs                                                   # of torch 2.5.1
other=_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE # of torch 2.7.1

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local name
	for name in libc10.so libtorch_python.so libcudart.so.12 libnowhere.so.3; do
		gcc -shared -nostdlib -x c /dev/null -Wl,-soname,$name -o $name
	done
}

setup() {
	private_home
	export COLUMNS=60
	ln -sf "$BATS_FILE_TMPDIR"/lib* "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return
}

# Compiles NAME.so that calls FUNCTIONs, linked with FLAGS (after --).
module() { # NAME FUNCTION... [-- FLAG...]
	local name=$1 text="" function
	shift
	text="void *PyInit_${name%%.*}(void) {return 0;}"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		function=$1
		text+=" void $function(void); void call_$function(void) {$function();}"
		shift
	done
	[ $# = 0 ] || shift
	gcc -shared -fPIC -x c - -o "$name.so" -L. -Wl,--no-as-needed "$@" -Wl,--as-needed <<< "$text"
}

pack() { # WHEEL MEMBER=FILE...
	python3 "$WS_ROOT/tests/support/make_wheel.py" "$@"
}

says() { # TEXT... in the output, whatever its lines
	local flat text
	flat=$(tr -s ' \n' ' ' <<< "$output")
	for text; do
		[[ $flat == *"$text"* ]] || { echo "not said: $text"; echo "$output"; return 1; }
	done
	awk 'length($0) > 100 { print "too wide: " $0; bad = 1 } END { exit bad }' <<< "$output"
}

verify() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "-$status" "$WHEELSMITH" verify "$@"
}

wheel=demo-1.0-cp311-cp311-linux_x86_64.whl
suffix=cpython-311-x86_64-linux-gnu.so

demo() { # packs demo.so as the module demo
	pack $wheel demo.$suffix=demo.so
}

@test "a module that finds its names loads, in text and in JSON" {
	module demo $good -- -l:libc10.so
	demo
	verify 0 $wheel --torch 2.5.1
	[[ "${lines[0]}" == "loads "*"$wheel" ]]
	says "in torch 2.5.1, Python 3.11" "1 of 1 modules find all of their 1 symbols; layouts of torch's classes were not compared"
	verify 0 $wheel --torch 2.5.1 --json
	[ "$(jq -r 'keys_unsorted[0]' <<< "$output")" = verdict ]
	[ "$(jq -r '.wheels[0] | keys_unsorted[0]' <<< "$output")" = verdict ]
	[ "$(jq -r '.verdict, .wheels[0].places[0].modules[0].module' <<< "$output")" = "loads
demo.$suffix" ]
}

@test "the other ABI, another torch, a function of the driver" {
	module demo $good -- -l:libc10.so
	demo
	verify 1 $wheel --torch 2.7.1
	says "needs 1 symbol that torch 2.7.1 does not export" "built for cxx11abi 0; this torch is cxx11abi 1"
	module demo _ZN3c1010gone_since_ever -- -l:libc10.so
	demo
	verify 1 $wheel --torch 2.5.1 --json
	[ "$(jq -r '.wheels[0].cause' <<< "$output")" = torch ]
	module demo cuInit -- -l:libc10.so
	demo
	verify 1 $wheel --torch 2.5.1
	says "of the CUDA driver but does not name libcuda"
}

@test "the CUDA of the wheel is another than torch's" {
	module demo $other -- -l:libc10.so -l:libcudart.so.12
	demo
	verify 0 $wheel --torch 2.7.1
	verify 1 $wheel --torch 2.11.0
	says "needs 'libcudart.so.12'; torch 2.11.0 brings 'libcudart.so.13'"
}

@test "Python: another one, one that torch has no wheel for, names it does not have" {
	module demo
	demo
	verify 1 $wheel --torch 2.5.1 --python 3.12
	says "the tags of its file name are not for cp312"
	verify 1 $wheel --torch 2.3.1 --python 3.13
	says "no wheel for 'cp313'"
	module demo PyUnicode_Ready_since_ever
	demo
	verify 1 $wheel --torch 2.5.1
	says "of Python that this interpreter does not have"
	module demo PyModule_Create2
	demo
	verify 0 $wheel --torch 2.5.1
	# A library that torch loads may be called like a module; one that its recipe imports may not.
	gcc -shared -fPIC -x c - -o demo.so <<< 'int nothing;'
	pack $wheel demo.$suffix=demo.so other.so=demo.so
	verify 7 $wheel --torch 2.5.1
	says "demo.$suffix looks like an extension module but has no function 'PyInit_demo'"
	module demo -- -l:libc10.so -Wl,--no-as-needed
	gcc -shared -fPIC -x c - -o demo.so -Wl,--no-as-needed -L. -l:libc10.so <<< 'int nothing;'
	pack $wheel demo.$suffix=demo.so other.so=demo.so
	verify 0 $wheel --torch 2.5.1
	mkdir -p recipes/demo
	cat > recipes/demo/1.0.json <<'JSON'
{"name": "demo", "version": "1.0", "source": [{"folder": "."}], "check": {"import": ["demo"]},
 "extensions": [{"module": "demo", "binding": "pybind", "sources": ["a.cpp"]}]}
JSON
	verify 1 $wheel --torch 2.5.1 --recipes recipes
	says "exports no function 'PyInit_demo'"
}

@test "the modules that the recipe imports exist for this Python and have their kernels" {
	mkdir -p recipes/demo
	cat > recipes/demo/1.0.json <<'JSON'
{"name": "demo", "version": "1.0", "source": [{"folder": "."}], "check": {"import": ["demo", "demo_pure"]},
 "extensions": [{"module": "demo", "binding": "pybind", "sources": ["a.cpp"]}]}
JSON
	pack $wheel demo_pure.py=recipes/demo/1.0.json
	verify 1 $wheel --torch 2.5.1 --recipes recipes
	says "it has no module 'demo', which its recipe imports"
	module demo $good -- -l:libc10.so
	local name
	for name in cpython-312-x86_64-linux-gnu.so cpython-311d-x86_64-linux-gnu.so cpython-311-aarch64-linux-gnu.so \
		cpython-311-x86_64-linux-musl.so cpython-311.so; do
		pack $wheel demo.$name=demo.so
		verify 1 $wheel --torch 2.5.1 --recipes recipes
		says "it has no module 'demo' that cp311 opens, but 'demo.$name'"
	done
	for name in $suffix abi3.so so; do
		pack $wheel demo.$name=demo.so
		verify 0 $wheel --torch 2.5.1 --recipes recipes
	done
	sed -i 's/a.cpp/a.cu/' recipes/demo/1.0.json
	verify 1 $wheel --torch 2.5.1 --recipes recipes
	says "no module of it has GPU code; its recipe compiles kernels"
}

@test "a module for aarch64 has the name that Python opens there" {
	needs aarch64-linux-gnu-gcc-12
	local other=demo-1.0-cp311-cp311-linux_aarch64.whl there=cpython-311-aarch64-linux-gnu.so
	aarch64-linux-gnu-gcc-12 -shared -fPIC -x c - -o demo.so <<< 'void *PyInit_demo(void) { return 0; }'
	pack $other demo.$there=demo.so
	verify 0 $other --torch 2.11.0
	says "1 of 1 modules"
	pack $other demo.$suffix=demo.so
	verify 1 $other --torch 2.11.0
	says "it has modules for other Pythons than cp311 only: 'demo.$suffix'"
}

@test "of several Pythons the oldest that METADATA allows" {
	module demo $good -- -l:libc10.so
	pack demo-1.0-cp39-abi3-linux_x86_64.whl demo.abi3.so=demo.so demo-1.0.dist-info/METADATA=<(
		printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Python: >=3.11\n')
	verify 0 demo-1.0-cp39-abi3-linux_x86_64.whl --torch 2.5.1
	says "in torch 2.5.1, Python 3.11"
	verify 9 demo-1.0-cp39-abi3-linux_x86_64.whl --torch 2.5.1 --python 3.10
}

@test "a sibling counts only where RPATH leads to it" {
	gcc -shared -fPIC -x c - -Wl,-soname,libpart.so -o libpart.so <<< 'void part(void) {}'
	module demo part -- -l:libpart.so
	pack $wheel demo.$suffix=demo.so demo.libs/libpart.so=libpart.so
	verify 7 $wheel --torch 2.5.1
	says "loads only if 'libpart.so' of its own wheel is loaded first: no run path leads to it"
	# shellcheck disable=SC2016 # the loader's
	module demo part -- -l:libpart.so '-Wl,-rpath,$ORIGIN/demo.libs'
	pack $wheel demo.$suffix=demo.so demo.libs/libpart.so=libpart.so
	verify 0 $wheel --torch 2.5.1
	# The libraries that it loads must load as well.
	gcc -shared -fPIC -x c - -Wl,-soname,libpart.so -o libpart.so -L. -l:libc10.so \
		<<< 'void _ZN3c1010gone_since_ever(void); void part(void) {_ZN3c1010gone_since_ever();}'
	pack $wheel demo.$suffix=demo.so demo.libs/libpart.so=libpart.so
	verify 1 $wheel --torch 2.5.1
	says "demo.$suffix, by way of demo.libs/libpart.so, needs 1 symbol"
}

# Compiles LIBRARY that exports NAME and wants WANTED, with FLAGS.
library() { # LIBRARY NAME WANTED [FLAG...]
	gcc -shared -fPIC -x c - -Wl,-soname,"$1" -o "$1" -L. -Wl,--no-as-needed "${@:4}" \
		<<< "${3:+void $3(void);} void $2(void) {${3:+$3();}}"
}

@test "libraries that another module brings, one of several modules, libraries that other packages bring" {
	# By itself it would not find torch's name.
	library libpart.so part $good
	# shellcheck disable=SC2016 # the loader's
	module demo part $good -- -l:libpart.so -l:libc10.so '-Wl,-rpath,$ORIGIN/demo.libs'
	pack $wheel demo.$suffix=demo.so demo.libs/libpart.so=libpart.so
	verify 0 $wheel --torch 2.5.1
	says "demo.libs/libpart.so needs 1 symbol of 'libc10.so' but does not name that library"
	pack $wheel demo.libs/libpart.so=libpart.so
	verify 1 $wheel --torch 2.5.1
	# The package takes one of these.
	library libk_cu12.so f "" -l:libcudart.so.12
	library libk_cu11.so f _ZN3c1010gone_since_ever -l:libc10.so
	module demo $good -- -l:libc10.so
	pack $wheel demo.$suffix=demo.so demo/libk_cu12.so=libk_cu12.so demo/libk_cu11.so=libk_cu11.so
	verify 7 $wheel --torch 2.5.1
	says "demo/libk_cu11.so does not load, and demo/libk_cu12.so does; the package may use either"
	pack $wheel demo.$suffix=demo.so demo/libk_cu11.so=libk_cu11.so demo/libother_cu12.so=libk_cu12.so
	verify 1 $wheel --torch 2.5.1
	# Python imports the one that is named for the torch that is there, or none.
	module demo $good -- -l:libc10.so
	module k_2_7_1 $other -- -l:libc10.so
	module k_2_8_0 _ZN3c1010gone_since_ever -- -l:libc10.so
	pack $wheel demo.$suffix=demo.so demo/k_2_7_1.$suffix=k_2_7_1.so demo/k_2_8_0.$suffix=k_2_8_0.so
	verify 7 $wheel --torch 2.5.1
	says "demo/k_2_7_1.$suffix does not load, and others differ from it by a number only; the package may use another"
	pack $wheel demo/k_2_7_1.$suffix=k_2_7_1.so demo/k_2_8_0.$suffix=k_2_8_0.so
	verify 1 $wheel --torch 2.5.1
	pack $wheel demo.$suffix=demo.so demo/k_2_7_1.$suffix=k_2_7_1.so demo/other.$suffix=k_2_8_0.so
	verify 1 $wheel --torch 2.5.1
	# Each of two Pythons takes its own module.
	pack $wheel demo.$suffix=demo.so demo/k.$suffix=k_2_8_0.so demo/k.${suffix/311/312}=k_2_8_0.so
	verify 1 $wheel --torch 2.5.1
	# The deciding one differs between torch releases.
	library libk_cu11.so f $good -l:libc10.so
	module demo
	pack $wheel demo.$suffix=demo.so demo/libk_cu12.so=libk_cu12.so demo/libk_cu11.so=libk_cu11.so
	run "$WHEELSMITH" verify $wheel --torch all --json
	for torch in 2.5.1:true 2.7.1:false; do
		jq -e --arg torch "${torch%:*}" '[.. | objects | select(.torch? == $torch) | .modules[] |
			select(.file == "demo/libk_cu11.so" or .module == "demo/libk_cu11.so") | .required] == ['"${torch#*:}"']' <<< "$output"
	done
	# It may be for who has that.
	library libx.so f thing -l:libnowhere.so.3
	pack $wheel demo.$suffix=demo.so demo/libx.so=libx.so
	verify 7 $wheel --torch 2.5.1
	says "needs the library 'libnowhere.so.3', which nothing provides; the package may not use this module"
	run ! grep -q 'that nothing exports' <<< "$output"
	pack $wheel demo/libx.so=libx.so
	verify 1 $wheel --torch 2.5.1
	module demo thing -- -l:libnowhere.so.3
	printf '%s\n' 'Metadata-Version: 2.1' 'Name: demo' 'Version: 1.0' 'Requires-Dist: torch' 'Requires-Dist: nowhere-libs>=3' > METADATA
	pack $wheel demo.$suffix=demo.so demo-1.0.dist-info/METADATA=METADATA
	verify 7 $wheel --torch 2.5.1
	says "needs the library 'libnowhere.so.3', which a wheel that METADATA requires may have: nowhere-libs"
	# Modules that its recipe imports must load.
	module demo thing -- -l:libnowhere.so.3
	module more
	pack $wheel demo.$suffix=demo.so more.$suffix=more.so
	verify 7 $wheel --torch 2.5.1
	mkdir -p recipes/demo
	cat > recipes/demo/1.0.json <<'JSON'
{"name": "demo", "version": "1.0", "source": [{"folder": "."}], "check": {"import": ["demo"]},
 "extensions": [{"module": "demo", "binding": "pybind", "sources": ["a.cpp"]}]}
JSON
	verify 1 $wheel --torch 2.5.1 --recipes recipes
}

@test "a library that torch brings and does not load may be loaded by the package first" {
	gcc -shared -nostdlib -x c /dev/null -Wl,-soname,libcusolver.so.11 -o libcusolver.so.11
	module demo
	module more -- -l:libcusolver.so.11
	pack $wheel demo.$suffix=demo.so demo/more.$suffix=more.so
	verify 7 $wheel --torch 2.5.1
	says "demo/more.$suffix needs the library 'libcusolver.so.11', which torch brings and does not load; the package may load it first, or not use this module"
	pack $wheel demo/more.$suffix=more.so
	verify 1 $wheel --torch 2.5.1
	says "which torch 2.5.1 brings and does not load"
	# The reason is a library that nothing provides, whatever the order.
	module more -- -l:libcusolver.so.11 -l:libnowhere.so.3
	pack $wheel demo.$suffix=demo.so demo/more.$suffix=more.so
	verify 7 $wheel --torch 2.5.1
	says "demo/more.$suffix needs the library 'libnowhere.so.3', which nothing provides; the package may not use this module"
}

@test "where one module pulls down another, the reason is that one's" {
	library libz.so z _ZN3c1010gone_since_ever -l:libc10.so
	module demo z -- -l:libz.so
	pack $wheel demo.$suffix=demo.so demo/libz.so=libz.so
	verify 1 $wheel --torch 2.5.1 --json
	jq -e '.wheels[0] | (.places[0] // .) | .cause == "torch" or .cause == "symbol"' <<< "$output"
	verify 1 $wheel --torch 2.5.1
	says "demo.$suffix needs 'libz.so' of its own wheel, which does not load"
}

@test "a wheel that would be written over torch fails" {
	module demo $good -- -l:libc10.so
	local file
	for file in torch/lib/libc10.so demo-1.0.data/platlib/torch/lib/libtorch_cpu.so torch/__init__.py; do
		pack $wheel demo.$suffix=demo.so $file=libc10.so
		verify 1 $wheel --torch 2.5.1
		says "it brings '${file#*platlib/}', a file of torch's own: installing it would replace torch's"
	done
	pack $wheel demo.$suffix=demo.so torch/lib/libmine.so=libc10.so
	verify 0 $wheel --torch 2.5.1
}

@test "a library that is nowhere fails here, and is unknown on another system" {
	module demo -- -l:libnowhere.so.3
	demo
	verify 1 $wheel --torch 2.5.1
	says "'libnowhere.so.3', which neither torch 2.5.1 nor this host brings"
	verify 7 $wheel --torch 2.5.1 --glibc 2.28
	says "unknown" "'libnowhere.so.3', which torch 2.5.1 does not bring"
}

@test "the missing libraries of a module are one finding, with one reason" {
	local name
	for name in libnowhere.so.4 libnowhere.so.5; do
		gcc -shared -nostdlib -x c /dev/null -Wl,-soname,$name -o $name
	done
	module demo -- -l:libnowhere.so.3 -l:libnowhere.so.4 -l:libnowhere.so.5
	demo
	verify 1 $wheel --torch 2.5.1
	says "fails demo.$suffix needs the libraries 'libnowhere.so.3', 'libnowhere.so.4', 'libnowhere.so.5', which neither"
	[ "$(grep -c ^fails <<< "$output")" -eq 2 ]
	verify 1 $wheel --torch 2.5.1 --json
	[ "$(jq "[.. | objects | select(.text? and (.text | contains(\"needs the library\")))] | length" <<< "$output")" -eq 3 ]
	module demo -- -l:libnowhere.so.3
	demo
	verify 1 $wheel --torch 2.5.1
	[ "$(grep -c libnowhere <<< "$output")" -eq 1 ]
}

@test "an older glibc" {
	module demo pidfd_getpid -- # 2.39
	gcc -shared -fPIC -x c - -o demo.so <<< '#include <math.h>
		void *PyInit_demo(void) {return 0;} double f(double x) {return pow(x, x);}' -lm # 2.29
	demo
	verify 0 $wheel --torch 2.5.1 --glibc 2.31
	says "in torch 2.5.1, Python 3.11, glibc 2.31"
	verify 1 $wheel --torch 2.5.1 --glibc 2.17
	says "needs glibc 2.29, not 2.17"
}

@test "labels that lie: tags, machine, name; wheels that are broken" {
	module demo
	pack demo-1.0-cp311-cp311-linux_aarch64.whl demo.$suffix=demo.so
	verify 1 demo-1.0-cp311-cp311-linux_aarch64.whl --torch 2.11.0
	says "is for another machine (x86_64), not for aarch64"
	verify 7 demo-1.0-cp311-cp311-linux_aarch64.whl --torch 2.5.1
	says "no export list of torch 2.5.1 for aarch64"
	printf '\267\000' | dd of=demo.so bs=1 seek=18 conv=notrunc status=none # EM_AARCH64
	demo
	verify 1 $wheel --torch 2.5.1
	says "demo.$suffix" "x86_64"
	module demo
	demo
	cp $wheel not-a-wheel.zip
	verify 1 not-a-wheel.zip --torch 2.5.1
	head -c 500 not-a-wheel.zip > $wheel
	verify 1 $wheel --torch 2.5.1
	head -c 3000 demo.so > half.so
	pack $wheel demo.$suffix=half.so
	verify 1 $wheel --torch 2.5.1
	: > empty.so
	pack $wheel demo.$suffix=empty.so
	verify 1 $wheel --torch 2.5.1
	says "'demo.$suffix' is not an ELF file"
	printf 'demo.%s,sha256=%043d,%d\ndemo-1.0.dist-info/RECORD,,\n' $suffix 0 1 > RECORD
	pack $wheel demo.$suffix=demo.so demo-1.0.dist-info/RECORD=RECORD
	verify 1 $wheel --torch 2.5.1
	says "does not match its RECORD"
}

@test "RECORD is held against every file, not modules alone" {
	module demo $good -- -l:libc10.so
	printf 'x = 1\n' > one.py
	printf 'x = 2\n' > two.py
	pack $wheel demo.$suffix=demo.so demo_pure.py=one.py
	unzip -p $wheel demo-1.0.dist-info/RECORD > RECORD
	verify 0 $wheel --torch 2.5.1
	pack $wheel demo.$suffix=demo.so demo_pure.py=two.py demo-1.0.dist-info/RECORD=RECORD
	verify 7 $wheel --torch 2.5.1
	says "it was changed after it was packed: 'demo_pure.py' does not match its digest in RECORD"
	pack $wheel demo.$suffix=demo.so demo_pure.py=one.py more.py=two.py demo-1.0.dist-info/RECORD=RECORD
	verify 7 $wheel --torch 2.5.1
	says "'more.py' is in the wheel and not in RECORD"
	pack $wheel demo.$suffix=demo.so demo-1.0.dist-info/RECORD=RECORD
	verify 7 $wheel --torch 2.5.1
	says "'demo_pure.py' is in RECORD and not in the wheel"
}

# METADATA of demo 1.0 with LINEs.
metadata() { # LINE...
	printf '%s\n' "Metadata-Version: 2.1" "Name: demo" "Version: 1.0" "$@" > METADATA
	pack $wheel demo.$suffix=demo.so demo-1.0.dist-info/METADATA=METADATA
}

@test "labels that lie: METADATA asks for another torch or Python than the place has" {
	module demo $good -- -l:libc10.so
	metadata "Requires-Dist: torch==2.5.1" "Requires-Python: >=3.9"
	verify 0 $wheel --torch 2.5.1
	verify 9 $wheel --torch 2.4.1
	says "excluded $wheel" "its METADATA asks for torch==2.5.1, which torch 2.4.1 is not"
	verify 9 $wheel --torch 2.4.1 --json
	[ "$(jq -r '[.verdict, .wheels[0].verdict, .wheels[0].cause] | join(" ")' <<< "$output")" = "excluded excluded requires-torch" ]
	verify 0 $wheel --torch all
	says "2.4.1 excluded its METADATA asks for torch==2.5.1"
	says "2.5.1 loads" "2.7.1 fails other cxx11abi"
	# Written as older tools do, with a build's label; under a marker it may not hold.
	metadata "Requires-Dist: torch (==2.4.*)"
	verify 9 $wheel --torch 2.5.1
	metadata "Requires-Dist: torch==2.5.1+cu121"
	verify 0 $wheel --torch 2.5.1
	verify 9 $wheel --torch 2.4.1
	metadata 'Requires-Dist: torch==2.4.1; extra == "old"'
	verify 0 $wheel --torch 2.5.1
	metadata "Requires-Python: >=3.12"
	verify 9 $wheel --torch 2.5.1
	says "its METADATA asks for Python >=3.12, which 3.11 is not"
	metadata "Requires-Python: >=3.11.4,<3.11.9"
	verify 0 $wheel --torch 2.5.1
	# A missing symbol is more specific.
	metadata "Requires-Dist: torch==2.5.1"
	verify 1 $wheel --torch 2.7.1
	says "fails $wheel" "excluded its METADATA"
}

@test "wrong labels: METADATA and WHEEL belong to a different wheel" {
	module demo $good -- -l:libc10.so
	demo
	cp $wheel other-1.0-cp311-cp311-linux_x86_64.whl
	verify 1 other-1.0-cp311-cp311-linux_x86_64.whl --torch 2.5.1
	says "its METADATA is of demo 1.0"
	cp $wheel demo-1.1-cp311-cp311-linux_x86_64.whl
	verify 1 demo-1.1-cp311-cp311-linux_x86_64.whl --torch 2.5.1 --json
	[ "$(jq -r '.wheels[0].cause' <<< "$output")" = label ]
	# Which installers do not look at; which modules Python opens they do.
	pack demo-1.0-cp312-cp312-linux_x86_64.whl demo.so=demo.so demo-1.0.dist-info/WHEEL=<(
		printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n')
	verify 0 demo-1.0-cp312-cp312-linux_x86_64.whl --torch 2.5.1
	says "its WHEEL has the tag 'cp311-cp311-linux_x86_64'"
	cp $wheel demo-1.0-cp312-cp312-linux_x86_64.whl
	verify 1 demo-1.0-cp312-cp312-linux_x86_64.whl --torch 2.5.1
	says "it has modules for other Pythons than cp312 only: 'demo.$suffix'"
	# A label alone is what its modules and METADATA's torch show.
	cp $wheel demo-1.0+cu12torch2.5-cp311-cp311-linux_x86_64.whl
	verify 0 demo-1.0+cu12torch2.5-cp311-cp311-linux_x86_64.whl --torch 2.5.1
	printf 'Metadata-Version: 2.1\n' > METADATA
	pack $wheel demo.$suffix=demo.so demo-1.0.dist-info/METADATA=METADATA
	verify 1 $wheel --torch 2.5.1
	says "METADATA has no 'name'"
}

@test "several wheels: the worst counts, and one without modules loads" {
	pack pure-1.0-py3-none-any.whl
	module demo cuInit
	demo
	verify 0 pure-1.0-py3-none-any.whl --torch 2.5.1
	verify 1 pure-1.0-py3-none-any.whl $wheel --torch 2.5.1
	says "loads pure-1.0" "fails $wheel"
	verify 1 --json pure-1.0-py3-none-any.whl $wheel --torch 2.5.1
	[ "$(jq -r '[.verdict, .wheels[].verdict] | join(" ")' <<< "$output")" = "fails loads fails" ]
}

@test "the window: a row for each release that is known" {
	module demo $good -- -l:libc10.so
	demo
	verify 0 $wheel --torch all
	says "2.5.1 loads" "2.7.1 fails other cxx11abi" "layouts of torch's classes were not compared"
	[ "$(grep -c '^2\.' <<< "$output")" = "$(find "$WS_ROOT"/matrix/facts/exports -name 'torch-*.zst' ! -name '*-aarch64.zst' | wc -l)" ]
	verify 1 $wheel --torch all --python 3.14
	says "2.5.1 not for this Python" "2.11.0 not for this Python"
}

@test "the window: what is not a wheel fails once, for one reason" {
	cp "$WS_ROOT/README.md" .
	verify 1 README.md --torch all
	says "fails README.md in each of the" "it does not end in .whl" "is it a zip archive?"
	[ "$(tr -s ' \n' ' ' <<< "$output" | grep -o "end in .whl" | wc -l)" = 1 ]
	cp README.md $wheel
	verify 1 $wheel --torch all
	[ "$(tr -s ' \n' ' ' <<< "$output" | grep -o "no end record" | wc -l)" = 1 ]
}

@test "strict: what was taken on trust is unknown" {
	# Interpreters without a list of their C API: free-threaded ones.
	module demo PyModule_Create2
	pack demo-1.0-cp314-cp314t-linux_x86_64.whl demo.cpython-314t-x86_64-linux-gnu.so=demo.so
	verify 0 demo-1.0-cp314-cp314t-linux_x86_64.whl --torch 2.11.0
	says "1 of them taken on trust: 'Python' was not read"
	verify 7 demo-1.0-cp314-cp314t-linux_x86_64.whl --torch 2.11.0 --strict
}

@test "Python 3.14: names that it has, names that it has no longer" {
	module demo PyConfig_Get
	pack demo-1.0-cp314-cp314-linux_x86_64.whl demo.cpython-314-x86_64-linux-gnu.so=demo.so
	verify 0 demo-1.0-cp314-cp314-linux_x86_64.whl --torch 2.11.0 --strict
	module demo PyUnstable_InterpreterState_GetMainModule
	pack demo-1.0-cp314-cp314-linux_x86_64.whl demo.cpython-314-x86_64-linux-gnu.so=demo.so
	verify 1 demo-1.0-cp314-cp314-linux_x86_64.whl --torch 2.11.0
	says "of Python that this interpreter does not have"
}

@test "mistakes on the command line" {
	module demo
	demo
	verify 2 $wheel
	verify 2 $wheel --here --torch 2.5.1
	verify 7 $wheel --torch 2.2.0
	says "no export list of torch 2.2.0 for x86_64" "2.5.1"
	verify 2 $wheel --torch 2.5.1 --glibc new
	verify 2 $wheel --torch 2.5.1 --arch warp9
	verify 5 nowhere.whl --torch 2.5.1
}

@test "its JSON matches the schema" {
	python3 -c 'import jsonschema' 2> /dev/null || cannot_run "python3 has no jsonschema (./dev setup)"
	module demo cuInit
	demo
	head -c 500 $wheel > broken-1.0-cp311-cp311-linux_x86_64.whl
	verify 1 --json $wheel broken-1.0-cp311-cp311-linux_x86_64.whl --torch 2.5.1
	run -0 python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" <<< "$output"
	[ "$output" = "1 verify-1" ]
}

@test "a wheel that is known to be bad fails, whatever is in it, with the source of that" {
	module demo $good -- -l:libc10.so
	local bad=flash_attn-2.8.2+cu12torch2.6cxx11abiFALSE-cp311-cp311-linux_x86_64.whl
	pack $bad demo.$suffix=demo.so
	verify 1 $bad --torch 2.6.0
	says "known to be bad: built beside torch 2.6.0+cu126" "https://github.com/Dao-AILab/flash-attention/issues/1783"
	verify 1 $bad --torch 2.6.0 --json
	[ "$(jq -r '.wheels[0].cause' <<< "$output")" = known-bad ]
	pack "${bad/2.8.2/2.7.4}" demo.$suffix=demo.so
	verify 0 "${bad/2.8.2/2.7.4}" --torch 2.6.0
}
