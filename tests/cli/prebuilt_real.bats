#!/usr/bin/env bats
# Prebuilt wheels of the real index, and of a real index server: torchvision 0.20.1 was made for torch 2.5.1,
# 0.21.0 for 2.6.0.
# labels: network
# timeout: 600

load building

NAME=torchvision-0.20.1-cp311-cp311-manylinux1_x86_64.whl

setup() {
	own_home
	cd "$BATS_TEST_TMPDIR" || return
	torchvision pybind
}

# Recipes of both versions, which are never built, and the matrix.
torchvision() { # BINDING
	local version
	mkdir -p recipes/torchvision
	for version in 0.20.1 0.21.0; do
		jq -n --arg version $version --arg binding "$1" '{name: "torchvision", version: $version, binding: $binding,
			check: {import: ["torchvision"]}}' > recipes/torchvision/$version.json
	done
	jq -n '{packages: ["torchvision==0.20.1", "torchvision==0.21.0"], torch: ["2.5.1"], cuda: ["12.4"], python: ["3.11"],
		arch: ["8.6"], recipes: "recipes"}' > m.json
}

@test "of two wheels of the index the one that loads is taken, the other refused with the symbol" {
	build -0
	[[ "$stderr" == *"2 cells: 0 to build, 1 prebuilt, 0 cached, 1 excluded"* ]]
	[ "$(ls dist/*.whl)" = dist/$NAME ]
	[ "$(sha256sum < dist/$NAME | cut -d' ' -f1)" = "$(jq -r '.prebuilt[0].sha256' m.lock.json)" ]
	[ "$(built '.cells[0] | .decision, .wheel, .torch')" = $'prebuilt\n'"$NAME"$'\n2.5.1' ]
	[ "$(built '.cells[1].decision')" = excluded ]
	built '.cells[1].tried[0].why' | grep -q 'fails: torchvision/_C.so needs .* that torch 2.5.1 does not export: '
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" dist/build.json m.lock.json
	# pip installs it by the written requirements, beside the torch of its verdict.
	[ "$(grep -x 'torch==.*' dist/requirements.txt)" = torch==2.5.1 ]
	python3 -m pip download -q --no-deps --require-hashes --no-index --find-links dist --python-version 3.11 \
		--only-binary :all: --platform manylinux1_x86_64 -d got -r <(grep -v ^torch== dist/requirements.txt)
	cmp got/$NAME dist/$NAME
}

@test "a wheel for several torches must load in each" {
	torchvision stable-abi
	build -0 --only '*0.20.1*'
	[ "$(built '.cells[0].decision')" = prebuilt ]
	jq '.torch = ["2.5.1", "2.6.0"]' m.json > both.json
	ws -3 build --matrix both.json --only '*0.20.1*' -o both
	[[ "$stderr" == *"every cell is excluded"*"that torch 2.6.0 does not export: "* ]]
}

@test "pypiserver asks for a password and serves a wheel" {
	python3 -m venv venv
	venv/bin/pip install -q pypiserver passlib
	mkdir packages
	python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11 --platform manylinux1_x86_64 \
		-d packages torchvision==0.20.1
	echo "me:$(openssl passwd -apr1 secret)" > htpasswd
	local port
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	venv/bin/pypi-server run -i 127.0.0.1 -p "$port" -P htpasswd -a download,list,update --disable-fallback \
		--hash-algo sha256 packages > server.log 2>&1 3>&- &
	local server=$!
	wait_for 30 curl -s -o page "http://127.0.0.1:$port/"
	build --only '*0.20.1*' --policy prebuilt-only --index "prebuilt=http://127.0.0.1:$port/simple"
	local refused=$status
	build --only '*0.20.1*' --policy prebuilt-only --index "prebuilt=http://me:secret@127.0.0.1:$port/simple"
	kill "$server"
	[ "$refused" -eq 4 ]
	[ "$status" -eq 0 ]
	[ "$(built '.cells[0].decision')" = prebuilt ]
	cmp dist/$NAME packages/$NAME
	not grep -r secret m.lock.json dist/build.json dist/requirements.txt
}

@test "devpi serves a wheel of one of its indexes" {
	python3 -m venv venv
	venv/bin/pip install -q devpi-server
	python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11 --platform manylinux1_x86_64 \
		-d packages torchvision==0.20.1
	local port url auth
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	url=http://127.0.0.1:$port
	venv/bin/devpi-init --serverdir devpi --root-passwd secret --no-root-pypi > devpi.log 2>&1
	venv/bin/devpi-server --serverdir devpi --host 127.0.0.1 --port "$port" > server.log 2>&1 3>&- 9>&- &
	local server=$!
	wait_for 60 curl -sf -o page "$url/+api"
	auth=$(curl -sf "$url/+login" --json '{"user": "root", "password": "secret"}' | jq -r .result.password)
	auth="X-Devpi-Auth: $(printf 'root:%s' "$auth" | base64 -w0)"
	curl -sf -X PUT -H "$auth" "$url/ws" --json '{"password": "secret"}' > log
	curl -sf -X PUT -H "$auth" "$url/ws/cu124" --json '{"type": "stage", "bases": [], "volatile": false}' > log
	curl -sf -u ws:secret "$url/ws/cu124/" -F :action=file_upload -F protocol_version=1 -F metadata_version=2.1 \
		-F name=torchvision -F version=0.20.1 -F filetype=bdist_wheel -F pyversion=cp311 -F "content=@packages/$NAME" > log
	build --only '*0.20.1*' --policy prebuilt-only --index "prebuilt=$url/ws/cu124/+simple"
	kill "$server"
	[ "$status" -eq 0 ]
	[ "$(built '.cells[0].decision')" = prebuilt ]
	cmp dist/$NAME packages/$NAME
}
