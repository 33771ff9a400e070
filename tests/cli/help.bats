#!/usr/bin/env bats
# --help: as in golden/help*.txt, in 80 columns, with every option.
# labels: case

load helpers

setup() {
	private_home
}

# The help of COMMAND..., on stdout and with nothing on stderr.
helps() { # golden's name, command...
	local name=$1
	shift
	run -0 --separate-stderr "$WHEELSMITH" "$@" --help
	# shellcheck disable=SC2154 # bats sets it
	[ -z "$stderr" ]
	golden "$name"
	awk 'length($0) > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' <<< "$output"
	run -0 "$WHEELSMITH" "$@" -h
	golden "$name"
}

@test "the program" {
	helps help
}

@test "every command that it lists" {
	run -0 "$WHEELSMITH" --help
	local command commands
	commands=$(sed -n 's/^  \([a-z]\+\) .*/\1/p' <<< "$output")
	[ "$(wc -w <<< "$commands")" -ge 5 ]
	for command in $commands; do
		echo "$command"
		helps "help-$command" "$command"
	done
}

@test "help lists every option that the manual has, with a description" {
	local command page option help
	for page in "$WS_ROOT"/docs/man/wheelsmith-*.1.scd; do
		command=$(basename "$page" .1.scd)
		command=${command#wheelsmith-}
		[ "$command" != recipe ] || continue # its parts have helps of their own
		help=$("$WHEELSMITH" "$command" --help)
		for option in $(sed -nE 's/^(\*-.\*, )?\*(--[a-z0-9-]+)\*.*/\2/p' "$page"); do
			echo "$command $option"
			grep -qE -e "^  .{4}$option( [A-Z]+)? +[^ ]" <<< "$help"
		done
	done
}

@test "the parts of recipe" {
	helps help-recipe-check recipe check
	helps help-recipe-new recipe new
	helps help-recipe-update recipe update
}

@test "help needs no home, no store and no network" {
	run -0 env -i "$WHEELSMITH" build --help
	run -0 env -i "$WHEELSMITH" --help
}

@test "no command is a mistake, and shows the help" {
	run -2 --separate-stderr "$WHEELSMITH"
	[[ $output == usage:* ]]
	[[ $stderr == *"no command given"* ]]
}

@test "a word that is nearly a command" {
	run -2 "$WHEELSMITH" biuld
	# shellcheck disable=SC2016 # these backticks are the program's
	[[ $output == *'did you mean `wheelsmith build`?'* ]]
}

@test "an option that is nearly one" {
	run -2 "$WHEELSMITH" build --matirx x
	[[ $output == *"unknown option '--matirx'"* ]]
	[[ $output == *"did you mean --matrix?"* ]]
}

@test "help is a command, too" {
	local all
	all=$("$WHEELSMITH" --help)
	run -0 "$WHEELSMITH" help
	[ "$output" = "$all" ]
	run -0 "$WHEELSMITH" help build
	[ "$output" = "$("$WHEELSMITH" build --help)" ]
	[[ $output == *'Common options: wheelsmith --help; more: man wheelsmith-build' ]]
	run -0 "$WHEELSMITH" help recipe check
	[ "$output" = "$("$WHEELSMITH" recipe check --help)" ]
	run -2 "$WHEELSMITH" help biuld
	[[ $output == *"did you mean"* ]]
}

@test "a command that needs words says which" {
	run -2 --separate-stderr "$WHEELSMITH" shell
	[ "$stderr" = "error: \`wheelsmith shell\` needs more arguments
       usage: wheelsmith shell CELL --matrix FILE [options]
       usage: wheelsmith shell CELL PKG[==V]... (--here | --torch V) [options]" ]
	run -2 --separate-stderr "$WHEELSMITH" doctor here
	[ "$stderr" = "error: unexpected argument 'here'" ]
}

@test "the version" {
	run -0 "$WHEELSMITH" -V
	local short=$output
	run -0 "$WHEELSMITH" --version
	[ "$output" = "$short" ]
	[[ $output =~ ^wheelsmith\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "recipe without a word says what it takes" {
	run -2 "$WHEELSMITH" recipe
	[[ $output == *"check, new, update or list is missing"* ]]
	run -2 "$WHEELSMITH" recipe chekc
	[[ $output == *"does not know 'chekc'"* ]]
	run -2 "$WHEELSMITH" recipe check
}

@test "a word that is not a command is reported as such" {
	run -2 --separate-stderr "$WHEELSMITH" pln
	[[ $stderr == *"did you mean \`wheelsmith plan\`?"* ]]
	run -2 --separate-stderr "$WHEELSMITH" x
	[ "$stderr" = "error: unknown command 'x'
       \`wheelsmith --help\` lists the commands" ]
}

@test "a closed standard output is a reported error" {
	run -5 --separate-stderr bash -c '"$1" plan causal-conv1d==1.5.3.post1 --torch 2.5.1 --python 3.11 --arch 9.0 >&-' - \
		"$WHEELSMITH"
	[[ $stderr == *"cannot write to the standard output: Bad file descriptor" ]]
}
