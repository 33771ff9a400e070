#!/bin/sh
# Every header compiles alone, opens with a documentation comment and has a guard named after it. No file
# repeats what another of its headers includes, and comments name files that exist, themselves first
# of all (includes.py).
set -eu
bad=0
python3 tests/lint/includes.py || bad=1
for header in $(find builder -name '*.h' | sort); do
	head -1 "$header" | grep -q '^/\*\*$' || { echo "$header: does not open with /**"; bad=1; }
	guard=WS_$(echo "${header#builder/}" | tr 'a-z/.-' 'A-Z___')
	grep -q "^#ifndef $guard\$" "$header" || { echo "$header: guard should be $guard"; bad=1; }
	echo "#include \"${header#builder/}\"" |
		${CC:-gcc} -std=c17 -D_GNU_SOURCE -Ibuilder "-I$1/generated" -fsyntax-only -x c - || { echo "$header: does not compile alone"; bad=1; }
done
exit $bad
