#!/usr/bin/env bats
# Downloads that hosts share: a second store takes torch's headers and sources from where results are shared, by nginx and
# by buildbox-casd, and nothing from where they come from.
# labels: cuda network
# timeout: 600

load building
load sharing

setup_file() {
	make_base
	export BASE
	cd "$BATS_FILE_TMPDIR" || return
	"$WHEELSMITH" publish --new-key ci.pem
	"$WHEELSMITH" publish --new-key stranger.pem
	export KEYS=$PWD
	start_nginx
	start_casd
	export NGINX GRPC SERVER=$PWD/srv
	# An index with a torch, and the sources as an archive.
	cp -r "$BASE/www" www
	mkdir first
	BATS_TEST_TMPDIR=$PWD/first begin
	tar -C recipes/tiny -czf "$KEYS/www/x/files/tiny-1.0.tar.gz" src
	serve "$KEYS/www"
	here
	"$WHEELSMITH" build --matrix m.json 2> first.log
	FIRST=$(wheel_sum)
	export FIRST LOCK=$PWD/m.lock.json
	# one host writes to both servers: files that came from the first were not downloaded.
	local server
	for server in "$NGINX" "$GRPC"; do
		rm -rf "$WHEELSMITH_STORE" dist
		writes_to "$server"
		"$WHEELSMITH" build --matrix m.json 2>> first.log
	done
	unserve
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/casd.pid")" "$(cat "$BATS_FILE_TMPDIR/nginx.pid")" 2> /dev/null || true
}

# An empty store, and the package of host units.
begin() {
	own_home
	need_no_toolkit
	cd "$BATS_TEST_TMPDIR" || return
	tiny "$PWD"
	only_host
}

# Downloads come from the server that `serve` started.
here() {
	export WHEELSMITH_INDEX=$INDEX
	recipe 'r["source"] = [{"sdist": "tiny-1.0.tar.gz", "sha256": "'"$(sha256sum < "$KEYS/www/x/files/tiny-1.0.tar.gz" | cut -d' ' -f1)"'"}]'
}

# A download would fail: no server listens there.
nowhere() {
	cp "$LOCK" .
	INDEX=http://127.0.0.1:9/simple here
}

setup() {
	begin
}

members() { # ENDPOINT
	[[ $1 != grpc* ]] || echo '"instance": "main",'
}

writes_to() { # ENDPOINT
	remote_is "$1" "$(members "$1")"' "access": "write", "key": "'"$KEYS/ci.pem"'"'
}

reads_from() { # ENDPOINT [KEY]
	remote_is "$1" "$(members "$1")"' "trust": ["'"$KEYS/${2:-ci.pem}.pub"'"]'
}

# Files that were asked for, and not pages about them.
downloads() {
	jq -r .path "$ASKED" | grep -cE '\.(whl|tar\.gz)$' || true
}

# All was downloaded, the wheel is the same.
downloaded_here() {
	[ "$status" -eq 0 ]
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(downloads)" -gt 0 ]
	[[ "$stderr" != *"from where results are shared"* ]]
}

@test "a second store downloads nothing and compiles nothing: the same bytes" {
	local server tree
	for server in "$NGINX" "$GRPC"; do
		rm -rf "$WHEELSMITH_STORE" dist
		nowhere
		reads_from "$server"
		build -0
		nothing_ran
		[[ "$stderr" != *warning* ]]
		[ "$(wheel_sum)" = "$FIRST" ]
		for tree in torch-$TORCH src-tiny-1.0; do
			[ "$(grep -c "^$tree .* from where results are shared" <<< "$stderr")" -eq 1 ]
			diff -r "$KEYS/first/store/trees/$tree"-*[0-9a-f] "$WHEELSMITH_STORE/trees/$tree"-*[0-9a-f]
		done
		cmp m.lock.json "$LOCK"
		[ -z "$(ls -A "$WHEELSMITH_STORE/partial")" ]
		ws -0 cache verify
		# By now the store has them itself.
		build -0 --offline
		nothing_ran
	done
}

@test "without a lock the index is asked which torch there is, and for no file; the lock is the same" {
	serve "$KEYS/www"
	here
	reads_from "$NGINX"
	ws -0 fetch --matrix m.json
	[ "$(downloads)" -eq 0 ]
	[[ "$stderr" == *"from where results are shared"* ]]
	[ "$(jq -c .torch m.lock.json)" = "$(jq -c .torch "$LOCK")" ]
	unserve
}

@test "records of a key that is not trusted are misses, with one warning" {
	serve "$KEYS/www"
	here
	reads_from "$NGINX" stranger.pem
	build
	downloaded_here
	made_here "records that no trusted key has signed"
	unserve
}

@test "--offline and plan contact no server" {
	local asked
	asked=$(wc -l < "$KEYS/nginx/access.log")
	nowhere
	reads_from "$NGINX"
	build -4 --offline
	[[ "$stderr" == *"2 downloads are missing"* ]]
	ws -0 plan --matrix m.json
	[ "$(wc -l < "$KEYS/nginx/access.log")" -eq "$asked" ]
}

@test "a server that is not there: one warning, and all is downloaded" {
	serve "$KEYS/www"
	here
	reads_from http://127.0.0.1:9
	build
	downloaded_here
	made_here "are not used any more in this run"
	unserve
}

@test "a server that lost a file has misses; the downloads are written to it again" {
	serve "$KEYS/www"
	here
	cp -r "$SERVER" lost
	local file
	file=$(sha256sum "$KEYS/first/recipes/tiny/src/module.cpp" | cut -d' ' -f1)
	rm "lost/cas/$file"
	serve_also lost
	writes_to "$ALSO"
	build -0
	[ "$(wheel_sum)" = "$FIRST" ]
	[[ "$stderr" != *warning* ]]
	[[ "$stderr" == *"fetched tiny-1.0.tar.gz"*"sharing 'src-tiny-1.0'"* ]]
	grep -q "PUT.*cas/$file" also.log
	unserve
}

@test "wrong answers of a server give no wrong file" {
	serve "$KEYS/www"
	here
	local how
	for how in other longer swapped; do
		rm -rf "$WHEELSMITH_STORE" dist lies
		cp -r "$SERVER" lies
		python3 - "$how" lies <<- 'END'
			import pathlib, sys
			how, root = sys.argv[1], pathlib.Path(sys.argv[2])
			for path in sorted(root.glob("cas/*")) if how != "swapped" else []:
			    data = path.read_bytes()
			    path.write_bytes({"other": bytes(b ^ 1 for b in data), "longer": data + b"x"}[how])
			records = sorted(root.glob("ac/*")) if how == "swapped" else []
			texts = [path.read_bytes() for path in records]
			for at, path in enumerate(records):
			    path.write_bytes(texts[at - 1])
		END
		serve_also lies
		reads_from "$ALSO"
		build
		downloaded_here
		made_here "they are ignored and rebuilt locally"
		[ -z "$(ls -A "$WHEELSMITH_STORE/partial")" ]
	done
	unserve
}

# A copy of the server's files, for a while: $ALSO.
serve_also() { # FOLDER [LARGEST BODY]
	local run=$PWD/also port
	[ ! -s "$run/pid" ] || kill "$(cat "$run/pid")"
	rm -rf "$run"
	mkdir -p "$run/tmp"
	chmod -R a+rwX "$1" "$run"
	port=$(free_port)
	cat > "$run/nginx.conf" <<- END
		daemon off; master_process off; pid $run/pid; error_log $run/error.log; events { }
		http {
			access_log $PWD/also.log; proxy_temp_path $run/b; fastcgi_temp_path $run/c; uwsgi_temp_path $run/d; scgi_temp_path $run/e;
			server {
				listen 127.0.0.1:$port; root $PWD/$1; client_max_body_size ${2:-0}; client_body_temp_path $run/tmp;
				location / { dav_methods PUT; create_full_put_path on; }
			}
		}
	END
	env -u NGINX nginx -p "$run/" -c "$run/nginx.conf" -e "$run/error.log" 3>&- 8>&- 9>&- &
	wait_for "$port"
	ALSO=http://127.0.0.1:$port
}

teardown() {
	[ ! -s also/pid ] || kill "$(cat also/pid)"
}

@test "a server with a limit of size: what is too large there is downloaded by others, and results are shared on" {
	cp -r "$KEYS/www" www
	head -c 300000 /dev/zero > recipes/tiny/src/large.bin
	tar -C recipes/tiny -czf www/x/files/tiny-1.0.tar.gz src
	serve "$PWD/www"
	KEYS=$PWD here
	mkdir limited
	serve_also limited 200k
	writes_to "$ALSO"
	build -0
	[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"refuses a file of 300000 bytes"* ]]
	rm -rf "$WHEELSMITH_STORE" dist
	build -0
	nothing_ran
	unserve
}

@test "the sources of a folder are not told to anybody" {
	serve "$KEYS/www"
	export WHEELSMITH_INDEX=$INDEX
	mkdir own
	serve_also own
	writes_to "$ALSO"
	build -0
	[[ "$stderr" == *"sharing 'torch-$TORCH'"* ]]
	[[ "$stderr" != *"sharing 'src-"* ]]
	[ ! -e "own/cas/$(sha256sum recipes/tiny/src/module.cpp | cut -d' ' -f1)" ]
	unserve
}

@test "a prebuilt wheel that an index promises comes from there, and its own server is not asked" {
	local server name=tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl
	mkdir -p www/x/files
	python3 "$WS_ROOT/tests/support/mutate_wheel.py" "$KEYS"/first/dist/*.whl "www/x/files/$name" anytorch
	serve "$PWD/www"
	export WHEELSMITH_INDEX=$INDEX
	for server in "$NGINX" "$GRPC"; do
		rm -rf "$WHEELSMITH_STORE" dist m.lock.json
		writes_to "$server"
		build -0 --index "prebuilt=$INDEX"
		[ -e "dist/$name" ]
		[ "$(downloads)" -gt 0 ]

		reads_from "$server"
		rm -rf "$WHEELSMITH_STORE" dist m.lock.json
		: > "$ASKED"
		build -0 --index "prebuilt=$INDEX" # its page promises the digest and the size
		cmp "dist/$name" "www/x/files/$name"
		[ "$(downloads)" -eq 0 ]

		rm -rf "$WHEELSMITH_STORE" dist
		: > "$ASKED"
		build -0 --index "prebuilt=http://127.0.0.1:$PORT/~html/x/simple" # a page without a size
		cmp "dist/$name" "www/x/files/$name"
		[ "$(downloads)" -eq 0 ]
	done
	unserve
}
