# base.bash - `load base`: building.bash, and what most files that build set up with it.
# shellcheck shell=bash

load building

setup_file() {
	make_base
	export BASE
}

setup() {
	in_place
	only_host
}
