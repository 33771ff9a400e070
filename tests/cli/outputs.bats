#!/usr/bin/env bats
# shellcheck disable=SC2016 # programs in single quotes
# Output that cannot be written, limits of this process, a home that is not set: each ends with a message.

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	package=(flash-attn==2.8.3 --torch 2.11.0 --python 3.12 --arch 9.0)
}

@test "a failed write to stdout is exit 5 and one line" {
	local command
	for command in --help --version "plan ${package[*]}" "plan ${package[*]} --json" doctor "doctor --json" "recipe check $WS_ROOT/recipes/flash-attn/2.8.3.json"; do
		echo "$command"
		# shellcheck disable=SC2086 # words
		run -5 --separate-stderr bash -c '"$@" > /dev/full' - "$WHEELSMITH" $command
		# shellcheck disable=SC2154 # bats sets it
		[ "$(tail -n 1 <<< "$stderr")" = "error: cannot write to the standard output: No space left on device" ]
	done
}

@test "a reader that leaves ends a command as SIGPIPE does, without a word" {
	run -0 --separate-stderr bash -c '"$@" | true; exit "$((PIPESTATUS[0] == 141 ? 0 : 1))"' - "$WHEELSMITH" plan "${package[@]}" --why '*'
	[ -z "$stderr" ]
}

@test "a limit on files is an error, not a kill" {
	run -5 --separate-stderr bash -c 'ulimit -f 1; "$@" > page' - "$WHEELSMITH" doctor --json
	[ "$stderr" = "error: cannot write to the standard output: File too large" ]
	# No regular file, only pipes.
	run -0 bash -c '(ulimit -f 0; "$@" 2>&1 > /dev/null) | cat; exit "$((PIPESTATUS[0] == 5 ? 0 : 1))"' - \
		"$WHEELSMITH" lock "${package[@]}" --store here
	[[ "$output" == error:*"File too large" ]]
}

@test "a small stack is made larger, or refused with the cure" {
	local kib
	for kib in 48 64 256; do
		echo "$kib"
		run -0 bash -c 'ulimit -S -s "$0"; exec "$@"' $kib "$WHEELSMITH" plan "${package[@]}"
		run -5 --separate-stderr bash -c 'ulimit -s "$0"; exec "$@"' $kib "$WHEELSMITH" plan "${package[@]}"
		[ "$stderr" = "error: the stack is limited to less than 1 MiB
       raise the limit:  ulimit -s 8192" ]
	done
}

@test "a small number of open files is made larger, or refused with the cure" {
	local files
	for files in 16 32; do
		run -0 bash -c 'ulimit -S -n "$0"; exec "$@"' $files "$WHEELSMITH" plan "${package[@]}"
		run -5 --separate-stderr bash -c 'ulimit -n "$0"; exec "$@"' $files "$WHEELSMITH" plan "${package[@]}"
		[ "$stderr" = "error: open files are limited to fewer than 64
       raise the limit:  ulimit -n 4096" ]
	done
}

@test "a terminal obeys no name" {
	local name=$'x\e[31m\u202ey.whl' command
	printf x > "$name"
	for command in verify inspect explain "recipe check"; do
		echo "$command"
		# shellcheck disable=SC2086 # words
		run python3 "$WS_ROOT/tests/support/terminal.py" 200 -- env TERM=dumb "$WHEELSMITH" $command "$name"
		[[ "$output" != *$'\e[31m'* && "$output" != *$'\u202e'* ]]
	done
}

@test "without a home the store must be named" {
	unset WHEELSMITH_STORE XDG_CACHE_HOME
	run -3 --separate-stderr env -u HOME "$WHEELSMITH" plan "${package[@]}"
	[ "$stderr" = "error: no folder is known for the store: HOME is not set
       name a folder for the store: --store DIR, or WHEELSMITH_STORE" ]
	run -0 env -u HOME "$WHEELSMITH" plan "${package[@]}" --store here
	run -3 env HOME= "$WHEELSMITH" plan "${package[@]}"
	run -1 env -u HOME "$WHEELSMITH" doctor
	[[ "$output" == *"x no folder is known for the store: HOME is not set"* ]]
}

@test "a store that another user has made in a folder for everybody is not believed" {
	[ "$(id -u)" = 0 ] || cannot_run "needs root: a folder of another user"
	mkdir -m 1777 shared
	mkdir -m 777 shared/theirs theirs
	mkdir -p shared/within/store
	ln -s "$PWD/theirs" shared/link
	chown -hR 65534 shared/theirs shared/link shared/within
	local store
	for store in shared/theirs shared/theirs/ shared/link shared/link/ shared/within/store; do
		run -3 --separate-stderr "$WHEELSMITH" lock "${package[@]}" --store "$store"
		# shellcheck disable=SC2154 # bats sets it
		[ "$stderr" = "error: the store '${store%/}' belongs to another user, in a folder where everybody can make one
       name a folder for the store: --store DIR, or WHEELSMITH_STORE" ]
	done
	[ -z "$(find shared/theirs theirs -type f)" ]
	# A file of this user, or of somebody else in a folder that others cannot write.
	mkdir shared/ours
	run -0 "$WHEELSMITH" cache stats --store shared/ours
	chown 65534 theirs
	run -0 "$WHEELSMITH" cache stats --store theirs
}
