#!/usr/bin/env bash
# sanitize.sh [REGEX]: compute-sanitizer's four tools over sanitize.py, then racecheck and memcheck over each case of
# test_attention.py in a process of its own, as many as there are cores, at most eight. WHEELSMITH_KERNELS_LIBRARY is checked.
#
# Only our kernels are instrumented, but by initcheck, which has to see who wrote a byte. memcheck does not report
# what the driver's functions answer: that a library has no bfloat16 is such an answer.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export PYTORCH_NO_CUDA_MEMORY_CACHING=1

one() { # TOOL NAME COMMAND...: one line, and what was found where something was
	local tool=$1 name=$2 words=(--kernel-name kernel_substring=wsk_) log=$logs/$1.${2//[ \/]/_}
	shift 2
	[ "$tool" = initcheck ] && words=()
	[ "$tool" = memcheck ] && words+=(--report-api-errors no)
	if timeout "${WS_SANITIZE_SECONDS:-900}" compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 "${words[@]}" \
		python3 "$@" > "$log" 2>&1; then
		echo "ok      $tool  $name  $(grep -c '^ok ' "$log") cases, $(grep -E 'SUMMARY' "$log" | tail -n 1)"
	else
		echo "not ok  $tool  $name: exit $?"
		grep -E '^(=========|not ok)' "$log" | grep -vE 'Host Frame|Saved host' | head -n 30 | sed 's/^/        /'
		tail -n 12 "$log" | sed 's/^/        /'
		return 1
	fi
}
export -f one
export logs

python3 tests/gpu/sanitize.py > /dev/null || exit 1 # the driver's compiled PTX is kept from here on
{
	for tool in memcheck racecheck initcheck synccheck; do
		most=256
		# Where two warps meet (bar.sync of 64) racecheck loses count: of 256 it names a read and a write between which
		# every path has the block's own barrier.
		[ "$tool" = racecheck ] && most=128
		echo "$tool sanitize.py tests/gpu/sanitize.py $most"
	done
	# 262,144 tokens take a tool hours. Under racecheck the float16 products that torch does for the rule of
	# flash_attention end in an illegal address on sm_90, once our kernels are done; every_length has its shape.
	for tool in racecheck memcheck; do
		sed -nE 's/^def test_(.*)\(\):/\1/p' tests/gpu/test_attention.py | grep -v long_sequences | while read -r name; do
			[ "$tool-$name" = racecheck-the_rule_of_flash_attention ] || echo "$tool $name tests/gpu/run.py attention.$name"
		done
	done
} | grep -E -- "${1:-.}" | xargs -P "$(($(nproc) < 8 ? $(nproc) : 8))" -L 1 bash -c 'one "$@"' one
