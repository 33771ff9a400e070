#!/usr/bin/env bats
# ./dev on a host that lacks packages, and what its quickstart prints last. No package is installed: dpkg, apt and
# cmake are replaced.
# labels: case

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p bin build/release
	cp "$WS_ROOT/dev" .
	local program
	for program in bash env dirname cut tail cat mkdir; do
		ln -s "$(command -v "$program")" bin/
	done
	program_that id 'echo 1000'
}

program_that() { # NAME COMMAND
	printf '#!%s\n%s\n' "$(command -v bash)" "$2" > "bin/$1"
	chmod +x "bin/$1"
}

# dpkg knows all packages as installed but these.
missing() { # PACKAGE...
	program_that dpkg-query "for package; do :; done; case \" $* \" in *\" \$package \"*) exit 1 ;; esac; echo 'ii '"
}

dev() {
	run -"$1" --separate-stderr env -i PATH="$PWD/bin" HOME="$PWD" ./dev "${@:2}"
}

@test "without root the whole command is printed, once" {
	missing g++ libzip-dev
	dev 1 setup build
	# shellcheck disable=SC2154 # bats sets it
	[ "$stderr" = "dev: root is needed to install packages; run as root:
     apt-get update && apt-get install -y --no-install-recommends g++ libzip-dev" ]
}

@test "the quickstart installs what its install line needs" {
	missing python3-venv
	dev 1 quickstart
	[[ $stderr == *"apt-get install -y --no-install-recommends python3-venv" ]]
}

@test "the quickstart ends with the program's path and how it gets on PATH" {
	missing
	program_that cmake :
	printf '#!%s\n' "$(command -v bash)" > build/release/wheelsmith
	chmod +x build/release/wheelsmith
	dev 0 quickstart
	[ "$(tail -n 2 <<< "$stderr")" = "== the program is $PWD/build/release/wheelsmith; to have it on PATH:
     export PATH=\"$PWD/build/release:\$PATH\"" ]
}
