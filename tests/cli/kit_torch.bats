#!/usr/bin/env bats
# Torch kits out of the real wheels of the index that this host is configured for.
# labels: network
# timeout: 600

load helpers
load kit_helpers

tell() {
	echo "# torch $1: $(field ready | sed 's/.*: //'), $(field ms) ms, $(($(field rss_kib) / 1024)) MiB" >&3
}

@test "2.5.1: headers as measured, at most 25 MB, the same from another Python's wheel" {
	run -0 kit torch "$BATS_TEST_TMPDIR/a" 2.5.1 3.11
	[ "$(field version)" = "2.5.1+cu124" ]
	[ "$(field cxx11abi)" = 0 ]
	[ "$(field pybind)" = "_gcc _libstdcpp _cxxabi1011" ]
	[ "$(field sha256)" = de5b7d6740c4b636ef4db92be922f0edc425b65ed78c5076c43c42d362a45457 ]
	[ "$(find "$(field path)/include" -type f | wc -l)" -eq 8660 ]
	[ "$(field wire)" -lt 25000000 ]
	small_enough
	tell 2.5.1
	tree=$(field tree)
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/a/partial")" ]

	run -0 kit torch "$BATS_TEST_TMPDIR/b" 2.5.1 3.12
	[[ "$(field wheel)" == *cp312-cp312* ]]
	[ "$(field tree)" = "$tree" ]

	run -0 kit torch "$BATS_TEST_TMPDIR/a" 2.5.1 3.11
	[ "$(field wire)" = 0 ]
	[ "$(field tree)" = "$tree" ]
	echo "# again: $(field ms) ms by the index, $(field pinned_ms) ms by the lock" >&3
}

@test "2.11.0: another ABI, another pybind11, CUDA 13" {
	run -0 kit torch "$BATS_TEST_TMPDIR/a" 2.11.0 3.14
	[ "$(field version)" = "2.11.0+cu130" ]
	[ "$(field cuda)" = 13.0 ]
	[ "$(field cxx11abi)" = 1 ]
	[ "$(field pybind)" = "none none none" ]
	[[ "$(field wheel)" == *cp314-cp314-* ]]
	[ "$(find "$(field path)/include" -type f | wc -l)" -eq 9410 ]
	[ "$(field wire)" -lt 25000000 ]
	small_enough
	tell 2.11.0
}

@test "a release that no index has is reported with its neighbours" {
	run -3 kit torch "$BATS_TEST_TMPDIR/a" 2.51 3.11
	[[ "$output" == *"no index has torch '2.51'"* ]]
	[[ "$output" == *'did you mean "2.5.1"?'* ]]
}

@test "an unknown release gets a kit by its neighbour's rules" {
	run -0 kit torch "$BATS_TEST_TMPDIR/a" 2.7.0 3.11
	[ "$(field known)" = 0 ]
	[ "$(field cxx11abi)" = 1 ]
	tell 2.7.0
}

@test "without a network the error says so" {
	OFFLINE=1 run -4 kit torch "$BATS_TEST_TMPDIR/a" 2.5.1 3.11
	[[ "$output" == *"torch 2.5.1: "* ]]
	echo "# $output" >&3
}
