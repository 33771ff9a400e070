#!/usr/bin/env bats
# Wheels for aarch64 from an x86-64 host: compiled by a cross compiler, linked against the
# libraries of that machine's glibc, judged as that machine would load them.
# labels: cuda
# timeout: 400

load base

for_aarch64() {
	needs aarch64-linux-gnu-g++-12
	[ "$(uname -m)" = x86_64 ] || skip "this host is not x86-64"
}

both() { # [MEMBERS]
	matrix m.json "\"platform\": [\"x86_64\", \"aarch64\"]${1:+, $1}"
}

# A package without torch, since torch for aarch64 is not available here.
plain() {
	cat > recipes/tiny/src/kernel.cpp <<- 'END'
		#include <stdexcept>
		#include <string>
		extern "C" int tiny_add(int n) {
			static int calls;
			__atomic_fetch_add(&calls, n, __ATOMIC_ACQ_REL);
			try { throw std::out_of_range(std::to_string(n)); } catch (const std::exception &e) { return std::stoi(e.what()) + calls; }
		}
	END
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["kernel.cpp"]'
}

@test "a matrix of two platforms makes a wheel for each" {
	for_aarch64
	plain
	both '"glibc": "2.28"'
	build -0
	[ "$(find dist -name '*manylinux_*_x86_64.whl' | wc -l)" -eq 1 ]
	[ "$(find dist -name '*manylinux_*_aarch64.whl' | wc -l)" -eq 1 ]
	# The line that is printed: each machine takes its own.
	[[ $stderr == *"pip install --require-hashes --no-deps --find-links dist -r dist/requirements.txt"* ]]
	run -0 python3 -m pip install --require-hashes --no-deps --no-index --find-links dist -r dist/requirements.txt --target here
	readelf -h here/tiny/_C.so | grep -q X86-64
	grep -q 'tiny==.* ; platform_machine == "aarch64"' dist/requirements.txt
	# One machine after the other into one folder.
	local platform
	for platform in x86_64 aarch64; do
		run -0 --separate-stderr "$WHEELSMITH" build tiny==1.0 --torch $TORCH --python "$PY" --arch 8.6 --glibc 2.28 \
			--platform $platform --recipes recipes --offline -o both
	done
	diff <(sort both/requirements.txt) <(sort dist/requirements.txt)
	[ "$(jq '[.cells[], .earlier[]] | length' both/build.json)" -eq 2 ]
	python3 -m zipfile -e dist/*_aarch64.whl out
	readelf -hd out/tiny/_C.so > seen
	grep -q AArch64 seen
	not grep -q libtorch seen
	run -0 "$WHEELSMITH" inspect dist/*_aarch64.whl
	[[ $output == *"aarch64"* && $output == *"verdict       sound"* ]]
	build --offline
	[[ $stderr == *"nothing to do"* || $stderr == *"0 ran"* || $stderr == *"2 cached"* ]]
}

@test "a wheel that an index has for one machine is built for the other" {
	for_aarch64
	plain
	build
	"$WHEELSMITH" publish dist --to idx
	both
	run -0 "$WHEELSMITH" plan --json --matrix m.json --against idx
	[ "$(jq -c '[.cells[].decision]' <<< "$output")" = '["cached","build"]' ]
	run -0 --separate-stderr "$WHEELSMITH" build --matrix m.json --against idx -o more
	"$WHEELSMITH" publish more --to idx
	run -0 "$WHEELSMITH" plan --json --matrix m.json --against idx
	[ "$(jq -c '[.cells[].why]' <<< "$output")" = '["in idx","in idx"]' ]
}

@test "a wheel of others for the other machine is judged there and taken" {
	for_aarch64
	plain
	both '"glibc": "2.28"'
	build -0
	local wheel
	wheel=$(basename dist/*_aarch64.whl)
	mkdir theirs
	cp dist/*.whl theirs
	both '"policy": "prebuilt-only", "glibc": "2.34"' # not what the store has
	run -0 --separate-stderr "$WHEELSMITH" build --matrix m.json -o taken --index "prebuilt=$PWD/theirs"
	[[ $stderr == *"2 prebuilt"* ]]
	cmp "theirs/$wheel" "taken/$wheel"
	rm -r theirs/*_aarch64.whl taken m.lock.json
	echo 'extern "C" void nobody_has_this(); extern "C" void tiny_add() { nobody_has_this(); }' |
		aarch64-linux-gnu-g++-12 -x c++ -shared -fPIC -o _C.so -
	python3 "$WS_ROOT/tests/support/mutate_wheel.py" "dist/$wheel" "theirs/$wheel" module _C.so
	run --separate-stderr "$WHEELSMITH" build --matrix m.json -o taken --index "prebuilt=$PWD/theirs"
	[[ $stderr == *"nobody_has_this"* ]]
}

@test "kernels are compiled with the other machine's compiler as host" {
	for_aarch64
	cat > recipes/tiny/src/kernel.cu <<- 'END'
		__global__ void add(float *x) { x[threadIdx.x] += 1; }
		extern "C" void tiny_add(float *x) { add<<<1, 32>>>(x); }
	END
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["kernel.cu"]'
	run "$WHEELSMITH" doctor --json
	jq -e '.compilers[] | select(.machine == "aarch64") | .path | endswith("aarch64-linux-gnu-g++-12")' <<< "$output"
	matrix m.json '"platform": ["aarch64"]'
	build -0
	[[ $stderr == *"install, on aarch64:  pip install dist/tiny-"* ]]
	run -0 "$WHEELSMITH" inspect dist/*_aarch64.whl
	[[ $output == *"8.6"* ]]
}

@test "flags, a Python and an installed torch of the wrong machine are refused" {
	plain
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["kernel.cpp"]; e["cxx_flags"] = ["-mavx2"]'
	matrix m.json '"platform": ["aarch64"]'
	build -3
	[[ $stderr == *"'-mavx2' is not for aarch64"*"leave it out: only compilers for x86-64 have it"* ]]
	plain
	matrix m.json '"platform": ["aarch64"]'
	run -2 "$WHEELSMITH" build --matrix m.json --glibc 2.33
	[[ $output == *'wheels for 2.31 run there: --glibc 2.31'* ]]
	run -2 "$WHEELSMITH" build --matrix m.json --glibc 2.12
	[[ $output != *'run there'* ]]
	run -2 "$WHEELSMITH" plan tiny==1.0 --here --arch 8.6 --platform aarch64 --recipes recipes
	[[ $output == *"--here selects this host, which is $(uname -m), not aarch64"* ]]
	run -3 "$WHEELSMITH" build --matrix m.json --glibc host
	[[ $output == *'glibc "host" is this host'?'s, and has no libraries of aarch64'*'name the oldest glibc'* ]]
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0\1' > python3.11
	head -c 64 /dev/zero >> python3.11
	chmod +x python3.11
	matrix m.json "\"python\": [\"$PWD/python3.11\"]"
	build -3
	[[ $stderr == *"python3.11' is for aarch64, and this host is "* ]]
}

@test "a release of torch without CUDA for the platform is excluded, with those that have it" {
	both '"torch": ["2.5.1"], "cuda": ["12.4"]'
	run -0 "$WHEELSMITH" plan --matrix m.json
	[[ $output == *"torch 2.5.1 has no CUDA wheel for aarch64; 2.11.0, "* ]]
}

@test "a name that the floor lacks fails, with the glibc that has it, and who asks for it" {
	cat > recipes/tiny/src/used.h <<- 'END'
		#include <malloc.h>
		inline size_t used() { return mallinfo2().uordblks; }
	END
	echo 'extern "C" int nothing(int mallinfo2) { return mallinfo2; }' > recipes/tiny/src/other.cpp
	cat > recipes/tiny/src/kernel.cpp <<- 'END'
		#include <charconv>
		#include <string.h>
		#include "used.h"
		extern "C" size_t tiny_used() { return used(); }
		extern "C" const char *tiny_name(int n) { return n < 0 ? strerrordesc_np(-n) : strerrorname_np(n); }
		extern "C" double tiny_read(const char *s, const char *e) {
			double x = 0;
			std::from_chars(s, e, x);
			return x;
		}
	END
	recipe 'e["binding"] = "c-abi"; e["sources"] = ["other.cpp", "kernel.cpp"]'
	matrix m.json '"glibc": "2.28"'
	build -6
	[[ $stderr == *"systems have from glibc 2.34 on"*"std::from_chars(char const*"*'"glibc": "2.34"'* ]]
	[[ $stderr == *"mallinfo2: used by kernel.cpp, declared in src/used.h, /usr/include/malloc.h"$'\n'* ]]
	[[ $stderr == *"std::from_chars("*"): used by kernel.cpp, declared in src/kernel.cpp, /usr/include/c++/"*"/charconv"* ]]
	[[ $stderr == *"strerrordesc_np: used by kernel.cpp, declared in src/kernel.cpp, /usr/include/string.h   ... +1"$'\n'* ]]
	not grep -E 'by other|, other|GLIBC_2' <<< "$stderr" # nor what is right
	# The same from the store, without compiling again.
	build
	[[ $stderr == *"mallinfo2: used by kernel.cpp, declared in src/used.h, /usr/include/malloc.h"$'\n'* ]]
	matrix m.json '"glibc": "2.34"'
	build -0
	[ "$(find dist -name '*manylinux_2_34_x86_64.whl' | wc -l)" -eq 1 ]
	# Nor does a wheel of others serve who asks for an older one.
	mv dist theirs
	rm -rf "$WHEELSMITH_STORE"/{ac,locks} m.lock.json
	matrix m.json '"glibc": "2.28", "policy": "prebuilt-only"'
	run -3 --separate-stderr "$WHEELSMITH" build --matrix m.json --index "prebuilt=$PWD/theirs"
	[[ $stderr == *"the tags of its file name are not for cp${PY/./} on $(uname -m) with glibc 2.28"* ]]
	matrix m.json '"glibc": "2.34", "policy": "prebuilt-only"'
	run -0 --separate-stderr "$WHEELSMITH" build --matrix m.json --index "prebuilt=$PWD/theirs"
	[[ $stderr == *"1 prebuilt"* ]]
}
