#!/usr/bin/env bats
# Package servers: the twine and uv commands of docs/publish.md against pypiserver, with wheels that publish has checked.
# labels: network
# timeout: 300

load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export HOME="$PWD/home" WHEELSMITH_STORE="$PWD/store" PIP_DISABLE_PIP_VERSION_CHECK=1
	python3 -m venv tools
	tools/bin/pip install --quiet pypiserver passlib twine uv h2
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*" \
		"demo 1.0+cu.12.4.torch.2.5.sm.90 cp311-cp311-linux_x86_64 torch==2.5.* size=2000000" \
		"wide 2.0 py3-none-any torch>=2 METADATA:Summary:_short METADATA:Requires-Python:_>=3.9"
	"$WHEELSMITH" publish w --to idx
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	private_home
	plain_clients
	tools=$BATS_FILE_TMPDIR/tools/bin
	files=$BATS_FILE_TMPDIR/idx/files
	unset TWINE_USERNAME TWINE_PASSWORD TWINE_REPOSITORY_URL UV_PUBLISH_URL UV_PUBLISH_TOKEN
}

teardown() {
	[ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" 2> /dev/null || true
}

pypiserver() {
	local port i
	port=$(free_port)
	url=http://127.0.0.1:$port/
	mkdir packages
	printf 'alice:%s\n' "$(openssl passwd -apr1 sesame)" > htpasswd
	"$tools/pypi-server" run -i 127.0.0.1 -p "$port" -P htpasswd -a update --disable-fallback --hash-algo sha256 packages \
		> server.log 2>&1 3>&- &
	server=$!
	for ((i = 0; i < 300; i++)); do
		! curl -s -o /dev/null "$url" || return 0
		sleep 0.1
	done
	return 1
}

# The server has the published wheels, byte for byte, and pip gets the METADATA that is beside each in the index.
served() {
	local wheel name
	for wheel in "$files"/*.whl; do
		name=${wheel##*/}
		cmp "$wheel" "packages/$name"
		rm -rf got
		"$tools/pip" download --quiet --no-deps --dest got --index-url "${url}simple/" --only-binary :all: \
			--python-version 3.11 --platform linux_x86_64 "$(cut -d- -f1 <<< "$name")==$(cut -d- -f2 <<< "$name")"
		cmp "$wheel" "got/$name"
		unzip -p "got/$name" '*.dist-info/METADATA' | cmp - "$wheel.metadata"
	done
}

@test "twine uploads the published wheels, once" {
	pypiserver
	"$tools/twine" check "$files"/*.whl
	export TWINE_USERNAME=alice TWINE_PASSWORD=wrong
	run ! "$tools/twine" upload --non-interactive --disable-progress-bar --repository-url "$url" "$files"/*.whl
	[ -z "$(ls packages)" ]
	export TWINE_PASSWORD=sesame
	"$tools/twine" upload --non-interactive --disable-progress-bar --repository-url "$url" "$files"/*.whl
	served
	# It does not look for files that the server has; pypiserver refuses them.
	run ! "$tools/twine" upload --non-interactive --disable-progress-bar --repository-url "$url" "$files"/*.whl
	[[ $output == *"HTTPError: 4"* ]]
	served
}

@test "uv publishes the published wheels, and again without a change" {
	pypiserver
	local options=(--no-progress --trusted-publishing never --publish-url "$url" --check-url "${url}simple/" --username alice)
	run ! "$tools/uv" publish "${options[@]}" --password wrong "$files"/*.whl
	[ -z "$(ls packages)" ]
	"$tools/uv" publish "${options[@]}" --password sesame "$files"/*.whl
	served
	run -0 "$tools/uv" publish "${options[@]}" --password sesame "$files"/*.whl
	[ "$(grep -c 'already exists' <<< "$output")" -eq 3 ]
	served
	# Another wheel under a name that the server has is refused.
	wheels v "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.* METADATA:Summary:_other"
	run ! "$tools/uv" publish "${options[@]}" --password sesame v/*.whl
	served
}

@test "publish refuses the address of a package server and names the command" {
	run -2 "$WHEELSMITH" publish "$BATS_FILE_TMPDIR/w" --to https://wheels.invalid/legacy/
	[[ $output == *"for a package server:  twine upload --repository-url https://wheels.invalid/legacy/ $BATS_FILE_TMPDIR/w/*.whl"* ]]
}

# libcurl before 8 loses such an answer if HTTP/2 resets the stream after it.
@test "an answer that comes before the object is sent is read, with every protocol of the server" {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out c.pem -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 2> openssl.log
	local word port
	coproc "$tools/python" "$WS_ROOT/tests/support/early_server.py" c.pem key.pem 403 early.log
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	export AWS_ENDPOINT_URL=https://127.0.0.1:$port AWS_ACCESS_KEY_ID=alice AWS_SECRET_ACCESS_KEY=sesame
	run -8 env PIP_CERT="$PWD/c.pem" "$WHEELSMITH" publish "$BATS_FILE_TMPDIR/w" --to s3://bucket/team
	[[ $output == *"denies access"*"(403)"*"the server answered: "*"decided early"* ]]
	[ "$(sort -u early.log)" = http/1.1 ]
}
