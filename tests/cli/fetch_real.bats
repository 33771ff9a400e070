#!/usr/bin/env bats
# The real sources of the recipes, the headers of a real torch, a real Debian package.
# labels: network
# timeout: 600

load helpers

probe() {
	"$WS_BINARY_DIR/tests/fetch_probe" "$@"
}

field() {
	sed -n "s/^$1: //p" <<< "$output"
}

# Brings one sdist twice into two stores: the same tree; then once more: remembered.
bring() { # NAME VERSION FILE SHA256 FILES
	run probe sdist "$BATS_TEST_TMPDIR/one" "$1" "$2" "$3" "$4"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(field files)" -eq "$5" ]
	[ "$(find "$(field path)" ! -type d | wc -l)" -eq "$5" ]
	[ "$(field remembered)" -eq 0 ]
	[ "$(field maxrss_kib)" -lt 51200 ]
	local digest="$(field digest)"
	echo "# $1 $2: $5 files, $(field ms) ms, $(field maxrss_kib) KiB" >&3
	mkdir "$BATS_TEST_TMPDIR/two"
	cp -r "$BATS_TEST_TMPDIR/one/cas" "$BATS_TEST_TMPDIR/two/"
	run -0 probe sdist "$BATS_TEST_TMPDIR/two" "$1" "$2" "$3" "$4"
	[ "$(field digest)" = "$digest" ]
	echo "# unpacked again from the store's archive: $(field ms) ms" >&3
	run probe sdist "$BATS_TEST_TMPDIR/one" "$1" "$2" "$3" "$4"
	[ "$(field remembered)" -eq 1 ]
	[ "$(field digest)" = "$digest" ]
}

# The number of files that tar itself sees.
FLASH_2_6_1=c18d22d27031a761e68ffeb770be17b2b865b04fb9b401aa35372957965d01a3
FLASH_2_8_3=1e71dd64a9e0280e0447b8a0c2541bad4bf6ac65bdeaa2f90e51a9e57de0370d
CAUSAL=aba1b717484472d0b2f2e40520a1c03f35fe5155555bd753d1c324afc56ba468
MAMBA=826a3cdb651959f191dac64502f8a29627d9116fe6bb7c57e4f562da1aea7bf3

@test "flash-attn 2.6.1" {
	bring flash-attn 2.6.1 flash_attn-2.6.1.tar.gz "$FLASH_2_6_1" 1846
}

@test "flash-attn 2.8.3" {
	bring flash-attn 2.8.3 flash_attn-2.8.3.tar.gz "$FLASH_2_8_3" 6614
}

@test "causal-conv1d 1.5.3.post1" {
	bring causal-conv1d 1.5.3.post1 causal_conv1d-1.5.3.post1.tar.gz "$CAUSAL" 24
}

@test "mamba-ssm 2.2.6.post3" {
	bring mamba-ssm 2.2.6.post3 mamba_ssm-2.2.6.post3.tar.gz "$MAMBA" 62
}

@test "the headers of torch 2.5.1 by ranges" {
	run -0 probe headers torch torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl torch/include/
	[ "$(field members)" -eq 8660 ]
	[ "$(field requests)" -le 6 ]
	[ "$(field maxrss_kib)" -lt 51200 ]
	echo "# $(field members) of $(field entries) members, $(field wire) bytes in" \
		"$(field requests) requests, $(field ms) ms, $(field maxrss_kib) KiB" >&3
}

@test "nvcc's Debian package" {
	pool=pool/non-free/n/nvidia-cuda-toolkit/nvidia-cuda-toolkit_12.4.131~12.4.1-2_amd64.deb
	run -0 probe deb "$pool" cd5fe85aee38d108b315f408a688641478f2402622a10c677478eb7a6c4e5319 \
		"$BATS_TEST_TMPDIR/deb"
	[ "$(field files)" -eq "$(dpkg-deb -c "$BATS_TEST_TMPDIR/deb" | grep -c '^-')" ]
	[ "$(field maxrss_kib)" -lt 51200 ]
	echo "# $(field files) files, $(field bytes) bytes, $(field ms) ms, $(field maxrss_kib) KiB" >&3
}
