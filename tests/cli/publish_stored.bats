#!/usr/bin/env bats
# publish --to s3://... where answers are lost and where somebody is faster. publish_stored_real.bats has the rest.
# timeout: 300

load publishing

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	unset AWS_REGION AWS_DEFAULT_REGION AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3
	export AWS_ACCESS_KEY_ID=alice AWS_SECRET_ACCESS_KEY=sesame
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.*"
}

teardown() {
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" 2> /dev/null || true
}

bucket() { # [FAULT...]
	# shellcheck disable=SC2034 # COPROC is read
	coproc python3 "$WS_ROOT/tests/support/bucket_server.py" store "$@"
	local word port
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	export AWS_ENDPOINT_URL=http://127.0.0.1:$port
}

publish() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "-$status" "$WHEELSMITH" publish "$@" --to s3://bucket/team
	echo "$output"
}

place() { # KEY
	local name=${1//\//%2F}
	echo "store/%2Fbucket%2Fteam%2F${name//+/%2B}"
}

object() { # KEY
	cat "$(place "$1")"
}

@test "the answer to the last request of a large upload is lost: the object is there" {
	wheels big "big 1.0 py3-none-any size=40000000"
	bucket lost
	publish 0 big
	cat store.log
	[ "$(grep -c '^POST .*/files/big-1.0-py3-none-any.whl 404' store.log)" -eq 1 ]
	object files/big-1.0-py3-none-any.whl | cmp - big/*.whl
	object index.json | jq -e '.wheels | length == 1'
}

@test "a large upload that the server forgot fails, also where another object has the name" {
	wheels big "big 1.0 py3-none-any size=40000000"
	bucket unfinished
	publish 8 big
	[[ $output == *"cannot upload 'files/big-1.0-py3-none-any.whl'"* ]]
}

@test "a file that is there with other bytes stays, small or large, and its publisher is refused" {
	local bytes=40000000
	wheels big "big 1.0 py3-none-any size=$bytes"
	bucket
	publish 0 w
	local wheel
	wheel=$(basename w/*.whl)
	# A file with the same name that is not in the index.
	rm store/%2F*
	echo 'of somebody else' > "$(place "files/$wheel")"
	publish 8 w
	[[ $output == *"'files/$wheel' is in the store with other bytes"*"publish again"* ]]
	[ "$(object "files/$wheel")" = 'of somebody else' ]
	[ "$(find store -name '%2F*' | wc -l)" -le 2 ] # and its metadata
	head -c $bytes /dev/zero > store/%2Fbucket%2Fteam%2Ffiles%2Fbig-1.0-py3-none-any.whl
	publish 8 big
	[[ $output == *"'files/big-1.0-py3-none-any.whl' is in the store with other bytes"* ]]
	object files/big-1.0-py3-none-any.whl | cmp - <(head -c $bytes /dev/zero)
	# A wheel that is present is not sent again.
	rm store/%2F*
	cp big/*.whl store/%2Fbucket%2Fteam%2Ffiles%2Fbig-1.0-py3-none-any.whl
	: > store.log
	publish 0 big
	not_sent files/big-1.0-py3-none-any.whl
}

not_sent() { # KEY
	! grep -E "^(PUT|POST) .*/$1 " store.log
}

@test "two publishers of other bytes under one name: the index and the store have those of the first" {
	bucket pages="$PWD/go"
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! i wheel
	wheel=$(basename w/*.whl)
	for ((i = 0; i < 200; i++)); do
		! grep -q 'waiting' store.log 2> /dev/null || break
		sleep 0.1
	done
	wheels v "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.* size=1000"
	not_same w/"$wheel" v/"$wheel"
	publish 8 v
	[[ $output == *"'files/$wheel"*"' is in the store with other bytes"* ]]
	touch go
	wait "$first"
	object "files/$wheel" | cmp - w/"$wheel"
	object index.json | jq -e --arg sum "$(sha256sum < w/"$wheel" | cut -d' ' -f1)" '.wheels | map(.sha256) == [$sum]'
}

not_same() { # FILE FILE
	! cmp -s "$1" "$2"
}

# Waits until FILE has a line like WORDS.
await() { # FILE WORDS
	local i
	for ((i = 0; i < 200; i++)); do
		! grep -q "$2" "$1" 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

locks() {
	find store -name '*%2F.publishing*'
}

@test "a publisher that starts while another one writes pages waits, and then both are in the index" {
	bucket pages="$PWD/go"
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! second
	await store.log waiting
	wheels v "pure 1.0 py3-none-any"
	"$WHEELSMITH" publish v --to s3://bucket/team > second.log 2>&1 3>&- &
	second=$!
	await second.log waiting
	touch go
	wait "$first"
	wait "$second"
	[ "$(grep -cx "waiting for another publisher of 's3://bucket/team'" second.log)" -eq 1 ]
	object index.json | jq -e '.wheels | length == 2'
	[ "$(object index.json | jq -r .snapshot)" = "$(object manifest.json | jq -r .snapshot)" ]
	[ -z "$(locks)" ]
}

@test "a slow publisher is waited for as long as it is alive" {
	bucket slow=2
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$!
	await store.log '^PUT .*/simple/'
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	[[ $output == *"waiting for another publisher"* ]]
	wait "$first"
	# It took longer than one that is silent is waited for, and the other put no page meanwhile.
	[ "$(grep -n '/team/manifest.json 200' store.log | grep PUT | head -1 | cut -d: -f1)" -lt \
		"$(grep -n '^PUT .*/simple/pure' store.log | head -1 | cut -d: -f1)" ]
	object index.json | jq -e '.wheels | length == 2'
}

@test "several publishers at the same moment, again and again: all get into the index" {
	bucket
	local round name pids pid
	for round in 1 2; do
		pids=()
		for name in a b c; do
			wheels "$name$round" "$name 1.$round py3-none-any"
			"$WHEELSMITH" publish "$name$round" --to s3://bucket/team > "$name.log" 2>&1 3>&- &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid"
		done
		object index.json | jq -e ".wheels | length == 3 * $round"
	done
	[ -z "$(locks)" ]
}

@test "of several that wait for one that died, one puts all pages, and the others come after it" {
	bucket
	publish 0 w
	echo 'of one that died' > "$(place .publishing)"
	echo 'of one that died' > "$(place all/simple/demo/index.html)"
	local name pids=() pid
	for name in a b c; do
		wheels "$name" "$name 1.0 py3-none-any"
		"$WHEELSMITH" publish "$name" --to s3://bucket/team > "$name.log" 2>&1 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	cat ./*.log
	object index.json | jq -e '.wheels | length == 4'
	object all/simple/demo/index.html | grep -q demo-1.0
	[ -z "$(locks)" ]
	[ "$(object manifest.json | jq -r .snapshot | cut -d. -f2)" -eq 4 ]
}

@test "a publisher that gave up among the pages is not waited for" {
	bucket
	publish 0 w
	echo 'interrupted of one that gave up' > "$(place .publishing)"
	echo 'of one that gave up' > "$(place all/simple/index.html)"
	publish 0 w
	object all/simple/index.html | grep -q demo
	[ -z "$(locks)" ]
	publish 0 w
	[[ $output == *"nothing to do"* ]]
}

@test "a publisher that lost its lock does not overwrite a newer manifest, and reports it" {
	bucket pages="$PWD/go"
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! ended=0
	await store.log waiting
	echo 'of somebody else' > "$(place .publishing)"
	echo '{"snapshot": "of somebody else"}' > "$(place manifest.json)"
	sleep 3 # until it renews its lock
	touch go
	wait "$first" || ended=$?
	cat first.log
	[ "$ended" -eq 8 ]
	grep -q "another publisher changed 's3://bucket/team' meanwhile" first.log
	[ "$(object manifest.json)" = '{"snapshot": "of somebody else"}' ]
	[ ! -e "$(place index.json)" ]
	# The message names the current owner of the lock, too.
	grep -q interrupted "$(place .publishing)"
}

@test "a manifest that somebody put without the lock is not written over" {
	echo '{"snapshot": "of somebody else"}' > other
	bucket over=/team/index.json="$PWD/other=/bucket/team/manifest.json"
	publish 8 w
	[[ $output == *"another publisher changed 's3://bucket/team' meanwhile"*"publish again"* ]]
	[ "$(object manifest.json)" = '{"snapshot": "of somebody else"}' ]
	grep -q interrupted "$(place .publishing)"
}

@test "an answer that is lost, another put that is under way, an ETag without quotes: the index is there" {
	local fault keys=(/.publishing /manifest.json .whl)
	for fault in lost-put busy; do
		for key in "${keys[@]}"; do
			rm -f store/%2F*
			bucket $fault=$key
			publish 0 w
			grep -q ' 4[01][29]$' store.log
			object index.json | jq -e '.wheels | length == 1'
			[ -z "$(locks)" ]
			kill "$COPROC_PID"
			wait "$COPROC_PID" || true
		done
	done
	bucket quotes
	publish 0 w
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	object index.json | jq -e '.wheels | length == 2'
}

@test "an answer that is lost, and the object cannot be read: that is said, and no other publisher is named" {
	bucket lost-put=.whl unreadable
	publish 8 w
	[[ $output != *"another publisher"* && $output == *"the server answered: "*accessdenied* ]]
}

@test "a store without conditional requests, or that does not heed them, is refused before a wheel is sent" {
	local fault
	for fault in refuses ignores; do
		rm -rf store store.log
		bucket $fault
		publish 8 w
		[[ ${lines[0]} == "error: the store of 's3://bucket/team' has no conditional requests"* ]]
		[[ $output == *"wheelsmith publish DIR... --to FOLDER"*"aws s3 sync FOLDER s3://bucket/team --exclude"* ]]
		[ -z "$(find store -name '%2F*')" ]
		kill "$COPROC_PID"
		wait "$COPROC_PID" || true
	done
}

@test "damaged files at the top are put again" {
	bucket
	publish 0 w
	echo '{}' > "$(place index.json)"
	publish 0 w
	object index.json | jq -e '.wheels | length == 1'
	publish 0 w
	[[ $output == *"nothing to do"* ]]
}

@test "an index whose signature somebody removed from the store is not signed again" {
	run -0 "$WHEELSMITH" publish --new-key key
	bucket
	publish 0 w --key key
	rm store/*manifest.json.sig
	wheels v "pure 1.0 py3-none-any"
	publish 8 v --key key
	[[ $output == *"is not signed: it never was, or somebody removed its signature"*--sign-unsigned* ]]
	[ ! -e "$(place manifest.json.sig)" ]
	publish 0 v --key key --sign-unsigned
	object manifest.json > m
	object manifest.json.sig > m.sig
	openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in m -sigfile m.sig
	# The snapshot has it still: only the one at the top goes, and comes back.
	rm "$(place manifest.json.sig)"
	wheels x "more 1.0 py3-none-any"
	publish 0 x --key key
	[ -e "$(place manifest.json.sig)" ]
}

@test "a clock that is behind the last snapshot's: the next one comes after it" {
	command -v faketime > /dev/null || cannot_run "needs faketime (./dev setup)"
	bucket
	publish 0 w
	local before
	before=$(object manifest.json | jq -r .snapshot)
	wheels v "pure 1.0 py3-none-any"
	run -0 faketime '2 days ago' "$WHEELSMITH" publish v --to s3://bucket/team
	[ "$(object manifest.json | jq -r .snapshot)" = "${before%.1}.2" ]
}

@test "whatever a manifest lists, only pages that are not there any more are removed" {
	bucket
	publish 0 w
	local wheel snapshot key
	wheel=files/$(basename w/*.whl)
	snapshot=@$(object manifest.json | jq -r .snapshot)
	echo 'of an old snapshot' > "$(place old/simple/demo/index.html)"
	echo 'of an old snapshot' > "$(place old/simple/demo/)"
	object manifest.json | jq '.files += [$ARGS.positional[] | {path: ., sha256: ("0" * 64), size: 1}]' --args \
		old/simple/demo/index.html "$wheel" "$wheel.metadata" "$snapshot/index.json" .publishing manifest.json > listed
	cp listed "$(place manifest.json)"
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	for key in old/simple/demo/index.html old/simple/demo/; do
		[ ! -e "$(place $key)" ]
	done
	object "$wheel" | cmp - w/*.whl
	grep '^DELETE ' store.log
	[ "$(grep -Ec '^DELETE .*/team/(files/|@|manifest)' store.log)" -eq 0 ]
	object manifest.json | jq -e .snapshot
}

@test "an address that leads to another bucket, or has a login, is refused" {
	bucket
	local to
	for to in s3://bucket/../../x s3://../x s3://bucket/./x s3://bucket/a/.. s3://. s3:///x s3://bucket/te@m s3://bucket//x 's3://bucket/x?y'; do
		run -2 "$WHEELSMITH" publish w --to "$to"
		[[ $output == "error: --to '$to' is not s3://BUCKET/PREFIX" || $to == *\?* ]] || { echo "$to: $output"; return 1; }
	done
	for to in s3://u:sekret@bucket/team s3://u:sek/ret@bucket/team; do
		run -2 "$WHEELSMITH" publish w --to "$to"
		[[ ${lines[0]} == *"could read a login in the URL"* && $output == *AWS_SECRET_ACCESS_KEY* && $output != *sek* ]]
	done
	[ ! -e store.log ]
	run -0 "$WHEELSMITH" publish w --to s3://bucket/team/
	object index.json | jq -e '.wheels | length == 1'
}

@test "a line break in a credential does not become a header" {
	bucket
	local name
	for name in AWS_SESSION_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AWS_DEFAULT_REGION; do
		run -3 env "$name"=$'sekret\nX-Evil: 1' "$WHEELSMITH" publish w --to s3://bucket/team
		[[ $output == "error: $name has a control character, perhaps a line break" ]] || { echo "$output"; return 1; }
	done
	printf 'ali\rce\nsesame\n' > login
	publish 3 w --login login
	[[ $output == "error: 'login' has a control character, perhaps a line break" ]]
	[ ! -e store.log ]
}
