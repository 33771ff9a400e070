#!/usr/bin/env bats
# Runs the cheap commands of the README as written; quickstart and the real tests run those that build.
# labels: network
# timeout: 300

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
	ln -s "$WHEELSMITH" bin/wheelsmith
	export PATH="$PWD/bin:$PATH"
}

# The commands of the section, one a line, without those that match.
commands() { # heading, pattern
	awk -v heading="## $1" '/^## / { inside = $0 == heading } inside' "$WS_ROOT/README.md" |
		sed -n 's/^\$ \(wheelsmith .*\)/\1/p' | grep -vE "$2"
}

@test "a recipe is drafted and checked" {
	commands "Adding a package" "wheelsmith build" > script
	[ "$(wc -l < script)" -eq 2 ]
	run -0 bash -e script
	[[ $output == *"wrote my-recipes/"* ]]
	[[ $output == *"all that it names is there"* ]]
	# The build of the last line is only planned.
	local build
	build=$(commands "Adding a package" "wheelsmith recipe")
	# shellcheck disable=SC2086 # its words
	run -0 ${build/ build / plan } --torch 2.11.0 --arch 9.0
	[[ $output == *"total: 1 to build"* ]]
}

@test "an error is explained" {
	commands "What an error means" "doctor" > script
	[ "$(wc -l < script)" -eq 1 ]
	run -0 bash -e script
	[[ $output == *"torch 2.3.1 to 2.7.1 has it"* ]]
}

@test "doctor looks at python3" {
	commands "What an error means" "explain" > script
	[ "$(wc -l < script)" -eq 1 ]
	run bash -e script
	[[ $output == *"functions "* ]]
}
