# Helpers of the tests of kits: load kit_helpers

kit() {
	"$WS_BINARY_DIR/tests/kit_driver" "$@"
}

field() {
	sed -n "s/^$1: //p" <<< "$output"
}

# Memory counts where the program is built as people run it.
small_enough() {
	case $WS_BINARY_DIR in
	*/dev | */release) [ "$(field rss_kib)" -lt 51200 ] ;;
	esac
}

# Serves a folder on loopback for the rest of the test, at $SERVED.
serve() { # folder
	coproc SERVER { exec python3 "$WS_ROOT/tests/support/fault_server.py" "$1" "$1/log"; }
	local ready port rest
	read -r ready port rest <&"${SERVER[0]}"
	SERVED=http://127.0.0.1:$port
	SERVER_STDIN=${SERVER[1]}
}

teardown() {
	[ -z "${SERVER_STDIN:-}" ] || eval "exec $SERVER_STDIN>&-"
}

# nvcc as compile/ calls it: through a link `cuda` in the work folder, in an environment of ours.
nvcc_in() { # work folder, version of g++, words...
	local dir=$1 gcc=$2
	shift 2
	(cd "$dir" && env -i PATH=/usr/bin:/bin TMPDIR="$dir" cuda/bin/nvcc -ccbin "g++-$gcc" \
		-Xcompiler -fno-canonical-system-headers --cudart shared --cudadevrt none "$@")
}

# Compiles a program that includes what ATen does; every header of the toolkit lies in one of the
# folders that the kit names.
headers_of() { # kit, version of g++, scratch folder, the kit's header folders...
	local kit=$1 gcc=$2 dir=$3/work folder
	shift 3
	rm -rf "$dir"
	mkdir -p "$dir"
	ln -s "$kit" "$dir/cuda"
	cat > "$dir/t.cu" <<-'CU'
		#include <thrust/device_vector.h>
		#include <cublas_v2.h>
		#include <cusparse.h>
		#include <cusolverDn.h>
		#include <curand.h>
		#include <nv/target>
		__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
		int main() { int n = 0; twice<<<1, 32>>>(nullptr); return cudaGetDeviceCount(&n) == cudaSuccess; }
	CU
	nvcc_in "$dir" "$gcc" -std=c++17 -arch=sm_80 -MD -MF t.d -c t.cu -o t.o
	tr ' \\' '\n\n' < "$dir/t.d" | grep -v '^$' > "$dir/read"
	(cd "$dir" && grep ^cuda/ read | xargs realpath -s --relative-to=. > headers)
	[ "$(wc -l < "$dir/headers")" -gt 100 ]
	for folder; do
		sed -i "\\#^$folder/#d" "$dir/headers"
	done
	[ ! -s "$dir/headers" ]
}

# The same, without headers of a different CUDA. nvtx3 is in no kit; CUB takes it where the compiler's own folders
# have it (__has_include).
compiles() {
	headers_of "$@"
	[ "$(grep -v /nvtx3/ "$3/work/read" | grep -c ^/usr/local)" = 0 ]
}

# Links it: against the kit's runtime, without files of a different CUDA.
links() { # soname, version of g++, scratch folder
	local dir=$3/work
	nvcc_in "$dir" "$2" t.o -o t -Xlinker --trace > "$dir/trace"
	[ "$(grep -c /usr/local "$dir/trace")" = 0 ]
	readelf -d "$dir/t" > "$dir/dynamic"
	grep -q "Shared library: \[$1\]" "$dir/dynamic"
	LD_LIBRARY_PATH=$dir/cuda/lib64 ldd "$dir/t" > "$dir/needs"
	grep -q "$1 => $dir/cuda/lib64/" "$dir/needs"
}
