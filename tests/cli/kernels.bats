#!/usr/bin/env bats
# The bundled kernels: the wheel that the recipe makes, and what can be said of them without a GPU.
# labels: cuda
# timeout: 1500

load helpers

# All kernels are compiled twice, which takes minutes: for the wheel, and by CMake, whose ptxas tells what they take.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export WHEELSMITH_STORE=$BATS_FILE_TMPDIR/store
	echo '{"packages": ["wheelsmith-kernels==0.3.0"], "cuda": ["13.0"], "python": ["3.11"], "arch": ["7.5"]}' > m.json
	local kits=archive
	! host_toolkit > /dev/null || kits=host
	"$WHEELSMITH" build --matrix m.json --kits $kits > build.log 2>&1 || { cat build.log; return 1; }
	WHEEL=$(echo "$PWD"/dist/*.whl)
	export WHEEL
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "recipe, header and package say one version" {
	local version
	version=$(sed -nE 's/^#define WSK_VERSION "(.*)"/\1/p' "$WS_ROOT/kernels/include/wsk.h")
	[ -e "$WS_ROOT/recipes/wheelsmith-kernels/$version.json" ]
	[ "$(sed -nE 's/^__version__ = "(.*)"/\1/p' "$WS_ROOT/kernels/python/wheelsmith_kernels/__init__.py")" = "$version" ]
}

@test "one wheel for sm_75: libc alone, the oldest platform, code for what was asked" {
	local wheel=${WHEEL##*/}
	[[ "$wheel" == wheelsmith_kernels-0.3.0+cu.13.sm.75-py3-none-manylinux*_2_*_x86_64.whl ]]
	[ "$(grep -oE 'manylinux_2_[0-9]+' <<< "$wheel" | cut -d_ -f3 | sort -n | head -n 1)" -le 17 ]
	python3 -m zipfile -e "$WHEEL" out
	readelf -d out/wheelsmith_kernels/_wsk.so | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' > needed
	[ "$(cat needed)" = libc.so.6 ]
	# It exports the functions of wsk.h only.
	readelf -W --dyn-syms out/wheelsmith_kernels/_wsk.so | awk '$7 ~ /^[0-9]+$/ && $5 == "GLOBAL" {print $8}' | sort > exports
	sed -nE 's/.*WSK_API.*[ *](wsk_[a-z_]+)\(.*/\1/p' "$WS_ROOT/kernels/include/wsk.h" | sort > declared
	diff exports declared
	# Without a GPU's driver the library opens, and says what it needs.
	PYTHONPATH=out python3 -c 'import ctypes; from wheelsmith_kernels import _native as n
l = n._open(n.library_path())
p = n.Problem()
assert l.wsk_version() == b"0.3.0"
assert l.wsk_init(None, 0, None, ctypes.addressof(p)) and p.argument == b"memory", p.argument
import wheelsmith_kernels'
	# A thread without a context gets the device's own, once; other driver errors are reported.
	cat > driver.c <<- 'END'
		static __thread int context, given;
		static int launches, answer, full, loads;
		enum { NEW, HERE, LOST };
		static char kernels[4096], *unused = kernels;
		int cuLibraryLoadData(void **l) { *l = &context, loads++; return 0; }
		int cuLibraryGetKernel(void **k) { *k = unused++; return 0; }
		int cuLibraryUnload(void *l) { (void)l; return 0; }
		int cuLaunchKernel(char *k) {
			if (answer || !context) return answer ? answer : 201;
			if (full && *k == NEW) { *k = LOST; return 2; }
			if (*k == LOST) return 999;
			return *k = HERE, launches++, 0;
		}
		int cuDeviceGet(int *d, int n) { *d = n + 40; return 0; }
		int cuDevicePrimaryCtxRetain(void **c, int d) { *c = d == 43 ? &context : 0; return 0; }
		int cuDevicePrimaryCtxRelease_v2(int d) { return d != 43; }
		int cuCtxSetCurrent(void *c) { given++; context = c == &context; return 0; }
		int told(void) { return launches * 10 + given; }
		void set_answer(int a) { answer = a; }
		void set_full(int f) { full = f; }
		int loaded(void) { return loads; }
	END
	gcc -shared -fPIC -o libcuda.so.1 driver.c
	cat > threads.py <<- 'END'
		import ctypes, struct, threading
		from wheelsmith_kernels import _native, _structs
		driver, native = ctypes.CDLL("libcuda.so.1"), _native.native()
		native.load(80)
		tensor = [4096, 64 * 160, 160, 80]
		head = _structs.ATTENTION.part("size", "reserved").pack
		def forward(d):
		    sizes = head(_structs.ATTENTION.size, 1, 1, 2, 2, d, 64, 64, 0, 0, -1, 0, 0.1, 0)
		    return _structs.ATTENTION.apart("lse").pack(sizes + struct.pack("16q", *tensor * 4), 0, b"")
		call = forward(80)
		told = []
		def work():
		    native.call("forward", call, 0, 3)
		    native.call("forward", call, 0, 3)
		    told.append(driver.told())
		for _ in range(2):
		    thread = threading.Thread(target=work)
		    thread.start()
		    thread.join()
		assert told == [21, 41], told
		driver.set_answer(700)
		try:
		    native.call("forward", call, 0, 3)
		except _native.KernelError as error:
		    assert error.driver == 700 and str(error) == "the CUDA driver refused (CUDA error 700)", error
		else:
		    raise AssertionError
		# A kernel whose first launch finds the GPU full is lost to the driver: it is loaded again, alone.
		driver.set_answer(0)
		driver.set_full(1)
		native._make_current(3)
		native.load(64)
		native.call("forward", call, 0, 3)  # it was launched before
		asked, loads = [], driver.loaded()
		for _ in range(2):
		    try:
		        native.call("forward", forward(64), 0, 3, lambda: asked.append(1))
		    except _native.NoMemory as error:
		        assert error.driver == 2 and str(error) == "the CUDA driver refused (CUDA error 2)", error
		    else:
		        raise AssertionError
		assert len(asked) == 2 and driver.loaded() == loads + 2, (asked, driver.loaded(), loads)
		native.call("forward", call, 0, 3)
		native.call("forward", forward(64), 0, 3, lambda: (asked.append(1), driver.set_full(0)))
		native.call("forward", forward(64), 0, 3)
		assert len(asked) == 3 and driver.loaded() == loads + 3
	END
	LD_LIBRARY_PATH=$PWD PYTHONPATH=out python3 threads.py
}

# check SITE WORDS…: python -m wheelsmith_kernels check, of what is installed in SITE. This Python has no torch.
check() {
	run env PYTHONPATH="$1" python3 -S -m wheelsmith_kernels check "${@:2}" --json check.json
	echo "$output"
}

# of NAME: a member of the file that check wrote.
of() { python3 -c 'import json, sys; print(json.load(open("check.json"))[sys.argv[1]])' "$1"; }

@test "check names the wheel that is installed, and judges no other and nothing that was changed" {
	local wheel=$WHEEL sha256
	sha256=$(sha256sum "$WHEEL" | cut -d' ' -f1)
	python3 -m pip install -q --no-deps --no-index --no-compile --target site "$wheel"
	check site wheelsmith_kernels
	[ "$status" -eq 2 ]
	[ "$(of verdict)" = "not checked" ]
	[[ "$(of problem)" == "torch does not import"* ]]
	if grep -q "$sha256" site/*.dist-info/direct_url.json; then # pip 23.1 and newer
		[ "$(of wheel_sha256)" = "$sha256" ]
		[ "$(of wheel_known_from)" = direct_url.json ]
	fi
	# A folder of that name where this runs is imported, and is not what is installed.
	mkdir elsewhere
	cp -a site/wheelsmith_kernels elsewhere/
	(cd elsewhere && check "$PWD/../site" wheelsmith-kernels && [[ "$(of problem)" == *"Python imports 'wheelsmith_kernels' from '$PWD/"* ]])
	# Where the installer noted nothing, the wheel can be named.
	rm site/*.dist-info/direct_url.json
	check site wheelsmith-kernels
	[ "$(of wheel_sha256)" = None ]
	check site wheelsmith-kernels --wheel "$wheel"
	[ "$(of wheel_sha256)" = "$sha256" ]
	# A file that was changed is not what was published.
	echo >> site/wheelsmith_kernels/_wsk.so
	for more in "" "--wheel $wheel"; do
		# shellcheck disable=SC2086
		check site wheelsmith-kernels $more
		[ "$status" -eq 2 ]
		[[ "$(of problem)" == *"the installed 'wheelsmith_kernels/_wsk.so' is not the one of"* ]]
		[ "$(of wheel_sha256)" = None ]
	done
	check site flash-attn
	[ "$status" -eq 2 ]
	[[ "$(of problem)" == *"'flash-attn' is not installed"* ]]
	check site causal_conv1d
	[ "$status" -eq 2 ]
	[[ "$(of problem)" == *"'causal-conv1d' is not installed"* ]]
	check site numpy
	[ "$status" -eq 2 ]
	[[ "$(of problem)" == "no reference for 'numpy'"* ]]
	python3 -c 'import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("check.json")))' "$WS_ROOT/schemas/kernels-check-1.json"
}

@test "the library builds with CMake and nvcc alone; what its kernels take is the table, and fits sm_75" {
	local nvcc
	nvcc=$(host_toolkit || echo "$WHEELSMITH_STORE"/trees/cuda-13.0-*[0-9a-f])/bin/nvcc
	mkdir kept
	cmake -S "$WS_ROOT/kernels" -B tree -G Ninja "-DNVCC=$nvcc" -DWS_KERNELS_CODE=sm_75 "-DWS_KERNELS_FLAGS=-Xptxas;-v;-keep;-keep-dir;$PWD/kept" > log 2>&1 || { cat log; false; }
	cmake --build tree > kept/log 2>&1 || { cat kept/log; false; }
	readelf -W -S tree/_wsk.so | grep -q nv_fatbin
	run -0 python3 "$WS_ROOT/tests/support/kernel_resources.py" "$nvcc" "$WS_ROOT/kernels/resources.txt" 75 --built kept
}
