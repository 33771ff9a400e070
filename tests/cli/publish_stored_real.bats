#!/usr/bin/env bats
# publish --to s3://...: against Swift's s3api, which checks signatures. Needs the packages that ./dev setup real installs.
# labels: real network
# timeout: 900

bats_require_minimum_version 1.5.0
load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	local program
	for program in memcached swift-{account,container,object,proxy}-server; do
		command -v "$program" > /dev/null || cannot_run "needs $program (./dev setup real)"
	done
	export PORT
	PORT=$(python3 -c 'import random; print(random.randrange(20000, 30000))')
	"$WS_ROOT/tests/support/swift_setup.sh" "$PWD/swift" "$PORT"
	memcached -l 127.0.0.1 -p $((PORT + 4)) -U 0 -u "$(id -un)" 3>&- &
	echo $! > pids
	local part
	for part in account container object proxy; do
		"swift-$part-server" "swift/etc/$part-server.conf" > "$part.log" 2>&1 3>&- &
		echo $! >> pids
	done
	local i
	for ((i = 0; i < 300; i++)); do
		! curl -s -o /dev/null "http://127.0.0.1:$PORT/healthcheck" || break
		sleep 0.1
	done
	python3 -m venv tools
	tools/bin/pip install --quiet --upgrade pip uv
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
	open=http://127.0.0.1:$PORT/v1/AUTH_ws/$bucket/team
	# Everybody may read: the index is served by the store itself.
	curl -sf -X PUT -H "X-Auth-Token: $(token)" -H 'X-Container-Read: .r:*,.rlistings' "${open%/team}"
	export AWS_ENDPOINT_URL=http://127.0.0.1:$PORT AWS_ACCESS_KEY_ID=ws:alice AWS_SECRET_ACCESS_KEY=s3secret
	unset AWS_REGION AWS_DEFAULT_REGION AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.*" "demo 1.0+cu.12.4.torch.2.5.sm.90 py3-none-any torch==2.5.*"
}

# Of Swift's own API.
token() {
	curl -si -H 'X-Auth-User: ws:alice' -H 'X-Auth-Key: s3secret' "http://127.0.0.1:$PORT/auth/v1.0" | tr -d '\r' \
		| sed -n 's/^X-Auth-Token: //p'
}

publish() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "$WHEELSMITH" publish "$@" --to "s3://$bucket/team"
	echo "$output"
	[[ $output != *s3secret* ]]
}

keys() {
	curl -sf "${open%/team}?prefix=team/" | sed 's,^team/,,'
}

# Every page says what the manifest says, and every file that a page names is there with its digest.
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

@test "signed; refused for whoever may not, for another region, where there is no bucket" {
	run -0 "$WHEELSMITH" publish --new-key key
	publish 0 w --key key
	curl -sf "$open/manifest.json" > m
	curl -sf "$open/manifest.json.sig" > m.sig
	openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in m -sigfile m.sig
	wheels v "pure 1.0 py3-none-any"
	publish 8 v
	[[ $output == *"is signed, and no key was given"* ]]
	AWS_SECRET_ACCESS_KEY=wrong publish 8 v --key key
	[[ ${lines[0]} == "error: cannot fetch 'manifest.json': '127.0.0.1' denies access (403)" ]]
	[[ $output == *"the server says: SignatureDoesNotMatch"* ]]
	AWS_ACCESS_KEY_ID=ws:bob AWS_SECRET_ACCESS_KEY=bobsecret publish 8 v --key key
	[[ $output == *"AccessDenied"* ]]
	AWS_REGION=eu-north-1 publish 8 v --key key
	[[ $output == *"the region 'eu-north-1' is wrong"* ]]
	printf 'ws:alice\ns3secret\n' > login
	AWS_SECRET_ACCESS_KEY=wrong publish 0 v --key key --login login
	valid
	# A publisher died between its lists and its manifest.
	local token name
	token=$(token)
	printf 'newer' > newer
	for name in index.json manifest.json.sig; do
		curl -sf -X PUT -H "X-Auth-Token: $token" --data-binary @newer "$open/$name"
	done
	curl -sf -X PUT -H "X-Auth-Token: $token" --data-binary '' "$open/.publishing"
	publish 0 v --key key
	valid
	# Somebody else wrote a list that nobody signed.
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
	local i delay token
	token=$(token)
	for ((i = 1; i <= 8; i++)); do
		wheels "v$i" "p$i 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any torch==2.5.* size=20000"
		delay=$(python3 -c 'import random; print(random.random() * 5)')
		timeout -s KILL "$delay" "$WHEELSMITH" publish "v$i" --to "s3://$bucket/team" > /dev/null 2>&1 || true
		# Else the next waits ten seconds for its end.
		curl -s -o /dev/null -X DELETE -H "X-Auth-Token: $token" "$open/.publisher"
		# Whatever stands there installs.
		rm -rf site
		"$tools/pip" install --quiet --no-deps --target site --index-url "$open/cu124-torch2.5-sm86/simple/" demo==1.0
	done
	publish 0 v1 v2 v3 v4 v5 v6 v7 v8
	valid
	[ "$(keys | grep -c '^files/p.*whl$')" -eq 8 ]
	[ "$(keys | grep -c '^\.publishing$')" -eq 0 ]
}

@test "of two publishers at the same moment, whoever is refused publishes again, and both are in the index" {
	local round first second other
	for round in 1 2 3; do
		wheels "a$round" "first 1.$round py3-none-any"
		wheels "b$round" "second 1.$round py3-none-any"
		"$WHEELSMITH" publish "a$round" --to "s3://$bucket/team" > first.log 2>&1 3>&- &
		other=$!
		"$WHEELSMITH" publish "b$round" --to "s3://$bucket/team" > second.log 2>&1 3>&- &
		first=0 second=0
		wait $! || second=$?
		wait "$other" || first=$?
		cat first.log second.log
		[[ "$first$second" =~ ^(00|08|80)$ ]]
		[ "$first" -eq 0 ] || publish 0 "a$round"
		[ "$second" -eq 0 ] || publish 0 "b$round"
		valid
		curl -sf "$open/index.json" | jq -e ".wheels | length == 2 * $round"
	done
}
