#!/bin/sh
# Comments have 100 columns, as clang-format sees to for code. One with columns of its own, two blanks apart, may be wider.
set -eu
# shellcheck disable=SC2016 # $0 is awk's
find builder tests kernels '(' -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' ')' -print0 | sort -z | xargs -0 awk '
{
	line = $0
	while (match(line, /\t/)) line = substr(line, 1, RSTART - 1) substr("    ", 1 + (RSTART - 1) % 4) substr(line, RSTART + 1)
	text = line
	sub(/^ *\/?\*+<? */, "", text)
	wide = line
	gsub(/[\200-\277]/, "", wide) # bytes of a character behind its first
	if (line ~ /^ *\/?\*/ && length(wide) > 100 && text !~ /  /) { print FILENAME ":" FNR ": " length(wide) " columns"; bad = 1 }
}
END { exit bad }
'
