# sharing.bash - `load sharing`: hosts that share results, for the files that drive a cache server
# shellcheck shell=bash disable=SC2154

# The user's configuration, with the password of who may write.
remote_is() { # ENDPOINT MEMBERS
	mkdir -p "$HOME/.config/wheelsmith"
	echo '{"remote": {"endpoint": "'"$1"'", '"$2"'}}' > "$HOME/.config/wheelsmith/config.json"
	printf 'machine 127.0.0.1 login ci password secret\n' > "$HOME/.netrc"
	chmod 600 "$HOME/.netrc"
}

wheel_sum() {
	sha256sum dist/*.whl | cut -d' ' -f1
}

nothing_ran() {
	[ -z "$(ran)" ] && [[ "$stderr" == *" 0 ran"* ]]
}

# All was made here, the wheel is the same, and there is one warning, which says so.
made_here() { # WORDS OF THE WARNING
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"warning: "*"$1"* ]]
}

# Until something listens there.
wait_for() { # PORT
	local i
	for ((i = 0; i < 100; i++)); do
		! (exec 8<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

# As if nothing had been built here yet.
anew() {
	rm -rf "$WHEELSMITH_STORE" dist
	from_base
}

# This store makes the package with a kernel, another gets all of it from there: the same bytes. writes_to and reads_from
# are the file's own.
found_elsewhere() { # ENDPOINT
	writes_to "$1"
	build
	[ "$status" -eq 0 ]
	[ -n "$(ran)" ]
	[[ "$stderr" != *warning* ]]
	local sum
	sum=$(wheel_sum)

	anew
	reads_from "$1"
	build
	[ "$status" -eq 0 ]
	nothing_ran
	[[ "$stderr" != *warning* ]]
	[ "$(wheel_sum)" = "$sum" ]
}
