#!/usr/bin/env bats
# The manual: every option and key there is, none that is not, and pages that render cleanly.

load helpers

setup() {
	pages="$WS_ROOT/docs/man"
	made="$WS_BINARY_DIR/man"
	cd "$BATS_TEST_TMPDIR" || return
}

common_options() {
	"$WHEELSMITH" internal complete -- - | cut -f 1 | grep -- '^--' | grep -vx -e --version | sort
}

# The own options of a command, one a line: --matrix.
own_options() { # command
	# shellcheck disable=SC2086 # "recipe check" is two words
	comm -23 <("$WHEELSMITH" internal complete -- $1 - | cut -f 1 | grep -- '^--' | sort) <(common_options)
}

# The options that a page has entries for: lines that begin with *--x* or *-x*.
entries() { # page
	grep -E '^\*-' "$pages/$1" | grep -oE '\*--[a-z0-9-]+' | tr -d '*' | sort -u
}

@test "each command's page has an entry for each of its options, and no other" {
	local command
	for command in build plan fetch lock shell inspect doctor verify publish cache; do
		echo "$command"
		diff -u <(own_options $command) <(entries wheelsmith-$command.1.scd)
	done
	diff -u <({ own_options 'recipe check'; own_options 'recipe new'; } | sort) <(entries wheelsmith-recipe.1.scd)
	diff -u <({ common_options; echo --version; } | sort) <(entries wheelsmith.1.scd)
}

@test "letters stand with the right options" {
	local command pair
	for command in build plan fetch lock shell 'recipe new'; do
		# shellcheck disable=SC2086 # two words
		for pair in $("$WHEELSMITH" $command --help | sed -nE 's/^  (-.), (--[a-z-]+).*/\1:\2/p'); do
			echo "$command $pair"
			grep -qF "*${pair%:*}*, *${pair#*:}*" "$pages/wheelsmith-${command% *}.1.scd"
		done
	done
}

@test "no page names an option that does not exist" {
	local command option
	local known=" --use_fast_math --version $(common_options | xargs)" # the first is nvcc's
	for command in build plan fetch lock shell inspect doctor verify publish cache 'recipe check' 'recipe new'; do
		known+=" $(own_options "$command" | xargs)"
	done
	for option in $(grep -ohE -e '--[a-z][a-z0-9_-]*' "$pages"/*.scd | sort -u); do
		echo "$option"
		[[ "$known " == *" $option "* ]]
	done
}

@test "every command has a page, and every page is named" {
	local page command
	for command in $("$WHEELSMITH" --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
		[ -f "$pages/wheelsmith-$command.1.scd" ]
	done
	for page in "$pages"/*.scd; do
		page=$(basename "$page" .scd)
		echo "$page"
		head -n 1 "$pages/$page.scd" | grep -qxF "${page%.*}(${page##*.})"
		[ "$page" = wheelsmith.1 ] || grep -qF "*${page%.*}*(${page##*.})" "$pages/wheelsmith.1.scd"
	done
}

@test "every reference of a page exists" {
	local reference
	for reference in $(grep -ohE '\*wheelsmith[a-z-]*\*\([15]\)' "$pages"/*.scd | tr -d '*)' | tr '(' . | sort -u); do
		echo "$reference"
		[ -f "$pages/$reference.scd" ]
	done
}

@test "the pages of files name every key" {
	local file key
	for file in matrix recipe config; do
		for key in $(jq -r '.properties | keys[]' "$WS_ROOT/schemas/$file-1.json"); do
			echo "$file: $key"
			grep -qE "^(\*[a-z_]+\*, )?\*${key/\$/\\\$}\*" "$pages/wheelsmith-$file.5.scd"
		done
	done
}

@test "exit codes are those of base/err.h" {
	local code
	for code in $(grep -oE '/\*\*< (exit )?[0-9]+' "$WS_ROOT/builder/base/err.h" | grep -oE '[0-9]+' | sort -un); do
		echo "$code"
		grep -qE "^[|[]-? +\*$code\*$" "$pages/wheelsmith.1.scd"
	done
}

@test "variables that are named are read, and those that are read are named" {
	local name
	# The environment variables that the program reads, without those that it sets for other programs.
	for name in $(grep -ohE '(getenv|ws_user_env_get\(env,|env_get\([a-z>-]+,) ?\(?"[A-Z_]+"' -r "$WS_ROOT/builder" | grep -oE '[A-Z_]{4,}' | sort -u); do
		case $name in
		SOURCE_DATE_EPOCH | SHELL | PYENV_* | LD_LIBRARY_PATH) continue ;;
		VIRTUAL_ENV | XDG_CONFIG_DIRS | UV_CONFIG_FILE | UV_NO_CONFIG | UV_INDEX_URL | UV_EXTRA_INDEX_URL) continue ;;
		esac
		echo "$name"
		grep -qF "*$name*" "$pages/wheelsmith.1.scd"
	done
	for name in $(grep -oE '\{"[A-Z_]+", ' "$WS_ROOT/builder/cli/ignored_env.c" | grep -oE '[A-Z_]+'); do
		echo "$name"
		grep -qF "*$name*" "$pages/wheelsmith.1.scd"
	done
}

@test "pages render without a warning" {
	needs scdoc mandoc
	local page
	for page in "$pages"/*.scd; do
		page="$made/$(basename "$page" .scd)"
		echo "$page"
		# scdoc writes .PP where mandoc wants none.
		run grep -v 'skipping paragraph macro' <(mandoc -Tlint -W warning "$page")
		[ -z "$output" ]
		run -0 --separate-stderr env MANWIDTH=80 man --warnings -l "$page"
		# shellcheck disable=SC2154 # bats sets it
		[ -z "$stderr" ]
		LC_ALL=C.UTF-8 run ! grep -E '^.{81}' <<< "$output"
	done
}
