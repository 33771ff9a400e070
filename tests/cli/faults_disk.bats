#!/usr/bin/env bats
# Disks that are full or read-only: who is told, what is left, and that the next run goes on.
# timeout: 300

load building

setup_file() {
	make_base
	export BASE
	WWW=$BATS_FILE_TMPDIR/www
	mkdir -p "$WWW"
	serve "$WWW"
	export WWW PORT
}

teardown_file() {
	unserve
}

setup() {
	DISKS=()
	own_home
	cd "$BATS_TEST_TMPDIR"
	export WHEELSMITH_INDEX=http://127.0.0.1:9/simple
}

teardown() {
	leave_disks
}

# The tiny package, with a quarter of a megabyte that cannot be pressed and as an archive to download.
archive() {
	only_host
	head -c 192K /dev/urandom | base64 | sed 's/^/# /' > recipes/tiny/src/tiny/noise.py
	tar czf "$WWW/tiny.tar.gz" -C recipes/tiny --transform 's/^src/tiny-1.0/' src
	local sum
	sum=$(sha256sum < "$WWW/tiny.tar.gz" | cut -d' ' -f1)
	recipe "r['source'] = [{'archive': 'http://127.0.0.1:$PORT/tiny.tar.gz', 'sha256': '$sum'}]"
}

# What a run met, in a word.
phase() {
	case $stderr in
	*"error: the ledger"*) echo ledger ;;
	*"cannot write '$WHEELSMITH_STORE/partial/"*.part\'*) echo download ;;
	*"cannot write '$WHEELSMITH_STORE/partial/src-tiny-"*) echo unpack ;;
	*"] pack "*) echo delivery ;;
	*"] check "*) echo pack ;;
	*"] link "*) echo check ;;
	*"] compile module.cpp "*MiB$'\n'*) echo link ;;
	*"] compile "*) echo compile ;;
	*) echo other ;;
	esac
}

# Full: who is told where, and what to do; and nothing half-written is seen.
is_told() {
	[ "$status" -eq 5 ]
	[ -z "$output" ]
	[[ "$stderr" == *"'$WHEELSMITH_STORE/"*"No space left on device"* ||
		"$stderr" == *" MiB are free where it ran, '$WHEELSMITH_STORE/"* ]]
	[[ "$stderr" == *"       free some space there, or "*"--store DIR"* ]]
	dist_is_whole
	nobody_works_below "$WHEELSMITH_STORE"
}

@test "a full store is told in every phase of a build, and the next run with more room goes on" {
	small_disk store 16m
	from_base
	archive
	local free seen=
	for ((free = 0; free < 4000; free += 64)); do
		fill_disk store $free
		build
		[ "$status" -ne 0 ] || break
		echo "== $free $(phase)"
		is_told
		seen+="$(phase) "
	done
	[ "$status" -eq 0 ]
	dist_is_whole
	for each in ledger download unpack compile link pack; do
		[[ "$seen" == *"$each "* ]]
	done
}
