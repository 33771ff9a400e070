#!/bin/sh
# Options and commands are named by cli/, report/, draft/, explain/ and doctor/ alone: below, a cure is a code (base/err.h).
# Looks into string literals, not into comments. Which options there are, the tables in cli/ say. That
# --offline is set is a fact that any message may state; --verbose, --version and --output are
# compilers' as well.
set -eu
options=$(grep -ohE '\{"[a-z0-9-]+", ('"'.'"'|0), WS_OPTION_' builder/cli/*.c | grep -oE '"[a-z0-9-]+"' | tr -d '"' |
	grep -vxE 'version|verbose|offline|output' | sort -u)
[ "$(echo "$options" | wc -l)" -gt 30 ] || { echo "the tables of options were not found"; exit 1; }
named="--($(echo "$options" | tr '\n' '|' | sed 's/|$//'))([^a-z-]|\$)|wheelsmith (build|plan|fetch|lock|shell|inspect|doctor|explain|recipe|cache)[^a-z]"
# shellcheck disable=SC2016 # awk's
git ls-files -co --exclude-standard 'builder/*.[ch]' | grep -vE '^builder/((cli|report|draft|explain|doctor)/|main\.c$)' |
	xargs awk -v named="\"[^\"]*($named)" '
	/^[[:space:]]*\*/ { next }
	{ sub(/\/\*.*\*\//, "") }
	$0 ~ named && !/diff --git/ { print FILENAME ":" FNR ": " $0; bad = 1 }
	END { exit bad }'
