#!/usr/bin/env bats
# README.md and docs/*.md: what they show is what the program prints, and what they name exists.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	readme=$WS_ROOT/README.md
	pages=("$readme" "$WS_ROOT"/docs/*.md)
	# Both Pythons of the fleet, whatever this host has.
	export PYENV_ROOT=$HOME/.pyenv
	fake_python 11
	fake_python 12
}

# A script among pyenv's versions that answers as Python 3.MINOR does.
fake_python() { # MINOR
	local folder=$PYENV_ROOT/versions/3.$1.9
	mkdir -p "$folder/bin" "$folder/include"
	touch "$folder/include/Python.h" "$folder/include/pyconfig.h"
	cat > "$folder/bin/python3.$1" <<- END
		#!/bin/sh
		echo '{"implementation": "cpython", "version": {"major": 3, "minor": $1, "micro": 9, "releaselevel": "final",
			"serial": 0}, "free_threaded": false, "executable": "$folder/bin/python3.$1", "include": "$folder/include",
			"multiarch": "", "ext_suffix": ".cpython-3$1-x86_64-linux-gnu.so", "library": "", "purelib": ""}'
	END
	chmod +x "$folder/bin/python3.$1"
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

@test "README has at most 220 lines of at most 120 columns" {
	[ "$(wc -l < "$readme")" -le 220 ]
	LC_ALL=C.UTF-8 run ! grep -nE '^.{121}' "$readme"
}

@test "the first section has no word of this program alone, and each such word is explained" {
	run ! grep -nwiE 'cells?|products?|units?|kits?|pins?' <(sed '/^## /q' "$readme")
	[ "$(sed -n '/^## Words/,/^## /p' "$readme" | grep -cE '^- (cell|product|unit|kit|pin): ')" -eq 5 ]
}

@test "README names the wheel and the tests, each with its duration" {
	grep -E '^\$ ./dev quickstart +# .*minutes' "$readme"
	grep -E '^\$ ./dev test +# .*(minutes|hours?)' "$readme"
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
	done < <(grep -ohE '(^\$|`)( ?wheelsmith [a-z][^`]*)' "${pages[@]}" | sed -E 's/^(\$|`) ?wheelsmith //; s/[|;&>].*//; s/ #.*//')
	[ "$count" -ge 60 ]
}

@test "the packages and releases it lists are those that ship" {
	local file packages recipes
	packages=("$WS_ROOT"/recipes/*/)
	recipes=("$WS_ROOT"/recipes/*/*.json)
	grep -F "recipes: ${#packages[@]} packages, ${#recipes[@]} recipes; " "$readme"
	run -0 grep -oP '^ *\{"torch": "\K[0-9.]+' "$WS_ROOT/matrix/facts/torch.json"
	local releases=("${lines[@]}")
	grep -F -- '- torch: ' "$readme" | grep -qF "${#releases[@]} releases, ${releases[0]} to ${releases[-1]},"
	for file in "$WS_ROOT"/matrix/kits/cuda-*.json; do
		file=$(basename "$file" .json)
		case ${file#cuda-} in
		13.*) ;;
		*) grep -F -- '- CUDA: ' "$readme" | grep -qF " ${file#cuda-}" ;;
		esac
	done
}

@test "the targets of their links exist" {
	local page target
	for page in "${pages[@]}"; do
		for target in $(grep -oE '\]\([^)#]+\)' "$page" | tr -d '])(' | grep -v '^https:'); do
			echo "$page: $target"
			[ -e "$(dirname "$page")/$target" ]
		done
	done
}

@test "matrices that pages show are planned on any host" {
	local page count=0
	for page in "${pages[@]}"; do
		while read -r line; do
			echo "$page: $line"
			printf '%s\n' "$line" > m.json
			run -0 "$WHEELSMITH" plan --matrix m.json --strict
			count=$((count + 1))
		done < <(sed -nE "s/^\\$ echo '(\{.*\"packages\".*\})' > .*/\\1/p" "$page")
	done
	[ "$count" -ge 1 ]
}

# Without what the host decides: how many cores, how long.
@test "plans of shipped matrices that pages show are what plan prints" {
	local page matrix count=0
	for page in "${pages[@]}"; do
		for matrix in $(sed -nE 's/^\$ wheelsmith plan --matrix (matrix\/[a-z0-9-]+\.json)$/\1/p' "$page"); do
			echo "$page: $matrix"
			run -0 "$WHEELSMITH" plan --matrix "$WS_ROOT/$matrix"
			diff -u <(awk -v line="\$ wheelsmith plan --matrix $matrix" '$0 == line { inside = 1; next } /^```/ { inside = 0 } inside' "$page" |
				reported) <(reported <<< "$output")
			count=$((count + 1))
		done
	done
	[ "$count" -ge 2 ]
}

@test "every command line that pages show is one that bash reads" {
	local page line count=0
	for page in "${pages[@]}"; do
		while IFS= read -r line; do
			echo "$page: $line"
			bash -n <<< "$line"
			count=$((count + 1))
		done < <(sed -nE 's/^\$ (.*[^\\])$/\1/p' "$page")
	done
	[ "$count" -ge 80 ]
}
