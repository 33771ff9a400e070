#!/usr/bin/env bats
# The bundled kernels: the wheel that the recipe makes, and what can be said of them without a GPU.
# labels: cuda
# timeout: 600

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
}

@test "recipe, header and package say one version" {
	local version
	version=$(sed -nE 's/^#define WSK_VERSION "(.*)"/\1/p' "$WS_ROOT/kernels/include/wsk.h")
	[ -e "$WS_ROOT/recipes/wheelsmith-kernels/$version.json" ]
	[ "$(sed -nE 's/^__version__ = "(.*)"/\1/p' "$WS_ROOT/kernels/python/wheelsmith_kernels/__init__.py")" = "$version" ]
}

@test "one wheel for sm_75: libc alone, the oldest platform, code for what was asked" {
	echo '{"packages": ["wheelsmith-kernels==0.1.0"], "cuda": ["13.0"], "python": ["3.11"], "arch": ["7.5"]}' > m.json
	run "$WHEELSMITH" build --matrix m.json --kits host
	echo "$output"
	[ "$status" -eq 0 ]
	local wheel
	wheel=$(echo dist/*.whl)
	[[ "$wheel" == dist/wheelsmith_kernels-0.1.0+cu.13.sm.75-py3-none-manylinux_2_*_x86_64.whl ]]
	[ "$(sed -E 's/.*manylinux_2_([0-9]+)_.*/\1/' <<< "$wheel")" -le 17 ]
	python3 -m zipfile -e "$wheel" out
	readelf -d out/wheelsmith_kernels/_wsk.so | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' > needed
	[ "$(cat needed)" = libc.so.6 ]
	# What it exports is wsk.h, and nothing else.
	readelf -W --dyn-syms out/wheelsmith_kernels/_wsk.so | awk '$7 ~ /^[0-9]+$/ && $5 == "GLOBAL" {print $8}' | sort > exports
	sed -nE 's/.*WSK_API.*[ *](wsk_[a-z_]+)\(.*/\1/p' "$WS_ROOT/kernels/include/wsk.h" | sort > declared
	diff exports declared
	# The structs that Python packs are those of the header.
	cat > sizes.c <<- 'END'
		#include "wsk.h"
		#include <stdio.h>
		int main(void) { printf("%zu %zu\n", sizeof(struct wsk_attention), offsetof(struct wsk_attention, grad_o)); }
	END
	gcc -I"$WS_ROOT/kernels/include" sizes.c -o sizes
	PYTHONPATH=out python3 -c 'import struct; from wheelsmith_kernels import _native as n
print(n.ATTENTION.size, struct.calcsize("@I11ifi" + 4 * n.TENSOR + "Qqq" + "QQQQ" + "Qqqq"))' > packed
	[ "$(./sizes)" = "$(cat packed)" ]
	# Without a GPU's driver the library opens, and says what it needs.
	PYTHONPATH=out python3 -c 'import ctypes; from wheelsmith_kernels import _native as n
l = n._open(n.library_path())
p = n._Problem()
assert l.wsk_version() == b"0.1.0"
assert l.wsk_init(None, 0, None, ctypes.addressof(p)) and p.argument == b"memory", p.argument
import wheelsmith_kernels'
}

@test "registers and shared memory for sm_75 are those of the table; nothing spills" {
	run python3 "$WS_ROOT/tests/support/kernel_resources.py" "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" "$WS_ROOT/kernels/resources.txt" 75
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the library builds for development, without the program" {
	cmake -S "$WS_ROOT" -B tree -G Ninja -DBUILD_TESTING=OFF -DWS_KERNELS=ON > log 2>&1 || { cat log; false; }
	cmake --build tree --target wsk > log 2>&1 || { cat log; false; }
	readelf -W -S tree/kernels/_wsk.so | grep -q nv_fatbin
}
