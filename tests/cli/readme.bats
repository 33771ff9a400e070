#!/usr/bin/env bats
# The README: what it shows is what the program says.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	readme=$WS_ROOT/README.md
}

# The code block behind <!-- NAME -->.
block() { # name
	awk -v mark="<!-- $1 -->" '$0 == mark { wait = 1; next } wait && /^```/ { if (inside) exit; inside = 1; next } inside' "$readme"
}

# Without what the host decides: how many cores, how long.
reported() {
	grep -v '^  total:'
}

@test "the plan of the fleet" {
	block fleet.json > fleet.json
	[ -s fleet.json ]
	run -0 "$WHEELSMITH" plan --matrix fleet.json
	diff -u <(block plan | tail -n +2 | reported) <(reported <<< "$output")
	[ "$(block plan | head -n 1)" = '$ wheelsmith plan --matrix fleet.json' ]
}

@test "what stands before the Quickstart has no word that only this program uses" {
	! sed -n '1,/^## Quickstart/p' "$readme" | grep -nwiE 'cells?|products?|units?|kits?|pins?' || return 1
	[ "$(sed -n '/^## Quickstart/,/^## /p' "$readme" | grep -c '^| \(cell\|product\|unit\|kit\|pin\) |')" -eq 5 ]
}

@test "commands and options exist" {
	local line word count=0
	local -a before
	while read -r line; do
		before=()
		for word in $line; do
			[ ${#before[@]} -gt 0 ] && [[ $word != -* ]] ||
				"$WHEELSMITH" internal complete -- "${before[@]}" "${word:0:1}" | cut -f 1 | grep -qxe "${word%%=*}" ||
				{ echo "$line: $word"; return 1; }
			before+=("$word")
		done
		count=$((count + 1))
	done < <(grep -ohE '(^\$|`)( ?wheelsmith [a-z][^`]*)' "$readme" | sed -E 's/^(\$|`) ?wheelsmith //')
	[ "$count" -ge 8 ]
}

@test "the packages and releases it lists are those that ship" {
	local file packages recipes
	packages=("$WS_ROOT"/recipes/*/)
	recipes=("$WS_ROOT"/recipes/*/*.json)
	grep -F "| recipes | ${#packages[@]} packages, ${#recipes[@]} recipes: " "$readme"
	run -0 grep -oP '^ *\{"torch": "\K[0-9.]+' "$WS_ROOT/matrix/facts/torch.json"
	local releases=("${lines[@]}")
	grep -F '| torch |' "$readme" | grep -qF "${#releases[@]} releases, ${releases[0]} to ${releases[-1]},"
	for file in "$WS_ROOT"/matrix/kits/cuda-*.json; do
		file=$(basename "$file" .json)
		case ${file#cuda-} in
		13.*) ;;
		*) grep -F '| CUDA |' "$readme" | grep -qF " ${file#cuda-}" ;;
		esac
	done
}

@test "what it links to is there" {
	local target
	for target in $(grep -oE '\]\([^)#]+\)' "$readme" | tr -d '])(' | grep -v '^https:'); do
		echo "$target"
		[ -e "$WS_ROOT/$target" ]
	done
}
