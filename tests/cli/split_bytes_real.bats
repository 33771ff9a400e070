#!/usr/bin/env bats
# Units of many kinds, by nvcc's own commands and by one nvcc: PTX, cubins and objects are the same bytes, for each toolkit;
# and the same in another store and folder, by another user, with another TMPDIR, umask and time zone.
# labels: network cuda real
# timeout: 7200

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

unit() { # FOLDER/NAME: its text is stdin
	mkdir -p "recipes/kinds/src/${1%/*}"
	cat > "recipes/kinds/src/$1.cu"
}

# Units without torch.
plain_units() {
	unit plain/extern <<- 'END'
		__global__ void add(float *x) { x[threadIdx.x] += 1; }
		extern "C" void kinds_add(float *x) { add<<<1, 32>>>(x); }
	END
	unit plain/no_extern <<- 'END'
		namespace {
		__device__ float twice(float x) { return x + x; }
		__global__ void hidden(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
		struct at_start { at_start() { hidden<<<1, 32>>>(nullptr); } } once;
		}
	END
	unit plain/templates <<- 'END'
		template <int N, class T> __global__ void sum(T *x) {
			T s = 0;
		#pragma unroll
			for (int i = 0; i < N; i++) { s += x[i]; }
			*x = s;
		}
		void kinds_sum(float *x, double *y) { sum<4><<<1, 1>>>(x); sum<9><<<1, 1>>>(y); }
	END
	unit plain/lambda <<- 'END'
		template <class F> __global__ void each(int *x, F f) { x[threadIdx.x] = f(x[threadIdx.x]); }
		void kinds_lambda(int *x, int by) { each<<<1, 32>>>(x, [by] __device__(int v) { return v * by; }); }
	END
	unit plain/memory <<- 'END'
		__constant__ float table[64];
		static __device__ int calls;
		__managed__ int seen;
		__global__ void look(float *x) {
			extern __shared__ float s[];
			s[threadIdx.x] = table[threadIdx.x % 64];
			__syncthreads();
			x[threadIdx.x] = s[31 - threadIdx.x];
			atomicAdd(&calls, 1);
			seen = calls;
		}
		void kinds_look(float *x) { look<<<1, 32, 128>>>(x); }
	END
	unit plain/asserts <<- 'END'
		#include <cassert>
		#include <cstdio>
		__global__ void checked(int *x) { assert(*x > 3); printf("%s:%d %d\n", __FILE__, __LINE__, *x); }
		void kinds_checked(int *x) { checked<<<1, 1>>>(x); }
	END
	unit plain/halves <<- 'END'
		#include <cuda_bf16.h>
		#include <cuda_fp16.h>
		#include <mma.h>
		using namespace nvcuda;
		__global__ void multiply(const half *a, const half *b, float *c, __nv_bfloat16 *d) {
			wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
			wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
			wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
			wmma::fill_fragment(fc, 0.0f);
			wmma::load_matrix_sync(fa, a, 16);
			wmma::load_matrix_sync(fb, b, 16);
			wmma::mma_sync(fc, fa, fb, fc);
			wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
			d[threadIdx.x] = __float2bfloat16(c[threadIdx.x]);
		}
		void kinds_multiply(const half *a, float *c, __nv_bfloat16 *d) { multiply<<<1, 32>>>(a, a, c, d); }
	END
	unit plain/archs <<- 'END'
		#include <nv/target>
		#define TEXT(...) #__VA_ARGS__
		#define SHOW(...) TEXT(__VA_ARGS__)
		__global__ void which(int *x) {
			NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (*x = 90;), (*x = 80;))
		}
		const char *kinds_which(int *x) { which<<<1, 1>>>(x); return SHOW(__CUDA_ARCH_LIST__); }
	END
	unit plain/cub <<- 'END'
		#include <cub/block/block_reduce.cuh>
		__global__ void total(float *x) {
			using reduce = cub::BlockReduce<float, 128>;
			__shared__ typename reduce::TempStorage space;
			float s = reduce(space).Sum(x[threadIdx.x]);
			if (threadIdx.x == 0) { *x = s; }
		}
		void kinds_total(float *x) { total<<<1, 128>>>(x); }
	END
	unit plain/thrust <<- 'END'
		#include <thrust/device_ptr.h>
		#include <thrust/transform.h>
		struct square { __host__ __device__ float operator()(float x) const { return x * x; } };
		void kinds_square(float *x, int n) {
			thrust::device_ptr<float> p(x);
			thrust::transform(p, p + n, p, square{});
		}
	END
	unit plain/cute <<- 'END'
		#include <cute/tensor.hpp>
		using namespace cute;
		__global__ void copy_tile(const float *from, float *to) {
			auto layout = make_layout(make_shape(Int<8>{}, Int<4>{}), make_stride(Int<4>{}, Int<1>{}));
			Tensor a = make_tensor(make_gmem_ptr(from), layout);
			Tensor b = make_tensor(make_gmem_ptr(to), layout);
			Tensor r = make_fragment_like(a(_, 0));
			for (int i = 0; i < size<1>(a); i++) { copy(a(_, i), r); copy(r, b(_, i)); }
		}
		void kinds_copy(const float *x, float *y) { copy_tile<<<1, 1>>>(x, y); }
	END
	# -lineinfo, and other words.
	unit lines/lines <<- 'END'
		#include "one.h"
		__global__ void fast(float *x) { x[threadIdx.x] = one(x[threadIdx.x]); }
		extern "C" void kinds_fast(float *x) { fast<<<1, 32>>>(x); }
	END
	echo 'static __device__ float one(float x) { return __sinf(x) / expf(x); }' > recipes/kinds/src/lines/one.h
	unit lines/fast_no_extern <<- 'END'
		#include "one.h"
		namespace { __global__ void slow(float *x) { *x = one(*x); } struct s { s() { slow<<<1, 1>>>(nullptr); } } once; }
	END
}

# Units with torch's headers.
torch_units() {
	unit torch/c10 <<- 'END'
		#include <c10/cuda/CUDAException.h>
		#include <c10/util/Half.h>
		__global__ void scale(c10::Half *x) { x[threadIdx.x] = x[threadIdx.x] * c10::Half(2); }
		void kinds_scale(c10::Half *x) { scale<<<1, 32>>>(x); C10_CUDA_KERNEL_LAUNCH_CHECK(); }
	END
	unit torch/tensor <<- 'END'
		#include <ATen/core/Tensor.h>
		#include <ATen/cuda/CUDAContext.h>
		template <class T> __global__ void zero(T *x) { x[threadIdx.x] = T(0); }
		void kinds_zero(at::Tensor &t) { zero<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(t.data_ptr<float>()); }
	END
}

# A recipe of one extension for each folder of units.
write_recipe() { # BINDING FOLDER...
	mkdir -p recipes/kinds/src/kinds
	touch recipes/kinds/src/kinds/__init__.py
	python3 - "$@" > recipes/kinds/1.0.json <<- 'END'
		import glob, json, os, sys
		os.chdir("recipes/kinds/src")
		words = {"lines": ["-lineinfo", "--use_fast_math", "-O2"], "plain": ["--expt-extended-lambda", "--expt-relaxed-constexpr"]}
		print(json.dumps({"name": "kinds", "version": "1.0", "source": [{"folder": "src"}], "cxx_std": 17,
		    "extensions": [{"module": f"kinds._{folder}", "binding": sys.argv[1], "suffix": ".so", "include": ["cutlass"],
		                    "sources": sorted(glob.glob(f"{folder}/*.cu"))} | ({"nvcc_flags": words[folder]} if folder in words else {})
		                   for folder in sys.argv[2:]],
		    "python": {"packages": ["kinds"]}}))
	END
}

# CuTe's headers are flash-attn's.
take_cutlass() {
	local tree
	"$WHEELSMITH" fetch flash-attn==2.8.3 --torch 2.11.0 --python 3.11 --arch 9.0
	tree=$(find "$WHEELSMITH_STORE/trees" -maxdepth 1 -type d -name 'src-flash-attn-2.8.3-*')
	mkdir -p recipes/kinds/src/cutlass
	cp -r "$tree"/csrc/cutlass/include/{cute,cutlass} recipes/kinds/src/cutlass
}

write_matrix() { # CUDA [MEMBERS]
	echo "{\"packages\": [\"kinds==1.0\"], \"cuda\": [\"$1\"], \"python\": [\"3.11\"], \"arch\": [\"8.0;9.0+PTX\"],
		\"debug_info\": \"lines\", \"glibc\": \"2.28\", \"recipes\": \"recipes\", \"policy\": \"build-only\"${2:+, $2}}" > m.json
}

# With -lineinfo one nvcc writes the folder that it runs in: its PTX equals ours except for that folder.
lines_by_hand() { # FILE...
	local folder file sum
	for file; do
		folder=$("$WHEELSMITH" shell 'kinds*' --matrix m.json --unit "${file##*/}" < /dev/null)
		"$folder/run"
		for file in "$folder"/tmp/*.ptx; do
			grep -q "^\s*\.file.*\"$folder/src/lines/one.h\"" "$file"
			sum=$(sed "s#\"$folder/#\"/wheelsmith/#" "$file" | sha256sum | cut -d' ' -f1)
			[ -e "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum" ]
		done
	done
}

# The store has the PTX, cubins and object that one nvcc makes of a unit, by the command that `shell` opens.
same_as_whole() { # FILE...
	local folder file made sum
	for file; do
		folder=$("$WHEELSMITH" shell 'kinds*' --matrix m.json --unit "${file##*/}" < /dev/null)
		"$folder/run"
		for made in "$folder"/unit.o "$folder"/tmp/*.{ptx,cubin}; do
			sum=$(sha256sum < "$made" | cut -d' ' -f1)
			[ -e "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum" ]
		done
	done
}

# Builds both ways, then elsewhere as somebody else; what is equal goes to the terminal.
both_ways() { # WHAT UNITS-COMPARED OTHERS
	local here=$PWD there unit units=() other=()
	"$WHEELSMITH" build --matrix m.json
	for unit in recipes/kinds/src/{plain,torch}/*.cu; do # without a seed, names that are made up are others each time
		[ ! -e "$unit" ] || { [ "$3" -gt 2 ] && [[ $unit == */no_extern.cu ]]; } || units+=("$unit")
	done
	[ "${#units[@]}" -eq "$2" ]
	same_as_whole "${units[@]}"
	if [ "$3" -gt 2 ]; then
		rm recipes/kinds/src/*/*no_extern.cu
		write_recipe c-abi plain lines
		rm dist/*.whl
		"$WHEELSMITH" build --matrix m.json
	fi
	[ "$3" -eq 0 ] || lines_by_hand recipes/kinds/src/lines/*.cu
	there=$(mktemp -d)/another/place
	mkdir -p "$there/tmp"
	cp -r recipes m.json m.lock.json "$there"
	mkdir "$there/store"
	cp -a "$WHEELSMITH_STORE"/{VERSION,trees,cas} "$there/store"
	[ "$(id -u)" != 0 ] || other=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "${there%/another/place}"
	cd "$there"
	umask 077
	"${other[@]}" env HOME="$there" TMPDIR="$there/tmp" TZ=Asia/Kathmandu WHEELSMITH_STORE="$there/store" \
		"$WHEELSMITH" build --matrix m.json --offline
	cd "$here"
	umask 022
	cmp dist/*.whl "$there"/dist/*.whl
	echo "# $1: $2 units equal both ways; not compared: $3; the wheel is the same elsewhere" >&3
	rm -rf "${there%/another/place}"
}

without_torch() { # CUDA UNITS-COMPARED OTHERS
	plain_units
	take_cutlass
	write_recipe c-abi plain lines
	write_matrix "$1"
	both_ways "CUDA $1, without torch" "$2" "$3"
}

with_torch() { # CUDA TORCH
	torch_units
	write_recipe torch-library torch
	write_matrix "$1" "\"torch\": [\"$2\"]"
	both_ways "CUDA $1, torch $2" 2 0
}

@test "CUDA 13.0: split and whole, here and elsewhere" {
	without_torch 13.0 11 2
}

@test "CUDA 13.0 with torch's headers: split and whole, here and elsewhere" {
	with_torch 13.0 2.11.0
}

@test "CUDA 12.4: split and whole, here and elsewhere" {
	without_torch 12.4 10 3
}

@test "CUDA 12.4 with torch's headers: split and whole, here and elsewhere" {
	with_torch 12.4 2.5.1
}

@test "CUDA 11.8: split and whole, here and elsewhere" {
	needs g++-11
	without_torch 11.8 10 3
}

@test "CUDA 13.5: split and whole, here and elsewhere" {
	without_torch 13.5 11 2
}

# Compilers of 12.6 to 12.9 are on no index: with NVIDIA's own archives at hand they are toolkits like others.
@test "the toolkits between: some units, split and whole" {
	local cuda
	plain_units
	find recipes/kinds/src/plain recipes/kinds/src/lines -name '*.cu' ! -name lambda.cu ! -name archs.cu ! -name cub.cu -delete
	write_recipe c-abi plain
	for cuda in 13.1 13.2 13.3 13.4 ${WS_MORE_CUDAS:-}; do
		write_matrix "$cuda"
		"$WHEELSMITH" build --matrix m.json -o "dist-$cuda"
		same_as_whole recipes/kinds/src/plain/*.cu
		echo "# CUDA $cuda: 3 units equal both ways" >&3
	done
}

# Toolkits before 13.0 have no --frandom-seed: cudafe++ generates a random name that host and kernel code share.
@test "CUDA 12.4: another architecture, of a unit without an external function, has the name of the first" {
	plain_units
	find recipes/kinds/src -name '*.cu' ! -name no_extern.cu -delete
	write_recipe c-abi plain
	write_matrix 12.4
	sed -i 's/8.0;9.0+PTX/8.6/' m.json
	"$WHEELSMITH" build --matrix m.json
	sed -i 's/"8.6"/"8.0;8.6"/' m.json
	"$WHEELSMITH" build --matrix m.json -o both
	unzip -q both/*.whl '*.so' -d unpacked
	[ "$(strings -a unpacked/kinds/*.so | grep -oE 'no_extern_cu_[0-9a-f]{8}_' | sort -u | wc -l)" -eq 1 ]
}
