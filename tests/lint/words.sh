#!/bin/sh
# The repository names no host of a package registry and no path of a developer's machine. No name of a file
# begins like an option: a script that was asked for --help made a folder of that name once.
# The patterns are written so that this file does not match itself.
set -eu
bad=0
deny() {
	if git ls-files -z | xargs -0 grep -nIE "$1" --; then
		echo "^ $2"
		bad=1
	fi
}
deny 'py[p]i\.org|pythonhos[t]ed\.org' 'indexes are named by role; the default is asked from pip'
deny 'de[b]\.debian\.org|archive\.ubunt[u]\.com' 'mirrors come from the apt sources of the host'
deny '(^|[^a-z])/wor[k]/(main|shared)|/roo[t]/\.|/tm[p]/wt/' 'a path of one machine'
if git ls-files | grep -E '^-|/-'; then
	echo "^ a name that begins like an option"
	bad=1
fi
exit $bad
