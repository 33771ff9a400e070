#!/usr/bin/env bats
# publish --to s3://... where answers are lost and where somebody is faster. publish_stored_real.bats has the rest.
# timeout: 300

bats_require_minimum_version 1.5.0
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
	local faults bytes=40000000
	wheels big "big 1.0 py3-none-any size=$bytes"
	for faults in "" refuses; do
		rm -f store/%2F* store.log
		# shellcheck disable=SC2086 # none is no argument
		bucket $faults
		publish 0 w
		local wheel
		wheel=$(basename w/*.whl)
		# Of the same name, and not in the index.
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
		# One that is there already is not sent again.
		rm store/%2F*
		cp big/*.whl store/%2Fbucket%2Fteam%2Ffiles%2Fbig-1.0-py3-none-any.whl
		: > store.log
		publish 0 big
		not_sent files/big-1.0-py3-none-any.whl
		kill "$COPROC_PID"
		wait "$COPROC_PID" || true
	done
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

@test "of two publishers who begin together, the second to claim its snapshot gives up before it changes a page" {
	echo '{"snapshot": "of somebody else"}' > other
	bucket first="$PWD/other"
	publish 8 w
	[[ $output == *"another publisher changed the index meanwhile"*"run this again"* ]]
	# Files may be there, pages and the lists at the top are not.
	[ -z "$(find store -name '*simple*')" ]
	[ ! -e store/%2Fbucket%2Fteam%2Findex.json ]
	[ ! -e store/%2Fbucket%2Fteam%2Fmanifest.json ]
}

# Whether the store knows conditional requests or not.
waits_and_is_refused() { # [FAULT]
	bucket pages="$PWD/go" "$@"
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! second i
	for ((i = 0; i < 200; i++)); do
		! grep -q 'waiting' store.log 2> /dev/null || break
		sleep 0.1
	done
	wheels v "pure 1.0 py3-none-any"
	"$WHEELSMITH" publish v --to s3://bucket/team > second.log 2>&1 3>&- &
	second=$!
	for ((i = 0; i < 200; i++)); do
		! grep -q 'waiting' second.log || break
		sleep 0.1
	done
	touch go
	wait "$first"
	local ended=0
	wait "$second" || ended=$?
	cat first.log second.log
	[ "$ended" -eq 8 ]
	grep -qx "waiting for another publisher of 's3://bucket/team'" second.log
	grep -q 'another publisher changed the index meanwhile' second.log
	publish 0 v
	object index.json | jq -e '.wheels | length == 2'
	[ -z "$(find store -name '*%2F.publish*')" ]
}

@test "one that begins while another is among the pages says that it waits for its end, and is refused" {
	waits_and_is_refused
}

@test "one that is slow among the pages is waited for as long as it lives" {
	bucket slow=2
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! i ended=0
	for ((i = 0; i < 200; i++)); do
		! grep -q '^PUT .*/simple/' store.log 2> /dev/null || break
		sleep 0.1
	done
	wheels v "pure 1.0 py3-none-any"
	publish 8 v
	[[ $output == *"waiting for another publisher"*"another publisher changed the index meanwhile"* ]]
	wait "$first" || ended=$?
	[ "$ended" -eq 0 ]
	# It took longer than one that is silent is waited for, and nobody put a page besides.
	[ "$(grep -c '^PUT .*/simple/' store.log)" -gt 5 ]
	[ "$(grep -c '^PUT .*/simple/pure' store.log)" -eq 0 ]
	object index.json | jq -e '.wheels | length == 1'
}

@test "one that left its mark is waited for, whatever snapshot it was to make" {
	bucket
	publish 0 w
	echo 'of somebody else' > store/%2Fbucket%2Fteam%2F.publishing
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	[[ $output == *"waiting for another publisher"* ]]
	object index.json | jq -e '.wheels | length == 2'
}

@test "one that is refused when the other has ended leaves no mark" {
	bucket
	publish 0 w
	cp store/%2Fbucket%2Fteam%2Fmanifest.json ended
	rm -r store
	echo '{"snapshot": "of somebody else"}' > other
	kill "$COPROC_PID"
	wait "$COPROC_PID" || true
	# Its claim meets one that was faster, and that has written the manifest by then.
	bucket first="$PWD/other" over=/.publishing="$PWD/ended=/bucket/team/manifest.json"
	publish 8 w
	[[ $output == *"another publisher changed the index meanwhile"* ]]
	[ -e store/%2Fbucket%2Fteam%2Fmanifest.json ]
	[ ! -e store/%2Fbucket%2Fteam%2F.publishing ]
}

@test "a claim whose answer was lost and that cannot be read is no other publisher's" {
	bucket lost-put unreadable
	publish 8 w
	[[ $output != *"another publisher"* ]]
	[[ $output == *"the server says: "*accessdenied* ]]
}

@test "so it does in a store without conditional requests" {
	waits_and_is_refused refuses
}

@test "there, of two publishers who begin together the first to put its name gives up before it changes a page" {
	echo 'of somebody else' > other
	bucket refuses over=/.publisher="$PWD/other"
	publish 8 w
	[[ $output == *"another publisher changed the index meanwhile"*"run this again"* ]]
	[ -z "$(find store -name '*simple*')" ]
	[ ! -e store/%2Fbucket%2Fteam%2Findex.json ]
}

@test "there, two publishers at the same moment, again and again: both get into the index" {
	bucket refuses
	local round other first second
	for round in 1 2 3; do
		wheels "a$round" "first 1.$round py3-none-any"
		wheels "b$round" "second 1.$round py3-none-any"
		"$WHEELSMITH" publish "a$round" --to s3://bucket/team > first.log 2>&1 3>&- &
		other=$!
		"$WHEELSMITH" publish "b$round" --to s3://bucket/team > second.log 2>&1 3>&- &
		first=0 second=0
		wait $! || second=$?
		wait "$other" || first=$?
		cat first.log second.log
		[[ "$first$second" =~ ^(00|08|80)$ ]]
		[ "$first" -eq 0 ] || publish 0 "a$round"
		[ "$second" -eq 0 ] || publish 0 "b$round"
		object index.json | jq -e ".wheels | length == 2 * $round"
	done
}

@test "a race that was lost while lists were written is found out at the end" {
	echo '{}' > other
	bucket over=/team/index.json="$PWD/other"
	publish 8 w
	[[ $output == *"another publisher wrote into the index at the same time"*"publish again"* ]]
	# The next one puts all pages.
	[ -e store/%2Fbucket%2Fteam%2F.publishing ]
	publish 0 w
	object index.json | jq -e '.wheels | length == 1'
}

@test "a publisher that was taken for dead does not write over the lists of another" {
	bucket pages="$PWD/go"
	"$WHEELSMITH" publish w --to s3://bucket/team > first.log 2>&1 3>&- &
	local first=$! i ended=0
	for ((i = 0; i < 200; i++)); do
		! grep -q 'waiting' store.log 2> /dev/null || break
		sleep 0.1
	done
	echo '{"snapshot": "of somebody else"}' > store/%2Fbucket%2Fteam%2Fmanifest.json
	touch go
	wait "$first" || ended=$?
	cat first.log
	[ "$ended" -eq 8 ]
	grep -q 'another publisher changed the index meanwhile' first.log
	[ ! -e store/%2Fbucket%2Fteam%2Findex.json ]
	[ -e store/%2Fbucket%2Fteam%2F.publishing ]
}

@test "a claim whose answer was lost is one's own" {
	bucket lost-put
	publish 0 w
	grep ' 412$' store.log
	object manifest.json | jq -e .snapshot
}

@test "a store without conditional requests is published to without them" {
	bucket refuses
	publish 0 w
	[ "$(grep -c ' 501$' store.log)" -eq 1 ]
	object index.json | jq -e '.wheels | length == 1'
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	object index.json | jq -e '.wheels | length == 2'
}

@test "what a publisher left that died is taken over" {
	bucket
	publish 0 w
	cp -r store died
	wheels v "pure 1.0 py3-none-any"
	publish 0 v
	# It died between its claim and the lists at the top.
	cp died/*index.json died/*manifest.json store/
	touch store/%2Fbucket%2Fteam%2F.publishing
	publish 0 v
	object index.json | jq -e '.wheels | length == 2'
	[ ! -e store/%2Fbucket%2Fteam%2F.publishing ]
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
		[[ ${lines[0]} == *"a login in the URL would be seen by others"* && $output == *AWS_SECRET_ACCESS_KEY* && $output != *sek* ]]
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
