#!/usr/bin/env bats
# Disks that are full or read-only: who gets which message, what is left, and that the next run goes on.
# timeout: 300

load building

setup_file() {
	make_base
	export BASE
	WWW=$BATS_FILE_TMPDIR/www
	mkdir -p "$WWW/files"
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
	tar czf "$WWW/files/tiny-1.0.tar.gz" -C recipes/tiny --transform 's/^src/tiny-1.0/' src
	local sum
	sum=$(sha256sum < "$WWW/files/tiny-1.0.tar.gz" | cut -d' ' -f1)
	recipe "r['source'] = [{'sdist': 'tiny-1.0.tar.gz', 'sha256': '$sum'}]"
	export WHEELSMITH_INDEX=http://127.0.0.1:$PORT/simple
}

# The failure of a run, in a word.
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
	*"cannot write '$WHEELSMITH_STORE/cas/"*) echo result ;;
	*) echo other ;;
	esac
}

# Full: the message says where and what to do; and nothing half-written is seen.
is_told() {
	[ "$status" -eq 5 ]
	[ -z "$output" ]
	[[ "$stderr" == *"'$WHEELSMITH_STORE/"*"No space left on device"* ||
		"$stderr" == *" MiB are free where it ran, '$WHEELSMITH_STORE/"* ]]
	[[ "$stderr" == *"       free some space there, or "*"--store DIR"* ]]
	dist_is_whole
	nobody_works_below "$WHEELSMITH_STORE"
}

@test "a full store is reported in every phase of a build, and the next run with more room continues" {
	small_disk store $((10 + $(du -sm "$BASE/store" | cut -f 1)))m
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
	# The failing tool depends on the size of the outputs.
	for each in ledger download unpack result; do
		[[ "$seen" == *"$each "* ]]
	done
	[[ "$seen" =~ (compile|link|check|pack|delivery) ]]
}

# A linker after which only so many KiB are free, as the file "free" says.
linker_fills_disk() { # FOLDER
	mkdir bin
	cat > bin/g++-12 <<- END
		#!/bin/bash
		/usr/bin/g++-12 "\$@" || exit
		case " \$* " in *" -shared "*)
			left=\$((\$(df --output=avail '$PWD/$1' | tail -n 1) - \$(cat '$PWD/free')))
			head -c \$((left * 1024)) /dev/zero > '$PWD/$1/filler'
		esac
	END
	chmod +x bin/g++-12
	export PATH=$PWD/bin:$PATH
}

@test "a disk that is full while the check runs is not a verdict" {
	small_disk store $((10 + $(du -sm "$BASE/store" | cut -f 1)))m
	from_base
	only_host
	linker_fills_disk store
	local free seen=
	for free in 16 32 48 64 96 128 4000; do
		rm -f store/filler
		grep -rlE "^out .* module.so\$" store/ac | xargs -r rm
		echo $free > free
		build
		[ "$status" -ne 0 ] || break
		[ "$status" -eq 5 ]
		[[ "$stderr" == *"'$WHEELSMITH_STORE/"* ]]
		[[ "$stderr" != *"would not load"* ]]
		[[ "$stderr" != *"wheelsmith exited with 5"* ]] || seen+="$free "
	done
	[ "$status" -eq 0 ]
	[ -n "$seen" ]
}

@test "a full output folder is reported, nothing half-written is in it, and the next run only delivers" {
	from_base
	only_host
	head -c 192K /dev/urandom | base64 | sed 's/^/# /' > recipes/tiny/src/tiny/noise.py
	small_disk dist 64k
	build -5
	[ -z "$output" ]
	[[ "$stderr" == *"error: cannot write 'dist/tiny-1.0"*".whl': No space left on device"* ]]
	[[ "$stderr" == *"free some space there, or use another folder: --store DIR, -o DIR"* ]]
	[ -z "$(find dist -type f ! -name '*.log')" ]
	mount -o remount,size=8m dist
	build -0
	[ "$(built .actions.ran)" -eq 0 ]
	dist_is_whole
	# The wheel fits, to the page, and its records do not.
	local pages=$((($(stat -c %s "$output") + 4095) / 4096))
	rm -r dist/*
	fill_disk dist $((pages * 4))
	mv dist/filler dist/.filler
	build -5
	[[ "$stderr" == *"error: cannot write 'dist/"*"': No space left on device"* ]]
	dist_is_whole
	rm dist/.filler
	build -0
	[ "$(ls dist | grep -c -e whl -e build.json -e requirements.txt)" -eq 3 ]
}

# Conditions after a run that started no action.
nothing_was_done() {
	[ "$status" -eq 5 ]
	[ -z "$output" ]
	[ ! -e compiled ]
	[ -z "$(ls "$WHEELSMITH_STORE/work")" ]
}

@test "an output folder that cannot be written is found before anything is compiled" {
	from_base
	only_host
	mkdir bin
	printf '#!/bin/sh\ntouch %s/compiled\nexec /usr/bin/g++-12 "$@"\n' "$PWD" > bin/g++-12
	chmod +x bin/g++-12
	export PATH=$PWD/bin:$PATH
	small_disk out 1m
	mount -o remount,ro out
	build -o out
	nothing_was_done
	[ "$stderr" = "1 cell: 1 to build, 0 cached, 0 excluded
error: cannot write into the output folder 'out': Read-only file system
       that file system is read-only; use another folder: --store DIR, -o DIR" ]
	build -o out/new/folder
	nothing_was_done
	[[ "$stderr" == *"error: the output folder: cannot make the folder 'out/new': Read-only file system"* ]]
	touch file
	build -o file
	nothing_was_done
	[[ "$stderr" == *"error: the output folder: 'file' exists and is not a folder"* ]]
	# Without the capability even root must obey the mode of a folder.
	mkdir -m 555 closed
	run --separate-stderr setpriv --bounding-set -dac_override,-dac_read_search \
		"$WHEELSMITH" build --matrix m.json -o closed
	nothing_was_done
	[[ "$stderr" == *"error: cannot write into the output folder 'closed': Permission denied
       choose another folder: -o DIR" ]]
	build -0
	[ -e compiled ]
}

@test "a store that cannot be written is reported, and a lock that cannot is kept in the store" {
	small_disk readonly 1m
	mount -o remount,ro readonly
	from_base
	only_host
	build -5 --store readonly/store
	[ "$stderr" = "error: opening the store: cannot make the folder 'readonly/store': Read-only file system
       that file system is read-only; use another folder: --store DIR, -o DIR" ]
	# A matrix in a folder that cannot be written.
	mount -o remount,rw readonly
	cp -r recipes m.json readonly
	cp m.lock.json readonly
	mount -o remount,ro readonly
	ws -0 build --matrix readonly/m.json -o dist
	[[ "$stderr" == *"warning: 'readonly/m.lock.json' cannot be written; what it lacks is kept in '$WHEELSMITH_STORE/locks/"* ]]
	dist_is_whole
}

@test "pins that a read-only lock lacks are read back from the store" {
	from_base
	only_host
	small_disk readonly 1m
	cp -r recipes m.json readonly
	jq 'del(.sources)' m.lock.json > readonly/m.lock.json
	mount -o remount,ro readonly
	ws -3 build --matrix readonly/m.json -o dist --offline --locked
	ws -0 build --matrix readonly/m.json -o dist --offline
	[[ "$stderr" == *"warning: 'readonly/m.lock.json' cannot be written; what it lacks is kept in '"* ]]
	ws -0 build --matrix readonly/m.json -o dist --offline --locked
	[[ "$stderr" != *warning* ]]
	# The pins of the matrix's own lock go before those in the store, and are not written anywhere else.
	mount -o remount,rw readonly
	jq '.sources = [{package: "tiny", version: "1.0", how: "folder", from: "src", tree: (64 * "a")}]' \
		readonly/m.lock.json > new
	cp new readonly/m.lock.json
	ws -3 build --matrix readonly/m.json -o dist --offline --locked
	[[ "$stderr" == *"the sources of tiny 1.0: not what the lock pins"*"locked: aaaaaaaa"* ]]
	cmp new readonly/m.lock.json
}
