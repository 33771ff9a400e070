#!/usr/bin/env bats
# A farm whose workers have another system than this host: the next Debian, with its own gcc and a newer glibc, unpacked
# and given to buildbox-casd as the /usr of its sandboxes.
# labels: real network
# timeout: 1200

load building
load sharing

setup_file() {
	needs bwrap
	farm_base
	unpack trixie g++
	export IMAGE=$BATS_FILE_TMPDIR/trixie
	start_casd --jobs=2
	export GRPC BOX
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/casd.pid")" 2> /dev/null || true
}

setup() {
	in_place
	remote_is "$GRPC" '"instance": "main", "trust": ["'"$BATS_FILE_TMPDIR"'/ci.pem.pub"]'
}

# Release $1 with packages $2, from the mirror of this host's own Debian; compilers need not be configured.
unpack() {
	local root=$BATS_FILE_TMPDIR/$1 mirror deb
	apt-get download debootstrap
	dpkg-deb -x debootstrap_*.deb .
	[ -e "usr/share/debootstrap/scripts/$1" ] || ln -s sid "usr/share/debootstrap/scripts/$1"
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$')
	DEBOOTSTRAP_DIR=$PWD/usr/share/debootstrap usr/sbin/debootstrap --variant=minbase --foreign --include="$2" \
		"$1" "$root" "$mirror" > "$root.log" 2>&1 || { tail "$root.log"; return 1; }
	for deb in "$root"/var/cache/apt/archives/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
}

BUILD_WITH=(--kits archive)

@test "units by the image's own gcc, the rest here: the wheel asks for no newer libc than it names" {
	# strtol of these headers is __isoc23_strtol, which glibc has had since 2.38.
	sed -i '1i #include <cstdlib>\n#include <iostream>\nextern "C" long parse(const char *text) { return std::cout << text, std::strtol(text, nullptr, 10); }' \
		recipes/tiny/src/module.cpp
	build --executor remote
	[ "$status" -eq 0 ]
	[[ "$stderr" == *" 2 on the farm"* ]]
	[[ "$(echo dist/*)" == *manylinux_2_28* ]]
	unzip -q -d wheel dist/*.whl
	readelf --dyn-syms -W wheel/tiny/_C*.so > symbols
	not grep -E 'GLIBC_2\.(29|3[0-9]|4[0-9])' symbols
	not grep -E 'UND .*isoc23' symbols
	python3 - wheel/*.dist-info <<- 'END'
		import json, pathlib, sys
		facts = next(json.loads(p.read_text()) for p in pathlib.Path(sys.argv[1]).rglob("wheelsmith.json"))
		assert facts["compiler"]["version"].startswith("14."), facts["compiler"]
		assert not facts["linker"]["version"].startswith("14."), facts["linker"]
	END
	rm -rf dist
	build --executor remote
	[ "$status" -eq 0 ]
	nothing_ran
}

@test "for this host's own glibc such objects are refused, before anything is sent" {
	python3 - <<- END
		import json
		matrix = json.load(open("m.json"))
		matrix["glibc"] = "host"
		json.dump(matrix, open("m.json", "w"))
	END
	build --executor remote
	[ "$status" -eq 3 ]
	[[ "$stderr" == *"the workers compile against glibc 2.4"* ]]
}

@test "They do not replace this host" {
	build --executor remote,local
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"from that of this host: the rest is built here"* ]]
	[[ "$stderr" != *"on the farm"* ]]
}
