#!/bin/sh
# plan/, recipe/, model/ and prebuilt/rank.c do no I/O and read no clock; only main.c exits; no code
# calls a shell; cli/session.c alone reads the environment, once.
set -eu
bad=0
pure='builder/plan builder/recipe builder/model builder/prebuilt/rank.c builder/prebuilt/rank.h'
deny() { # where, pattern, why
	# shellcheck disable=SC2086 # several folders
	if grep -rnE "$2" $1 --include='*.c' --include='*.h' | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)'; then
		echo "^ $3"
		bad=1
	fi
}
deny "$pure" '#[[:space:]]*include <(unistd|fcntl|time|dirent|poll|sys/(stat|socket|wait|ioctl|mman))' \
	'plan/, recipe/, model/ and prebuilt/rank.c do no I/O'
deny "$pure" '\b(fopen|open|getenv|time|clock_gettime|printf)\(' \
	'plan/, recipe/, model/ and prebuilt/rank.c do no I/O and read no clock'
deny "$(find builder -mindepth 2 -name '*.[ch]' ! -path builder/sys/spawn.c ! -path builder/base/arena.c | tr '\n' ' ')" '[^_a-z](exit|_exit|quick_exit)\(' \
	'only main.c ends the process, sys/spawn.c a child that could not execute, base/arena.c one without memory'
deny builder '[^_a-z](system|popen|wordexp|strcpy|strcat|sprintf|gets|tmpnam|mktemp|alloca)\(' \
	'a shell, or a function that cannot be used safely'
deny "$(find builder -name '*.[ch]' ! -path builder/cli/session.c | tr '\n' ' ')" '\b(getenv|secure_getenv)\(|\benviron\b' \
	'the environment is taken once, by cli/session.c, and handed down (base/user_env.h)'
exit $bad
