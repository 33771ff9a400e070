#!/usr/bin/env bats
# Compares our reading of pip's configuration with pip's own, setting by setting.
# timeout: 300

load helpers

setup() {
	python3 -c 'import pip._internal.commands' 2> /dev/null || cannot_run "python3 here has no pip"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p home/.pip home/.config/pip one/pip two/pip elsewhere/pip
}

# agree [NAME=value...]: both programs, in the same environment.
agree() {
	local env=(env -i "PATH=$PATH" "HOME=$PWD/home" "XDG_CONFIG_DIRS=$PWD/one:$PWD/two" "$@")
	local ours theirs
	ours=$("${env[@]}" "$WS_BINARY_DIR/tests/net_probe" pip)
	theirs=$("${env[@]}" python3 "$WS_ROOT/tests/support/pip_oracle.py")
	[ "$ours" = "$theirs" ] || {
		printf 'environment: %s\nours:\n%s\npip:\n%s\n' "$*" "$ours" "$theirs"
		return 1
	}
}

@test "files override one another in pip's order" {
	agree
	printf '[global]\nindex-url = https://one/\nextra-index-url = https://e/\n' > one/pip/pip.conf
	agree
	printf '[global]\nindex-url = https://two/\n' > two/pip/pip.conf
	agree
	printf '[global]\nindex-url = https://old/\ncert = /old.pem\n' > home/.pip/pip.conf
	agree
	printf '[global]\nindex-url = https://new/\n' > home/.config/pip/pip.conf
	agree
	agree "XDG_CONFIG_HOME=$PWD/elsewhere"
	printf '[install]\nindex-url = https://install/\n' > one/pip/pip.conf
	agree
	printf '[download]\nindex-url = https://download/\n' > one/pip/pip.conf
	agree
}

@test "PIP_CONFIG_FILE and variables" {
	printf '[global]\nindex-url = https://one/\n' > one/pip/pip.conf
	printf '[global]\nindex-url = https://new/\n' > home/.config/pip/pip.conf
	printf '[global]\ncert = /named.pem\n' > named
	agree "PIP_CONFIG_FILE=$PWD/named"
	agree PIP_CONFIG_FILE=/nonexistent
	agree PIP_CONFIG_FILE=/dev/null
	agree PIP_INDEX_URL=https://env/ "PIP_CONFIG_FILE=$PWD/named"
	agree PIP_INDEX_URL= PIP_CERT=/env.pem
	agree "PIP_EXTRA_INDEX_URL=https://a/  https://b/"
}

@test "the syntax of configparser" {
	printf '%s\n' '# a comment' '[global]' '; another' 'Index_URL : https://me:pw@a/simple' \
		'proxy = 3' '   index-url = https://continued/' 'extra-index-url =' '    https://b/' \
		'  # a comment within' '' '    https://c/ https://d/' '[download]' \
		'index-url = https://other/' 'cert=/x' > one/pip/pip.conf
	agree
	printf '[global]\r\nindex-url=https://crlf/\r\nextra_index_url: https://e/ ; not a comment\r\n' \
		> one/pip/pip.conf
	agree
	printf '[global]\n--index-url = https://dashes/\nindex-url =\n' > one/pip/pip.conf
	agree
	printf '[ global ]\nindex-url = https://spaces/\n' > one/pip/pip.conf
	agree
}
