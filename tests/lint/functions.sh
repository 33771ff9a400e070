#!/bin/sh
# A function fits a screen: 60 lines from its name to its last brace.
set -eu
bad=$(find builder -name '*.c' -exec awk '
	FNR == 1 { name = "" }
	/^[a-z_][a-z_0-9]*\(/ {
		name = $0
		sub(/\(.*/, "", name)
		first = FNR
	}
	/^}/ && name != "" {
		lines = FNR - first + 1
		if (lines > 60) print FILENAME ":" first ": " name "() has " lines " lines"
		name = ""
	}' {} +)
if [ -n "$bad" ]; then
	echo "$bad"
	exit 1
fi
