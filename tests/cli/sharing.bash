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
