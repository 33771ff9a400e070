#!/usr/bin/env bats
# The choice on hosts that are newer than this one: Debian releases unpacked beside it, with real
# headers of CUDA. Only unpacked, not configured: compilers need no more.
# labels: network real
# timeout: 900

load helpers

setup_file() {
	[ "$(id -u)" -eq 0 ] || cannot_run "needs chroot"
	cd "$BATS_FILE_TMPDIR"
	apt-get download debootstrap
	dpkg-deb -x debootstrap_*.deb .
	member() { python3 "$WS_ROOT/tests/support/wheel_member.py" nvidia-cuda-nvcc-cu12 "$1" crt/host_config.h; }
	member 12.4.131 > 12.4.h
	member 12.8.93 > 12.8.h
}

# The mirror of this host's own Debian.
mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$'
}

# Unpacks release $1 with packages $2, and our driver with what it is linked to.
unpack() {
	local root=$BATS_FILE_TMPDIR/$1 driver=$WS_BINARY_DIR/tests/hostcc_driver scripts deb
	scripts=$BATS_FILE_TMPDIR/usr/share/debootstrap/scripts
	[ -e "$scripts/$1" ] || ln -s sid "$scripts/$1"
	DEBOOTSTRAP_DIR=$BATS_FILE_TMPDIR/usr/share/debootstrap \
		"$BATS_FILE_TMPDIR/usr/sbin/debootstrap" --variant=minbase --foreign --include="$2" \
		"$1" "$root" "$(mirror)" > "$root.log" 2>&1 || { tail "$root.log"; return 1; }
	for deb in "$root"/var/cache/apt/archives/*.deb; do
		case ${deb##*/} in
		apt* | g++* | gcc* | cpp* | binutils* | lib*) dpkg-deb -x "$deb" "$root" ;;
		esac
	done
	[ ! -h "$root/proc" ] || { rm "$root/proc" && mkdir "$root/proc"; } # debootstrap in a container
	mkdir "$root/driver"
	cp "$driver" $(ldd "$driver" | grep -o '/[^ ]*') "$BATS_FILE_TMPDIR"/*.h "$root/driver"
}

# Runs our driver in release $1, with a /proc of its own (sanitizers read their options there).
inside() {
	local root=$BATS_FILE_TMPDIR/$1
	shift
	unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
		/usr/bin/env -i PATH=/usr/bin:/bin ASAN_OPTIONS=detect_leaks=0 \
		/driver/ld-linux-x86-64.so.2 --library-path /driver /driver/hostcc_driver "$@"
}

@test "beside a default g++-14, CUDA 12.4 gets g++-13" {
	unpack trixie g++,g++-13
	[ "$(chroot "$BATS_FILE_TMPDIR/trixie" g++ -dumpversion)" = 14 ]
	run inside trixie list
	[[ "$output" == *"gcc 14."*"/usr/bin/g++-14"*"gcc 13."*"/usr/bin/g++-13" ]]
	run inside trixie choose /driver/12.4.h 12.4
	[ "$output" = /usr/bin/g++-13 ]
	run inside trixie choose /driver/12.8.h 12.8
	[ "$output" = /usr/bin/g++-14 ]
	run -0 inside trixie open /store
	[[ "$output" == *"/usr/include/c++/13"* ]]
}

@test "an unfit compiler is refused, with the package of a fit one" {
	[ -d "$BATS_FILE_TMPDIR/trixie" ] || unpack trixie g++,g++-13
	sed 's/__GNUC__ > 13/__GNUC__ > 12/' "$BATS_FILE_TMPDIR/12.4.h" > "$BATS_FILE_TMPDIR/trixie/driver/12.h"
	run -5 inside trixie choose /driver/12.h 12.1
	[[ "$output" == *"it takes gcc up to 12, this host has gcc 13 and 14"* ]]
	[[ "$output" == *"apt-get install g++-12"* ]]
}

@test "beside a default g++-15, CUDA 12.8 gets g++-14" {
	unpack forky g++-14,g++-15
	ln -s g++-15 "$BATS_FILE_TMPDIR/forky/usr/bin/g++"
	[ "$(chroot "$BATS_FILE_TMPDIR/forky" g++ -dumpversion)" = 15 ]
	run inside forky choose /driver/12.8.h 12.8
	[ "$output" = /usr/bin/g++-14 ]
	run -5 inside forky choose /driver/12.4.h 12.4
	[[ "$output" == *"this host has gcc 14 and 15"* ]]
}
