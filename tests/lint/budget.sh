#!/bin/sh
# builder/ has at most as many lines of C and headers as builder/BUDGET allows: who needs more removes as much elsewhere.
set -eu
allowed=$(head -n 1 builder/BUDGET)
lines=$(find builder -name '*.[ch]' -exec cat {} + | wc -l)
if [ "$lines" -gt "$allowed" ]; then
	echo "builder/ has $lines lines of .c and .h files; builder/BUDGET allows $allowed"
	exit 1
fi
