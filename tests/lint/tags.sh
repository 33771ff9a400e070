#!/bin/sh
# One name, one thing: no struct, union or enum with a ws_ name has two definitions in builder/, and
# no tag has two in headers.
set -eu
bad=$(grep -rnoE '^(struct|union|enum) [a-z0-9_]+ *\{' builder --include='*.[ch]' | sed 's/ *{$//' | awk -F: '
	{
		split($3, words, " ")
		if (words[2] !~ /^ws_/ && $1 !~ /\.h$/) next
		if (words[2] in place) print $1 ":" $2 ": " $3 " is defined at " place[words[2]] " too"
		else place[words[2]] = $1 ":" $2
	}')
if [ -n "$bad" ]; then
	echo "$bad"
	exit 1
fi
