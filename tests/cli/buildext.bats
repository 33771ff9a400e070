# buildext.bats - our command lines are those of torch's own BuildExtension, release by release
# labels: network
# timeout: 600

load helpers

@test "the words for 13 torch releases, of the stable ABI too, are those of their own cpp_extension.py" {
	run -0 python3 "$WS_ROOT/tests/support/check_flags.py" "$WS_BINARY_DIR/tests/flags_driver" \
		"$WS_ROOT/matrix/facts" "$BATS_TEST_TMPDIR" 2.3.1 2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 2.10.0 \
		2.11.0 2.12.1 2.13.0 2.14.1 2.15.0
	[ "$(grep -c 'words agree' <<<"$output")" -eq 22 ]
}
