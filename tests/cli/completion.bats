#!/usr/bin/env bats
# Completion, as bash, zsh and fish run it.

load helpers

setup() {
	needs zsh fish
	private_home
	scripts="$WS_ROOT/completions"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p bin recipes
	ln -s "$WHEELSMITH" bin/wheelsmith
	PATH="$PWD/bin:$PATH"
	touch fleet.json
}

# The sorted completions of a shell for a line with the cursor at its end.
in_bash() { # line
	bash --norc -c '
		source "$1/wheelsmith.bash"
		COMP_LINE=$2 COMP_POINT=${#2}
		_wheelsmith
		printf "%s\n" "${COMPREPLY[@]}"' - "$scripts" "$1" | sort
}

in_zsh() {
	zsh -f "$WS_ROOT/tests/support/complete.zsh" "$scripts" "$1" | sort -u
}

in_fish() {
	# shellcheck disable=SC2016 # fish expands it
	fish --no-config -c 'source $argv[1]/wheelsmith.fish; complete -C $argv[2]' "$scripts" "$1" |
		cut -f 1 | sort
}

# All three shells offer the same.
offers() { # line, what
	local shell
	for shell in bash zsh fish; do
		run "in_$shell" "$1"
		echo "$shell: $output"
		[ "$output" = "$2" ]
	done
}

@test "every option of every command's help is there" {
	run "$WHEELSMITH" --help
	commands=$(sed -n 's/^  \([a-z]\+\) .*/\1/p' <<< "$output")
	[[ $commands == *build*plan* ]]
	for command in '' $commands; do
		# shellcheck disable=SC2086 # none for the first
		for option in $("$WHEELSMITH" $command --help | grep -o '^  .\{4\}--[a-z0-9-]*' | grep -o -- '--.*'); do
			echo "$command $option"
			[ "$(in_bash "wheelsmith $command $option" | grep -cxe "$option")" = 1 ]
		done
	done
}

@test "commands" {
	offers "wheelsmith p" "plan
publish"
	offers "wheelsmith --json pl" plan
	offers "wheelsmith recipe " "check
list
new
update"
	offers "wheelsmith recipe check --fe" --fetch
	offers "wheelsmith cache ex" export
}

@test "options" {
	offers "wheelsmith build --pol" --policy
	offers "wheelsmith plan --me" --memory
	offers "wheelsmith lock --debi" --debian-mirror
	[ -z "$(in_bash "wheelsmith lock --why")" ]
}

@test "words that do not change" {
	offers "wheelsmith build --policy prebuilt" prebuilt-only
	offers "wheelsmith plan --kits h" host
	offers "wheelsmith plan --cxx11abi " "0
1
auto"
	offers "wheelsmith build --platform a" aarch64
	offers "wheelsmith --kits a" archive
}

@test "files and folders" {
	offers "wheelsmith plan --matrix fl" fleet.json
	offers "wheelsmith plan -m fl" fleet.json
	[ "$(in_bash "wheelsmith plan --recipes re")" = recipes ]
	[ -z "$(in_bash "wheelsmith plan --recipes fl")" ]
	offers "wheelsmith verify fl" fleet.json
	offers "wheelsmith cache export fl" fleet.json
}

@test "a value after =" {
	[ "$(in_bash "wheelsmith plan --matrix=fl")" = fleet.json ]
	[ "$(in_zsh "wheelsmith plan --matrix=fl")" = fleet.json ]
	[ "$(in_fish "wheelsmith plan --matrix=fl")" = --matrix=fleet.json ]
	[ "$(in_bash "wheelsmith plan --kits=h")" = host ]
	[ "$(in_zsh "wheelsmith plan --kits=h")" = --kits=host ]
	[ "$(in_fish "wheelsmith plan --kits=h")" = --kits=host ]
}

@test "bash takes = for the end of a word" {
	[ "$(in_bash "wheelsmith plan --kits=h")" = host ]
	run bash --norc -c '
		source "$1/wheelsmith.bash"
		COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}
		COMP_LINE="wheelsmith plan --kits=h" COMP_POINT=${#COMP_LINE}
		_wheelsmith
		echo "${COMPREPLY[@]}"' - "$scripts"
	[ "$output" = --kits=host ]
}

@test "options and commands are described" {
	run "$WHEELSMITH" internal complete -- build --
	[ "$status" = 0 ]
	grep -qxe "$(printf -- '--matrix\tthe build matrix')" <<< "$output"
	run "$WHEELSMITH" internal complete -- ''
	grep -qx "$(printf 'lock\tpin sources, kits and torch wheels')" <<< "$output"
	run "$WHEELSMITH" internal complete --
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "Without a completion the output is empty" {
	run "$WHEELSMITH" internal complete -- shell ''
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ -z "$(in_bash "wheelsmith plan --torch 2" 2>&1)" ]
}

@test "a name of a file is never run" {
	mkdir '$(touch owned)'
	in_bash 'wheelsmith plan --recipes '
	in_zsh 'wheelsmith plan --recipes '
	in_fish 'wheelsmith plan --recipes '
	[ ! -e owned ]
}

@test "the scripts are clean" {
	shellcheck "$scripts/wheelsmith.bash"
	zsh -n "$scripts/_wheelsmith"
	fish -n "$scripts/wheelsmith.fish"
}
