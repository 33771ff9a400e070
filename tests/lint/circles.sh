#!/bin/bash
# circles.sh [BUILD]: no two files of builder/ call each other, also not by way of others; and a call follows
# an arrow of builder/LAYERS even where no #include tells of it.
set -euo pipefail
objects=${1:-build/dev}/CMakeFiles/core.dir/builder
[ -d "$objects" ] || { echo "circles.sh: there is no '$objects': build first"; exit 1; }
# Only for sources that exist: a build folder keeps objects of renamed files. exec/ is a program of its own.
calls=$(find builder -mindepth 2 -name '*.c' ! -path 'builder/exec/*' -printf "$objects/%P.o\n" | sort | xargs "${NM:-nm}" -A | awk -v skip="${#objects}" '
{
	file = substr($1, skip + 2); sub(/\.c\.o:.*/, "", file)
	if ($(NF - 1) == "U") needs[file, $NF] = 1
	else if ($(NF - 1) ~ /^[TDRBVW]$/) owner[$NF] = file
}
END {
	for (pair in needs) {
		split(pair, part, SUBSEP)
		if (part[2] in owner && owner[part[2]] != part[1]) print part[1], owner[part[2]], part[2]
	}
}' | sort)
bad=0
if ! loops=$(awk '{ print $1, $2 }' <<<"$calls" | tsort 2>&1 >/dev/null); then
	echo "$loops"
	bad=1
fi
awk '
FNR == NR {
	if ($0 ~ /^#/ || NF == 0) next
	folder = $1; sub(/:$/, "", folder); allowed[folder, folder] = 1
	for (i = 2; i <= NF; i++) allowed[folder, $i] = 1
	next
}
{
	split($1, from, "/"); split($2, to, "/")
	if (!((from[1], to[1]) in allowed)) { print $1 ".c calls " $3 " of " $2 ".c: not an arrow of builder/LAYERS"; bad = 1 }
}
END { exit bad }' builder/LAYERS <(printf '%s\n' "$calls") || bad=1
exit $bad
