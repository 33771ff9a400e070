#!/usr/bin/env bats
# Downloads that go wrong, with a real server that does it on purpose: what is said, what is left, and
# that the next run goes on.
# timeout: 300

load building

setup_file() {
	make_base
	export BASE
	# A file server for all of them: torch's wheels, and the sources of a package without modules.
	WWW=$BATS_FILE_TMPDIR/www
	mkdir -p "$WWW/x/files" "$BATS_FILE_TMPDIR/pure-1.0/pure"
	cp "$BASE"/www/x/files/*.whl "$WWW/x/files"
	cd "$BATS_FILE_TMPDIR"
	echo 'answer = 42' > pure-1.0/pure/__init__.py
	head -c 300000 /dev/urandom | base64 | sed 's/^/# /' > pure-1.0/pure/noise.py
	tar czf "$WWW/x/files/pure-1.0.tar.gz" pure-1.0
	SUM=$(sha256sum "$WWW/x/files/pure-1.0.tar.gz" | cut -d' ' -f1)
	serve "$WWW"
	export WWW SUM PORT INDEX ASKED
	stall > /dev/null 2>&1 3>&- 8>&- &
	echo $! > stall.pid
}

teardown_file() {
	wait "$(cat "$BATS_FILE_TMPDIR/stall.pid")" 2> /dev/null || true
	unserve
}

# Half a minute of silence; it is waited for at the end.
stall() {
	mkdir "$BATS_FILE_TMPDIR/stall"
	cd "$BATS_FILE_TMPDIR/stall"
	pure "stall=1000:1"
	"$WHEELSMITH" build --matrix m.json --store store > out 2> err
	echo $? > status
}

setup() {
	own_home
	unset WHEELSMITH_INDEX
	cd "$BATS_TEST_TMPDIR"
}

# ./m.json for the package without modules, whose sources come with faults.
pure() { # FAULTS
	mkdir -p recipes/pure
	cat > recipes/pure/1.0.json <<- END
		{"name": "pure", "version": "1.0", "python": {"packages": ["pure"]},
		 "source": [{"sdist": "pure-1.0.tar.gz", "sha256": "$SUM"}]}
	END
	export WHEELSMITH_INDEX=http://127.0.0.1:$PORT/~file,$1/x/simple
	matrix m.json '"packages": ["pure==1.0"]'
}

# ./m.json for the tiny package, and a store that has everything but torch.
without_torch() {
	WHEELSMITH_INDEX=
	from_base
	only_host
	jq 'del(.torch)' m.lock.json > without.json
	mv without.json m.lock.json
	rm -rf "$WHEELSMITH_STORE"/trees/torch-* "$WHEELSMITH_STORE/ac"
}

# No wheel was delivered, and build.json gives the reason.
nothing_came() { # EXIT CODE
	[ "$status" -eq "$1" ]
	[ -z "$output" ]
	[ "$(ls dist)" = build.json ]
	[ "$(built '.cells[0].decision')" = failed ]
	[[ "$stderr" == *"$(built '.cells[0].reason')"* ]]
}

@test "a server that breaks off, fails for good or is not there is given up, and says so" {
	# Each takes 7.5 s of pauses between five attempts: at once.
	for fault in cut=1000 status=500; do
		mkdir "$fault"
		(cd "$fault" && pure "$fault" && "$WHEELSMITH" build --matrix m.json --store store > out 2> err) 3>&- 8>&- &
	done
	without_torch
	build --index http://127.0.0.1:9/simple
	nothing_came 4
	[[ "$stderr" == *"torch $TORCH: looking for 'torch' on an index: cannot fetch 'http://127.0.0.1:9/simple/torch/': '127.0.0.1' cannot be reached"* ]]
	[[ "$stderr" == *"is there a network? behind a proxy, set https_proxy"* ]]
	wait
	grep -q "^error: .*cannot fetch 'pure-1.0.tar.gz': '127.0.0.1' did not finish the transfer" cut=1000/err
	grep -q "^error: .*cannot fetch 'pure-1.0.tar.gz': '127.0.0.1' failed (500)" status=500/err
	for fault in cut=1000 status=500; do
		grep -q 'trying again in 4 s' $fault/err
		grep -q 'it was tried 5 times' $fault/err
		grep -q 'run this again later, or from another server' $fault/err
		grep -q 'name an index or a mirror: --index URL' $fault/err
		[ "$(ls $fault/dist)" = build.json ]
	done
	# The received bytes are kept, and the next run requests only the rest.
	cd cut=1000
	pure norange,range=none
	pure ok
	kept=$(stat -c %s store/partial/*.part)
	ws -0 build --matrix m.json --store store
	[ "$kept" -eq 5000 ]
	grep '~file,ok' "$ASKED" | tail -n 1 | grep -q "\"range\": \"bytes=$kept-\".*\"status\": 206"
	dist_is_whole
}

@test "a server that answers 200 to a range, or breaks off once, does not fail a build" {
	pure cut=1000:1,norange
	build -0
	dist_is_whole
	without_torch
	build -0 --index "http://127.0.0.1:$PORT/~norange/x/simple"
	[[ "$stderr" == *"warning: the server of 'torch-$TORCH-"*"' does not support range requests: the whole file is downloaded (2.3 MB)"* ]]
}

@test "ranges that are not what was asked for are noticed" {
	for fault in start total short star; do
		without_torch
		ws -0 fetch --matrix m.json --index "http://127.0.0.1:$PORT/~range=$fault/x/simple"
		[[ "$stderr" == *"does not support range requests: the whole file is downloaded"* ]]
		[ "$(jq -r '.torch[0].tree' m.lock.json)" = "$(jq -r '.torch[0].tree' "$BASE/m.lock.json")" ]
	done
}

@test "403 and 404 of a file and of an index name a possible cause" {
	pure status=403
	build
	nothing_came 4
	[[ "$stderr" == *"cannot fetch 'pure-1.0.tar.gz': '127.0.0.1' denies access (403)"* ]]
	[[ "$stderr" == *"a login that may read it is missing, or it is not there"* ]]
	pure status=404
	build
	nothing_came 4
	[[ "$stderr" == *"'127.0.0.1' does not have it (404)"* ]]
	without_torch
	build --index "http://127.0.0.1:$PORT/~status=403/x/simple"
	nothing_came 3
	[[ "$stderr" == *"torch $TORCH: no index has a package 'torch'"* ]]
	[[ "$stderr" == *"asked: http://127.0.0.1:$PORT/~status=403/x/simple (403: it is not there, or a login that may read it is missing)"* ]]
	build --index "http://me:guess@127.0.0.1:$PORT/~auth=me:secret/x/simple"
	nothing_came 4
	[[ "$stderr" == *"'127.0.0.1' refuses this login (401)"* ]]
	[[ "$stderr" != *guess* ]]
	not grep -rq guess dist m.lock.json "$WHEELSMITH_STORE"/partial
}

@test "a wrong digest is reported with both digests, and nothing of the file is used" {
	pure wrong
	build
	nothing_came 4
	[[ "$stderr" == *"is not what was pinned: expected sha256 $SUM, got "* ]]
	[[ "$stderr" == *"was not used"* || "$stderr" == *"nothing of it was used"* ]]
	[ -z "$(ls "$WHEELSMITH_STORE/partial" "$WHEELSMITH_STORE/trees" | grep -v : )" ]
	# An overloaded server, then the right file: as if nothing had been.
	pure status=503:1
	build -0
	dist_is_whole
}

@test "a file that changes on the server between two ranges is not patched together" {
	without_torch
	build --index "http://127.0.0.1:$PORT/~etag=once/x/simple"
	nothing_came 4
	[[ "$stderr" == *"'torch-$TORCH-"*"' changed on the server while it was read"* ]]
	[[ "$stderr" == *"run again to read the new one"* ]]
	# An archive with a pin: what came before is thrown away, the new one is judged by its digest.
	pure etag=change,noif,cut=200000:1
	build -0
}

@test "a wheel that was damaged, or is another than was locked, is refused" {
	without_torch
	mkdir -p "$BATS_TEST_TMPDIR/www/x/files"
	serve "$BATS_TEST_TMPDIR/www"
	for fault in spoil lie; do
		fake_torch www/x/files "$fault=torch/include/torch/extension.h"
		build --index "$INDEX"
		nothing_came 4
		[[ "$stderr" == *"torch/include/torch/extension.h"* ]]
		[[ "$stderr" == *"file was not used"* || "$stderr" == *"nothing of it was used"* || "$stderr" == *"tampered with or damaged"* ]]
		[ -z "$(find "$WHEELSMITH_STORE"/trees -name 'torch-*')" ]
	done
	cp "$BASE/m.lock.json" .
	fake_torch www/x/files hip=6.0
	build -4 --index "$INDEX"
	[[ "$stderr" == *"no index has the pinned 'torch-$TORCH-"* ]]
	unserve
}

@test "--offline names what is missing, and works after fetch" {
	without_torch
	build --offline --index "http://127.0.0.1:$PORT/x/simple"
	nothing_came 4
	[[ "$stderr" == *"error: 1 download is missing, and this run is offline
       headers and libraries of torch: $TORCH
       fetch first, with a network:  wheelsmith fetch --matrix m.json --index http://127.0.0.1:$PORT/x/simple --store $WHEELSMITH_STORE"* ]]
	pure ok
	matrix m.json '"packages": ["pure==1.0", "tiny==1.0"]'
	build -4 --offline --kits archive
	[ "$(ls dist)" = build.json ]
	[ "$(built '.cells[].decision' | xargs)" = "failed failed" ]
	local count=3 kit="
       CUDA toolkits: 13.0"
	host_toolkit > /dev/null || count=2 kit= # the base has the archive kit
	[ "$stderr" = "2 cells: 2 to build, 0 cached, 0 excluded
error: $count downloads are missing, and this run is offline
       headers and libraries of torch: $TORCH$kit
       sources: pure 1.0
       fetch first, with a network:  wheelsmith fetch --matrix m.json --kits archive --store $WHEELSMITH_STORE" ]
	# cells with all downloads are built on demand.
	mkdir -p recipes/near/src/near
	touch recipes/near/src/near/__init__.py
	echo '{"name": "near", "version": "1.0", "source": [{"folder": "src"}], "python": {"packages": ["near"]}}' \
		> recipes/near/1.0.json
	matrix m.json '"packages": ["pure==1.0", "near==1.0", "tiny==1.0"]'
	build -4 --offline --keep-going
	[ "$(built '.cells[].decision' | sort | xargs)" = "build failed failed" ]
	[[ "$stderr" == *"error: 2 downloads are missing"*"error: 2 of 3 cells failed" ]]
	matrix m.json '"packages": ["pure==1.0", "tiny==1.0"]'
	ws -0 fetch --matrix m.json --index "http://127.0.0.1:$PORT/x/simple"
	[[ "$stderr" == *"2 products can be built from the store '$WHEELSMITH_STORE'"* ]]
	sleep 0.5 # what fetch asked for last is on its way into the log
	: > "$ASKED"
	build -0 --offline
	[ "${#lines[@]}" -eq 2 ]
	cat "$ASKED"
	not grep -v '~stall' "$ASKED" # that is another test's, half a minute later
}

@test "Ctrl-C while something is fetched leaves nothing but what can be resumed" {
	pure slow=20000
	hears_signals "$WHEELSMITH" build --matrix m.json > out 2> err 3>&- 8>&- &
	child=$!
	wait_for 10 test -s "$WHEELSMITH_STORE/partial/$SUM.part"
	kill -INT $child
	status=0
	wait $child || status=$?
	cat err
	[ "$status" -eq 130 ]
	[ "$(tail -n 2 err)" = "error: 'pure' 1.0: interrupted
       finished work is kept: the same command continues from there" ]
	[ "$(ls dist)" = build.json ]
	[ "$(built '.cells[0].decision')" = cancelled ]
	pure ok
	build -0
	grep '~file,ok' "$ASKED" | tail -n 1 | grep -q '"status": 206'
}

# Ctrl-C while `fetch` gives its Nth file a name: that one, and it is the last.
interrupted_at() { # N NAME
	run --separate-stderr env --default-signal=INT strace -o calls -e trace=rename -e signal=none \
		-e "inject=rename:signal=INT:when=$1" "$WHEELSMITH" fetch --matrix m.json
	printf '%s\n' "$stderr" "= $status"
	cat calls
	[ "$status" -eq 130 ]
	[[ "$stderr" == *"error: "*"interrupted"* ]]
	[ "$(grep -c '^rename' calls)" -eq "$1" ]
	grep '^rename' calls | tail -n 1 | grep -q "$2\") = 0"
}

@test "Ctrl-C before an archive is unpacked, or after the last action, ends the run" {
	strace -o /dev/null true || cannot_run "no strace"
	pure ok
	# The number of files that it names depends on pip's configuration.
	local all at
	cp -r . ../whole
	all=$(cd ../whole && strace -o calls -e trace=rename -e signal=none "$WHEELSMITH" fetch --matrix m.json \
		--store whole > /dev/null 2>&1 && grep '^rename' calls)
	at=$(grep -n "/cas/../$SUM" <<< "$all" | cut -d: -f1)
	interrupted_at "$at" "/cas/../$SUM"
	interrupted_at $(($(wc -l <<< "$all") - at)) m.lock.json
	[[ "$stderr" != *"can be built from the store"* ]]
	build -0 --offline --locked
}

@test "a server that falls silent is asked again" {
	wait_for 60 test -e "$BATS_FILE_TMPDIR/stall/status"
	cd "$BATS_FILE_TMPDIR/stall"
	cat err
	[ "$(cat status)" -eq 0 ]
	dist_is_whole
}
