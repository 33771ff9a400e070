#!/bin/sh
# Every `#include "folder/..."` in builder/ follows an arrow written in builder/LAYERS.
set -eu
# shellcheck disable=SC2046 # no path here holds a blank
awk '
FNR == NR {
	if ($0 ~ /^#/ || NF == 0) next
	folder = $1; sub(/:$/, "", folder)
	known[folder] = 1; allowed[folder, folder] = 1
	for (i = 2; i <= NF; i++) allowed[folder, $i] = 1
	next
}
FNR == 1 {
	n = split(FILENAME, parts, "/"); folder = parts[2]
	top = n == 2
	if (!top && !(folder in known)) { print FILENAME ": folder \"" folder "\" is not in builder/LAYERS"; bad = 1 }
}
/^#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\""); split(quoted[2], target, "/")
	if (top) next
	if (quoted[2] !~ /\//) { print FILENAME ":" FNR ": write \"" quoted[2] "\" from builder/"; bad = 1; next }
	if (!((folder, target[1]) in allowed)) { print FILENAME ":" FNR ": " folder "/ may not include " target[1] "/"; bad = 1 }
}
END { exit bad }
' builder/LAYERS $(find builder -name '*.[ch]' | sort)
