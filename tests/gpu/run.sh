#!/usr/bin/env bash
# run.sh: the kernels on the GPU of this host, as PTX of compute_75 that the driver compiles; then under
# compute-sanitizer, and three broken variants, which must fail. Needs torch and transformers in python3.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null ||
	{ echo "no GPU that torch of python3 can use: these tests need one"; exit 1; }
failed=0
library() { # FOLDER, words for nvcc
	cmake -S . -B "build/gpu/$1" -DWS_KERNELS=ON -DBUILD_TESTING=OFF "-DWS_KERNELS_FLAGS=${2:-}" > /dev/null &&
		cmake --build "build/gpu/$1" --target wsk > /dev/null || exit 1
	export WHEELSMITH_KERNELS_LIBRARY=$PWD/build/gpu/$1/kernels/_wsk.so
}
library right
WS_PTX_ONLY=1 python3 tests/gpu/run.py || failed=1
for tool in memcheck racecheck initcheck synccheck; do
	# A library without bfloat16 for this device answers so to whoever asks: that is no error.
	words=()
	[ $tool = memcheck ] && words=(--report-api-errors no)
	PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool $tool --error-exitcode 9 "${words[@]}" \
		python3 tests/gpu/sanitize.py | tail -n 2 || { echo "not ok  $tool"; failed=1; }
done
for broken in MASK SCALE SWIZZLE; do
	library "$broken" "-DWSK_BREAK_$broken"
	if python3 tests/gpu/run.py attention.every_length > /dev/null; then
		echo "not ok  the variant with a broken $broken passes"
		failed=1
	else
		echo "ok      the variant with a broken $broken fails"
	fi
done
exit $failed
