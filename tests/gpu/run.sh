#!/usr/bin/env bash
# run.sh: the kernels on the GPU of this host, as PTX of compute_75 that the driver compiles, and as PTX of
# compute_80, which has bfloat16; then under compute-sanitizer, and broken variants, which must fail.
# Needs torch and transformers in python3; CMake and nvcc. WS_GPU_LIBRARIES=FOLDER has the libraries built already: right.so, ...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
	{ echo "no GPU that torch of python3 can use: these tests need one"; exit 1; }
failed=0
library() { # NAME, words for nvcc, code
	export WHEELSMITH_KERNELS_LIBRARY=${WS_GPU_LIBRARIES:+$WS_GPU_LIBRARIES/$1.so}
	[ -z "$WHEELSMITH_KERNELS_LIBRARY" ] || return 0
	cmake -S kernels -B "build/gpu/$1" "-DWS_KERNELS_FLAGS=${2:-}" "-DWS_KERNELS_CODE=${3:-compute_75}" > /dev/null &&
		cmake --build "build/gpu/$1" -j "$(nproc)" > /dev/null || exit 1
	export WHEELSMITH_KERNELS_LIBRARY=$PWD/build/gpu/$1/_wsk.so
}
library right
WS_PTX_ONLY=1 python3 tests/gpu/run.py || failed=1
library newer "" compute_80
python3 tests/gpu/run.py attention. || failed=1
library right
WS_PTX_ONLY=1 tests/gpu/sanitize.sh || failed=1
for broken in MASK SCALE SWIZZLE HALO SUMS PARTS GATE; do
	library "$broken" "-DWSK_BREAK_$broken"
	cases=attention.every_length
	case $broken in
	HALO | SUMS) cases=conv.every_type ;;
	PARTS) cases=scan.every_length ;;
	GATE) cases=scan.update_every_kind ;;
	esac
	if python3 tests/gpu/run.py "$cases" | tail -n 1 | grep -q ', [1-9][0-9]* failed$'; then
		echo "ok      the variant with a broken $broken fails"
	else
		echo "not ok  the variant with a broken $broken passes, or no test of it ran"
		failed=1
	fi
done
exit $failed
