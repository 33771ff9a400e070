#!/usr/bin/env bats
# The help of every command, word for word; none is larger than a screen.

load helpers

# Compares the help of a command with golden/help-COMMAND.txt.
check_help() { # words of the command
	run "$WHEELSMITH" "$@" --help
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 24 ]
	while IFS= read -r line; do
		[ "${#line}" -le 80 ]
	done <<< "$output"
	local name="${*:-wheelsmith}"
	golden "help-${name// /-}"
}

@test "doctor" {
	check_help doctor
}

@test "recipe" {
	check_help recipe
}

@test "recipe check" {
	check_help recipe check
}

@test "recipe new" {
	check_help recipe new
}

@test "recipe without a word says what it takes" {
	run "$WHEELSMITH" recipe
	[ "$status" -eq 2 ]
	[[ "$output" == *"check or new is missing"* ]]
	run "$WHEELSMITH" recipe chekc
	[ "$status" -eq 2 ]
	[[ "$output" == *"does not know 'chekc'"* ]]
	run "$WHEELSMITH" recipe check
	[ "$status" -eq 2 ]
}
