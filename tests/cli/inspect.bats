#!/usr/bin/env bats
# inspect: wheels that break one rule each, libraries, installed packages, wheels on a server.
# timeout: 300

load helpers

setup_file() {
	export WHEELS="$BATS_FILE_TMPDIR/wheels"
	python3 "$WS_ROOT/tests/support/make_wheels.py" "$WHEELS"
}

setup() {
	private_home
}

inspect() {
	"$WHEELSMITH" inspect "$@"
}

# "zip: ..." of the first thing that is wrong.
first_problem() { # WHEEL
	inspect --json "$1" > facts.json 2> errors
	echo "$? $(jq -r '.problems[0] | .about + ": " + .text' facts.json)"
	[ ! -s errors ]
}

@test "every malformed wheel is refused by name, and nothing is written outside" {
	cd "$BATS_TEST_TMPDIR"
	local wheel title
	while IFS=$'\t' read -r title _; do
		[ "$title" = sound ] && continue
		for wheel in "$WHEELS/$title"/*/*.whl; do
			echo "$(basename "$(dirname "$wheel")" | sed "s,^,$title/,") $(first_problem "$wheel")"
		done
	done < "$WHEELS/classes.tsv" > all
	[ "$(wc -l < all)" -ge 150 ]
	run -1 grep -v '^[a-z0-9/-]* 1 ' all
	sed -i "s,$BATS_FILE_TMPDIR,DIR,; s,$(cut -c1-200 <<< "$BATS_FILE_TMPDIR"),DIR," all
	output=$(cat all)
	golden inspect-malformed
	[ "$(ls "$BATS_FILE_TMPDIR")" = wheels ]
	[ ! -e "$WHEELS/../outside" ]
	[ -z "$(ls -A "$WHEELSMITH_STORE/partial")" ]
}

@test "sound wheels are sound" {
	local wheel
	for wheel in "$WHEELS"/sound/*/*.whl; do
		echo "$wheel"
		run -0 inspect "$wheel"
		[[ $output == *"verdict       sound: no problem was found in the wheel itself"* ]]
	done
	run -0 inspect "$WHEELS"/sound/descriptor/*.whl
	[[ $output == *"! 1 data descriptors, the first at 'demo/__init__.py': some indexes"* ]]
}

@test "the page of a wheel with a library" {
	run -0 inspect "$WHEELS"/sound/native/*.whl
	[[ $output == *"file name     demo 1.0  cp311  cp311  linux_x86_64"* ]]
	[[ $output == *"WHEEL         cp311-cp311-linux_x86_64"* ]]
	[[ $output == *"RECORD        5 lines, 4 digests recomputed and right"* ]]
	[[ $output == *"module        demo/_C.so"* ]]
	[[ $output == *"x86-64, "* ]]
	[[ $output == *"Python: none"* ]]
	awk 'length($0) > 90 { print "too wide: " $0; bad = 1 } END { exit bad }' <<< "$output"
	COLUMNS=60 run -0 inspect "$WHEELS"/sound/native/*.whl
	awk 'length($0) > 60 { print "too wide: " $0; bad = 1 } END { exit bad }' <<< "$output"
}

@test "its JSON matches the schema" {
	python3 -c 'import jsonschema' 2> /dev/null || cannot_run "python3 has no jsonschema (./dev setup)"
	cd "$BATS_TEST_TMPDIR"
	local wheel
	for wheel in "$WHEELS"/{sound,module,metadata-form,truncated}/*/*.whl; do
		inspect --json "$wheel" || [ $? -eq 1 ]
	done > all
	inspect --json "$(command -v bash)" >> all
	run -0 python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" all
	[ "$output" = "21 inspect-1" ]
}

@test "a library by itself: what it needs, its Python, its paths" {
	cd "$BATS_TEST_TMPDIR"
	cat > m.c <<- 'C'
		extern void *PyLong_FromLong(long);
		const char *where(void) { return "/home/somebody/src/m.c"; }
		void *PyInit_m(void) { return PyLong_FromLong(1); }
	C
	gcc -shared -fPIC -Wl,-rpath,/opt/x -o m.abi3.so m.c -lm -Wl,--no-as-needed
	run -0 inspect --json m.abi3.so
	[ "$(jq -r .kind <<< "$output")" = library ]
	[ "$(jq -c '.modules[0] | [.machine, .runpath, .python.abi, .python.since, .python.suffix, .build_paths]' <<< "$output")" = \
		'["x86-64","/opt/x","stable","3.2","abi3",["/home/somebody/src/m.c"]]' ]
	sed -i 's/PyLong_FromLong/_PyLong_Frexp/' m.c
	gcc -shared -fPIC -o m.abi3.so m.c
	run -1 inspect m.abi3.so
	[[ $output == *"'m.abi3.so' does not keep to the stable ABI: _PyLong_Frexp"* ]]
}

@test "GPU code, linked and not: architectures, PTX and sizes" {
	cd "$BATS_TEST_TMPDIR"
	local samples="$WS_ROOT/tests/fuzz/corpus/fatbin"
	echo 'int x;' > m.c
	gcc -shared -fPIC -o plain.so m.c
	objcopy --add-section .nv_fatbin="$samples/zstd_90aptx_100f" --add-section __nv_relfatbin="$samples/lto_80" plain.so gpu.so
	run -0 inspect --json gpu.so
	[ "$(jq -c '.modules[0].gpu_code[] | [.section, .arch, .kind, .compressed]' <<< "$output" | sort | tr -d '\n')" = \
		'[".nv_fatbin","10.0f","code","zstd"][".nv_fatbin","9.0a","code","zstd"][".nv_fatbin","9.0a","ptx","zstd"]["__nv_relfatbin","8.0","code","zstd"]["__nv_relfatbin","8.0","lto","zstd"]' ]
	run -0 inspect gpu.so
	[[ $output == *"GPU 8.0 lto"*"not linked"* ]]
	objcopy --add-section .nv_fatbin=m.c plain.so damaged.so
	run -0 inspect damaged.so
	[[ $output == *"! .nv_fatbin: the GPU code (.nv_fatbin) cannot be read"* ]]
}

@test "code for newer CPUs that does not ask for them" {
	cd "$BATS_TEST_TMPDIR"
	cat > loop.c <<- 'C'
		void add(float *restrict x, const float *y) { for (int i = 0; i < 4096; i++) x[i] += y[i] * 3; }
		double mean(const double *x, long n) { double s = 0; for (long i = 0; i < n; i++) s += x[i]; return s / n; }
	C
	local flags expected
	while IFS=: read -r expected flags; do
		# shellcheck disable=SC2086 # words
		gcc -O3 -shared -fPIC $flags -o loop.so loop.c
		run -0 inspect --json loop.so
		[ "$(jq -r '.modules[0].cpu' <<< "$output")" = "$expected" ] || { echo "$flags: $output"; return 1; }
	done <<- 'END'
		null:-march=x86-64
		null:-march=x86-64-v2
		AVX:-march=x86-64-v3
		AVX:-mavx2 -mno-fma
		AVX:-march=skylake-avx512
		AVX-512:-march=x86-64-v4 -mprefer-vector-width=512
	END
	run -0 inspect loop.so
	[[ $(tr -s ' \n' ' ' <<< "$output") == *"! code for CPUs with AVX-512, and nothing asks whether this one has it"* ]]
	# Chosen when it runs.
	cat >> loop.c <<- 'C'
		__attribute__((target("avx2"))) void fast(float *restrict x) { for (int i = 0; i < 4096; i++) x[i] *= 3; }
		void slow(float *restrict x) { for (int i = 0; i < 4096; i++) x[i] *= 3; }
		void either(float *x) { __builtin_cpu_supports("avx2") ? fast(x) : slow(x); }
	C
	gcc -O3 -shared -fPIC -o loop.so loop.c
	run -0 inspect --json loop.so
	[ "$(jq -r '.modules[0].cpu' <<< "$output")" = null ]
}

@test "a library for another machine is reported, not refused" {
	needs aarch64-linux-gnu-gcc-12
	cd "$BATS_TEST_TMPDIR"
	# TLS, a relative relocation and names with a version.
	echo 'int puts(const char *); static __thread int n; static int *where[] = {(int *)where};
		int f(void) { return n++ + puts((char *)where[0]); }' > arm.c
	aarch64-linux-gnu-gcc-12 -shared -fPIC -o arm.so arm.c
	run -0 inspect arm.so
	[[ $output == *"aarch64, "* ]]
	[[ $output == *"needs libc.so.6"* ]]
	[[ $output == *"glibc 2.17: manylinux_2_17_aarch64"* ]]
	# a file that the loader of that machine rejects is damaged.
	python3 - <<- 'PY'
		data = bytearray(open("arm.so", "rb").read())
		at = data.index((1027).to_bytes(4, "little") + bytes(4)) # R_AARCH64_RELATIVE
		data[at:at + 4] = (200).to_bytes(4, "little")
		open("odd.so", "wb").write(data)
	PY
	run inspect odd.so
	[[ $output == *"a relocation of an unknown type"* || $output == *"its count of relative relocations is wrong"* ]]
}

@test "a package that is installed" {
	cd "$BATS_TEST_TMPDIR"
	python3 -m venv --without-pip v
	local site
	site=$(echo v/lib/python3*/site-packages)
	python3 -m zipfile -e "$WHEELS"/sound/native/*.whl "$site"
	run -0 inspect demo --python v/bin/python
	[[ $output == *"METADATA      demo 1.0"* ]]
	[[ $output == *"5 lines, 4 digests recomputed and right"* ]]
	echo '../../../bin/demo,,' >> "$site/demo-1.0.dist-info/RECORD"
	echo 'demo/gone.py,sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ,5' >> "$site/demo-1.0.dist-info/RECORD"
	echo >> "$site/demo/__init__.py"
	run -1 inspect demo --python v/bin/python
	[[ $output == *"1 files outside of site-packages, not read"* ]]
	[[ $output == *"'demo/gone.py' is in RECORD and cannot be read"* ]]
	[[ $output == *"'demo/__init__.py' has 241 bytes, not 240 as in RECORD"* ]]
	run -3 inspect nothing --python v/bin/python
	[[ $output == *"no package 'nothing' is installed in '"* ]]
}

@test "a wheel on a server is read by ranges, or whole" {
	cd "$BATS_TEST_TMPDIR"
	cp "$WHEELS"/sound/native/*.whl "$WHEELS"/name-path/up/*.whl .
	python3 -u -m http.server --bind 127.0.0.1 0 > served 2>&1 3>&- &
	local server=$! url
	until grep -q 'port [0-9]' served; do sleep 0.1; done
	url="http://127.0.0.1:$(grep -oE 'port [0-9]+' served | grep -oE '[0-9]+')"
	run -0 inspect "$url/demo-1.0-cp311-cp311-linux_x86_64.whl"
	[[ $output == *"sound, as far as it was read"* ]]
	[[ $output != *"module "* ]]
	run -0 inspect --whole "$url/demo-1.0-cp311-cp311-linux_x86_64.whl"
	[[ $output == *"module        demo/_C.so"* ]]
	run -1 inspect "$url/demo-1.0-py3-none-any.whl"
	[[ $output == *"is a malformed zip"* ]]
	run -4 inspect "$url/gone-1.0-py3-none-any.whl"
	kill "$server"
	wait "$server" || true
	[ -z "$(ls -A "$WHEELSMITH_STORE/partial")" ]
}

@test "mistakes on the command line" {
	run -2 inspect
	run -2 inspect "$BATS_TEST_TMPDIR/no.whl"
	[[ $output == *"there is no file '$BATS_TEST_TMPDIR/no.whl'"* ]]
	[[ $output == *"for an installed package give --python PATH as well"* ]]
	run -2 inspect --whole "$(command -v bash)"
	run -2 inspect --python python3 https://h/x-1-py3-none-any.whl
	run -1 inspect "$WS_ROOT/README.md"
	[[ $output == *"is a malformed zip archive: no end record"* ]]
}
