#!/usr/bin/env bats
# An index behind nginx, by the configuration of docs/publish.md and by none: current and old pip, uv, the tools that check wheels.
# labels: network
# timeout: 400

load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export HOME="$PWD/home" WHEELSMITH_STORE="$PWD/store" PIP_DISABLE_PIP_VERSION_CHECK=1
	python3 -m venv tools
	tools/bin/pip install --quiet --upgrade pip uv twine check-wheel-contents
	python3 -m venv old
	old/bin/pip install --quiet pip==21.2.4
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 py3-none-any METADATA:Requires-Python:_>=3.8" \
		"demo 1.0+cu.12.4.torch.2.5.sm.90 py3-none-any" "demo 1.0+cu.13.0.torch.2.11.sm.90 py3-none-any"
	"$WHEELSMITH" publish w --to idx
}

setup() {
	command -v nginx > /dev/null || cannot_run "needs nginx (./dev setup)"
	cd "$BATS_FILE_TMPDIR" || return
	plain_clients
}

teardown() {
	[ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
}

nginx_with() { # what stands in http { }, on stdin, with PORT and ROOT
	local run=$BATS_TEST_TMPDIR/nginx
	mkdir -p "$run/tmp"
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	{
		echo "daemon off; master_process off; pid nginx.pid; error_log error.log; events { } http { access_log access.log;"
		echo "client_body_temp_path tmp/a; proxy_temp_path tmp/b; fastcgi_temp_path tmp/c; uwsgi_temp_path tmp/d; scgi_temp_path tmp/e;"
		sed "s,/srv/wheels,$PWD/idx,; s,server {,server { listen 127.0.0.1:$port;,"
		echo "}"
	} > "$run/nginx.conf"
	nginx -p "$run/" -c "$run/nginx.conf" -e "$run/error.log" 3>&- &
	server=$!
	local i
	for ((i = 0; i < 100; i++)); do
		! curl -s -o /dev/null "http://127.0.0.1:$port/" || return 0
		sleep 0.1
	done
	cat "$run/error.log"
	return 1
}

takes() { # WHAT COMMAND... ; the version that demo has in site
	local what=$1
	shift
	rm -rf site
	"$@" --no-deps --target site --index-url "http://127.0.0.1:$port/$what/simple/" demo==1.0
	find site -name 'demo-*.dist-info' | sed 's,.*/demo-\(.*\).dist-info,\1,'
}

all_take() {
	local tool
	for tool in "tools/bin/pip install --quiet" "old/bin/pip install --quiet" "tools/bin/uv pip install --quiet --python tools/bin/python"; do
		echo "$tool"
		# shellcheck disable=SC2086 # words
		[ "$(takes cu124-torch2.5-sm86 $tool)" = 1.0+cu.12.4.torch.2.5.sm.86 ]
		# shellcheck disable=SC2086
		[ "$(takes cu124-torch2.5-sm90 $tool)" = 1.0+cu.12.4.torch.2.5.sm.90 ]
		# shellcheck disable=SC2086
		[ "$(takes cu130-torch2.11 $tool)" = 1.0+cu.13.0.torch.2.11.sm.90 ]
	done
}

@test "nginx as docs/publish.md has it: JSON for who asks, HTML for who does not" {
	# shellcheck disable=SC2016 # these backticks are the page's
	sed -n '/^```nginx/,/^```$/p' "$WS_ROOT/docs/publish.md" | grep -v '^```' > conf
	nginx_with < conf
	all_take
	local page=http://127.0.0.1:$port/all/simple/demo/
	run -0 curl -si -H 'Accept: application/vnd.pypi.simple.v1+json' "$page"
	[[ $output == *"Content-Type: application/vnd.pypi.simple.v1+json"*"Vary: Accept"*'"api-version"'* ]]
	run -0 curl -si "$page"
	[[ $output == *"Content-Type: text/html"*"<!DOCTYPE html>"* ]]
	run -0 curl -si "http://127.0.0.1:$port/index.html"
	[[ $output == *"Content-Type: text/html"* ]]
}

@test "nginx as it is: HTML alone, with and without ranges" {
	nginx_with <<< "types { text/html html; } server { root /srv/wheels; }"
	all_take
	kill "$server"
	wait "$server" 2> /dev/null || true
	nginx_with <<< "types { text/html html; } server { root /srv/wheels; max_ranges 0; }"
	all_take
}

@test "published wheels pass twine check and check-wheel-contents" {
	tools/bin/twine check idx/files/*.whl
	tools/bin/check-wheel-contents idx/files/*.whl
}
