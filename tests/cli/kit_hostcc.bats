#!/usr/bin/env bats
# The limits of every real crt/host_config.h, against the numbers of the toolkits' documentation and
# against a preprocessor that pretends to be the newest allowed compiler and the one after it.
# labels: network
# timeout: 300

load helpers

driver() {
	"$WS_BINARY_DIR/tests/hostcc_driver" "$@"
}

# The reaction of the header to gcc $2, or to clang $3 if given.
preprocess() {
	g++ -E -x c++ -D__CUDACC__ -w -Wno-builtin-macro-redefined -U__GNUC__ -D__GNUC__="$2" \
		${3:+-D__clang__ -D__clang_major__="$3" -D__clang_minor__=0} "$1" -o /dev/null
}

# the header of one release has its known limits, and enforces them.
check() {
	local package=$1 version=$2 gcc=$3 clang=$4 header=$BATS_TEST_TMPDIR/$2.h
	python3 "$WS_ROOT/tests/support/wheel_member.py" "$package" "$version" crt/host_config.h > "$header"
	run driver limits "$header"
	echo "$version: $output"
	[ "$output" = "gcc $gcc clang 3..$clang" ]
	preprocess "$header" "$gcc"
	run ! preprocess "$header" $((gcc + 1))
	[[ "$output" == *"gcc versions later than $gcc are not supported"* ]]
	preprocess "$header" 4 "$clang"
	run ! preprocess "$header" 4 $((clang + 1))
	[[ "$output" == *"unsupported clang version"* ]]
}

@test "CUDA 11" {
	check nvidia-cuda-nvcc-cu11 11.7.99 11 13
	check nvidia-cuda-nvcc-cu11 11.8.89 11 14
}

@test "CUDA 12" {
	check nvidia-cuda-nvcc-cu12 12.0.140 12 14
	check nvidia-cuda-nvcc-cu12 12.1.105 12 15
	check nvidia-cuda-nvcc-cu12 12.2.140 12 16
	check nvidia-cuda-nvcc-cu12 12.3.107 12 16
	check nvidia-cuda-nvcc-cu12 12.4.131 13 17
	check nvidia-cuda-nvcc-cu12 12.5.82 13 17
	check nvidia-cuda-nvcc-cu12 12.6.85 13 18
	check nvidia-cuda-nvcc-cu12 12.8.93 14 19
	check nvidia-cuda-nvcc-cu12 12.9.86 14 19
}

@test "CUDA 13" {
	check nvidia-cuda-crt 13.0.48 15 20
	check nvidia-cuda-crt 13.1.80 15 21
	check nvidia-cuda-crt 13.2.51 15 21
	check nvidia-cuda-crt 13.3.33 15 21
	check nvidia-cuda-crt 13.4.59 16 22
	check nvidia-cuda-crt 13.5.37 16 22
}

@test "on this host CUDA 11.8 takes g++-11 and never g++-12" {
	needs g++-11 g++-12
	header=$BATS_TEST_TMPDIR/host_config.h
	python3 "$WS_ROOT/tests/support/wheel_member.py" nvidia-cuda-nvcc-cu11 11.8.89 crt/host_config.h > "$header"
	PATH=/usr/bin:/bin run -0 driver choose "$header" 11.8
	[ "$output" = /usr/bin/g++-11 ]
}
