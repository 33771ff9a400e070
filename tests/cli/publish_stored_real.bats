#!/usr/bin/env bats
# publish --to s3://...: against Ceph's gateway, which checks signatures and knows conditional requests. Needs the packages that
# ./dev setup real installs.
# labels: real network
# timeout: 900

load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local program
	for program in ceph-mon ceph-osd radosgw; do
		command -v "$program" > /dev/null || cannot_run "needs $program (./dev setup real)"
	done
	export PORT
	PORT=$(python3 -c 'import random; print(random.randrange(20000, 30000))')
	"$WS_ROOT/tests/support/ceph_setup.sh" ceph "$PORT" > pids
	python3 -m venv tools
	tools/bin/pip install --quiet --upgrade pip uv awscli
}

teardown_file() {
	local pid
	while read -r pid; do
		kill "$pid" 2> /dev/null || true
	done < "$BATS_FILE_TMPDIR/pids"
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	tools=$BATS_FILE_TMPDIR/tools/bin
	bucket=bucket$BATS_TEST_NUMBER
	open=http://127.0.0.1:$PORT/swift/v1/$bucket/team
	# Everybody may read: the index is served by the store itself.
	curl -sf -X PUT -H "X-Auth-Token: $(token)" -H 'X-Container-Read: .r:*,.rlistings' "${open%/team}"
	export AWS_ENDPOINT_URL=http://127.0.0.1:$PORT AWS_ACCESS_KEY_ID=alicekey AWS_SECRET_ACCESS_KEY=alicesecret
	unset AWS_REGION AWS_DEFAULT_REGION AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.*" "demo 1.0+cu.12.4.torch.2.5.sm.90 py3-none-any torch==2.5.*"
}

# A bucket of the gateway's second API, Swift.
token() {
	curl -si -H 'X-Auth-User: alice:swift' -H 'X-Auth-Key: alicesecret' "http://127.0.0.1:$PORT/auth/v1.0" | tr -d '\r' \
		| sed -n 's/^X-Auth-Token: //p'
}

publish() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "$WHEELSMITH" publish "$@" --to "s3://$bucket/team"
	echo "$output"
	[[ $output != *alicesecret* ]]
}

keys() {
	curl -sf -H "X-Auth-Token: $(token)" "${open%/team}?prefix=team/&format=plain" | sed 's,^team/,,'
}

# Every page agrees with the manifest, and every file of a page is present with its digest.
valid() {
	python3 - "$open" <<- 'END'
		import hashlib, json, sys, urllib.parse, urllib.request
		def get(path):
		    return urllib.request.urlopen(sys.argv[1] + "/" + urllib.parse.quote(path)).read()
		index, manifest = json.loads(get("index.json")), json.loads(get("manifest.json"))
		for page in manifest["files"]:
		    assert hashlib.sha256(get(page["path"])).hexdigest() == page["sha256"], page
		for wheel in index["wheels"]:
		    assert hashlib.sha256(get("files/" + wheel["file"])).hexdigest() == wheel["sha256"]
		    get("files/" + wheel["file"] + ".metadata")
		print(len(index["wheels"]), "wheels,", len(manifest["files"]), "pages")
	END
}

@test "an index: pip and uv install from it; again nothing to do; one more touches its pages" {
	publish 0 w
	valid
	publish 0 w
	[[ $output == *"nothing to do"* ]]
	"$tools/pip" install --quiet --no-deps --target site --index-url "$open/cu124-torch2.5-sm86/simple/" demo==1.0
	[ -d site/demo-1.0+cu.12.4.torch.2.5.sm.86.dist-info ]
	"$tools/uv" pip install --quiet --no-deps --no-config --no-cache --target site2 --index-url "$open/cu124-torch2.5-sm90/simple/" demo==1.0
	[ -d site2/demo-1.0+cu.12.4.torch.2.5.sm.90.dist-info ]
	wheels v "pure 1.0 py3-none-any"
	publish 0 v --json
	jq -e '.added == 1 and .wheels == 3' <<< "$output"
	valid
	publish 0 --yank demo==1.0 --reason 'wrong'
	valid
	curl -sf "$open/all/simple/demo/" | grep -q 'data-yanked="wrong"'
	wheels x "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.* METADATA:Summary:_other"
	publish 8 x
	[[ $output == *"is published with other contents"* ]]
	[ "$(keys | grep -c '^@.*/manifest.json')" -eq 3 ]
}

@test "a large wheel goes in parts, and not through memory" {
	wheels big "big 1.0 py3-none-any size=70000000"
	run_below_40_mb "$WHEELSMITH" publish big --to "s3://$bucket/team"
	curl -sf "$open/files/big-1.0-py3-none-any.whl" | cmp - big/*.whl
	valid
}

@test "signed; refused for a user without rights, and without a bucket" {
	run -0 "$WHEELSMITH" publish --new-key key
	publish 0 w --key key
	curl -sf "$open/manifest.json" > m
	curl -sf "$open/manifest.json.sig" > m.sig
	openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in m -sigfile m.sig
	wheels v "pure 1.0 py3-none-any"
	publish 8 v
	[[ $output == *"is signed, and no key was given"* ]]
	AWS_SECRET_ACCESS_KEY=wrong publish 8 v --key key
	[[ ${lines[0]} == "error: cannot fetch 'manifest.json': '127.0.0.1' denies access to this login (403)" ]]
	[[ $output == *"the server answered: SignatureDoesNotMatch"* ]]
	AWS_ACCESS_KEY_ID=bobkey AWS_SECRET_ACCESS_KEY=bobsecret publish 8 v --key key
	[[ $output == *"AccessDenied"* ]]
	printf 'alicekey\nalicesecret\n' > login
	AWS_SECRET_ACCESS_KEY=wrong publish 0 v --key key --login login
	valid
	# A publisher died between its lists and its manifest.
	local token name
	token=$(token)
	printf 'newer' > newer
	for name in index.json manifest.json.sig; do
		curl -sf -X PUT -H "X-Auth-Token: $token" --data-binary @newer "$open/$name"
	done
	curl -sf -X PUT -H "X-Auth-Token: $token" --data-binary 'interrupted' "$open/.publishing"
	publish 0 v --key key
	valid
	# A list without a signature, written by somebody else.
	name=$(curl -sf "$open/manifest.json" | jq -r .snapshot)
	curl -sf "$open/index.json" | sed 's/"sha256": "./"sha256": "0/' > newer
	curl -sf -X PUT -H "X-Auth-Token: $token" --data-binary @newer "$open/@$name/index.json"
	publish 8 v --key key
	[[ $output == *"is not the one that the manifest lists"* ]]
	bucket=nowhere publish 8 v
	[[ $output == *"NoSuchBucket"* ]]
	run -2 "$WHEELSMITH" publish w --to s3://
	run -2 "$WHEELSMITH" publish --verify --to "s3://$bucket/team"
}

@test "a publisher that dies leaves pages that hold, and the next one finishes" {
	publish 0 w
	local i delay
	for ((i = 1; i <= 8; i++)); do
		wheels "v$i" "p$i 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.* size=20000"
		delay=$(python3 -c 'import random; print(random.random() * 5)')
		timeout -s KILL "$delay" "$WHEELSMITH" publish "v$i" --to "s3://$bucket/team" > /dev/null 2>&1 || true
		# Every published state installs.
		rm -rf site
		"$tools/pip" install --quiet --no-deps --target site --index-url "$open/cu124-torch2.5-sm86/simple/" demo==1.0
	done
	publish 0 v1 v2 v3 v4 v5 v6 v7 v8
	valid
	[ "$(keys | grep -c '^files/p.*whl$')" -eq 8 ]
	[ "$(keys | grep -c '^\.publishing$')" -eq 0 ]
}

@test "several publishers at the same moment: all are in the index" {
	local round name pids pid
	for round in 1 2; do
		pids=()
		for name in a b c; do
			wheels "$name$round" "$name 1.$round py3-none-any"
			"$WHEELSMITH" publish "$name$round" --to "s3://$bucket/team" > "$name.log" 2>&1 3>&- &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid"
		done
		valid
		curl -sf "$open/index.json" | jq -e ".wheels | length == 3 * $round"
	done
	[ "$(keys | grep -c '^\.publishing')" -eq 0 ]
}

@test "the command for stores without conditional requests copies what installers and people follow" {
	run -0 "$WHEELSMITH" publish w --to folder
	AWS_REQUEST_CHECKSUM_CALCULATION=when_required "$tools/aws" s3 sync --no-progress folder "s3://$bucket/team" --exclude '.*' --exclude '@*' --exclude 'current/*'
	keys
	(cd folder/current && find -L . -type f | sed 's,^\./,,') | LC_ALL=C sort > want
	LC_ALL=C diff want <(keys | LC_ALL=C sort)
	valid
}
