#!/usr/bin/env bats
# Wheels that others built: from an index, from a folder, from the place that a recipe names. Each is
# opened before it is used.
# labels: cuda
# timeout: 600

load building

setup_file() {
	make_base
	export BASE WHEEL OTHER
	cd "$BATS_FILE_TMPDIR" || return
	BATS_TEST_TMPDIR=$PWD in_place
	only_host
	ws build --matrix m.json --offline --policy build-only
	WHEEL=$(echo "$PWD"/dist/*.whl)
	# A module that needs a name which torch exports under the other ABI alone.
	cat > other.cpp <<- 'END'
		extern "C" void _ZN3c105ErrorC2ENS_14SourceLocationESs();
		extern "C" void *PyInit__C() { _ZN3c105ErrorC2ENS_14SourceLocationESs(); return nullptr; }
	END
	OTHER=$PWD/other.so
	g++ -shared -fPIC -o "$OTHER" other.cpp
}

setup() {
	in_place
	only_host
	mkdir -p www/x/files
}

teardown() {
	[ -z "${PORT:-}" ] || unserve
	[ -z "${NGINX:-}" ] || kill "$NGINX" 2> /dev/null || true
}

# A wheel of tiny 1.0 in the index, by the label after the version.
offer() { # KIND LABEL [FOLDER]
	local name=tiny-1.0+$2-$CP-$CP-linux_x86_64.whl
	python3 "$WS_ROOT/tests/support/mutate_wheel.py" "$WHEEL" "${3:-www/x/files}/$name" "$1" "$OTHER"
}

# Serves what was offered as prebuilt wheels, with FAULTS.
serve_wheels() { # [FAULTS]
	serve www
	PREBUILT=http://127.0.0.1:$PORT/${1:+~$1/}x/simple
}

requests() {
	wc -l < "$ASKED"
}

tried() {
	built '.cells[0].tried[] | [.what, .name, .why] | @tsv'
}

@test "a wheel of an index that loads is taken as it is, pinned, and not asked for again" {
	offer whole cu13torch2.11
	serve_wheels
	GITHUB_STEP_SUMMARY=$PWD/summary.md build -0 --index "prebuilt=$PREBUILT"
	grep -qF "| \`$CELL\` | ready (prebuilt) | tiny-1.0+cu13torch2.11-" summary.md
	[[ "$stderr" == *"1 cell: 0 to build, 1 prebuilt, 0 cached, 0 excluded"* ]]
	[[ "$stderr" == *"1 ready (1 prebuilt), 0 failed"* ]]
	not grep -q compile <<< "$stderr"
	local name=tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl
	cmp "dist/$name" "$WHEEL"
	[ "$(built '.cells[0] | .decision, .version, .torch')" = $'prebuilt\n1.0+cu13torch2.11\n2.11.0' ]
	[ "$(built '.cells[0].metadata_version')" = "$(unzip -p "$WHEEL" '*.dist-info/METADATA' | sed -n 's/^Version: //p')" ]
	[ "$(grep -cx "torch==$TORCH" dist/requirements.txt)" -eq 1 ]
	# It was renamed: pip would find none of that version.
	grep -qF "./$name ; python_version == \"$PY\"" dist/requirements.txt
	(cd dist && python3 -m pip install -q --dry-run --target nowhere --require-hashes --no-deps --no-index --find-links . \
		-r <(grep -v ^torch== requirements.txt))
	[ "$(jq -r '.prebuilt[] | .package, .wheel, .sha256' m.lock.json)" = \
		"tiny"$'\n'"$name"$'\n'"$(sha256sum < "$WHEEL" | cut -d' ' -f1)" ]
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" dist/build.json m.lock.json
	# A wheel that is known to load costs no request.
	local asked
	asked=$(requests)
	build -0 --index "prebuilt=$PREBUILT" --locked
	touch before
	ws -0 plan --matrix m.json --index "prebuilt=$PREBUILT" --resolve
	[[ "$output" == *" prebuilt "*" a wheel of 127.0.0.1 loads"* ]]
	# And no note is written again: each would wait for the disk.
	[ -z "$(find "$WHEELSMITH_STORE/ac" "$WHEELSMITH_STORE/cas" -type f -newer before)" ]
	[ "$(requests)" -eq "$asked" ]
	unserve
	PORT=
	rm -r dist
	build -0 --index "prebuilt=$PREBUILT" --offline
	cmp "dist/$name" "$WHEEL"
}

@test "wheels that do not match their names are refused, each with its reason, until one loads" {
	# In the order of trying: the exact CUDA first.
	offer module cu13.0torch2.11
	offer cut cu130torch2.11
	offer machine cu13torch2.11.1
	offer record cu13torch2.11.2
	offer name cu13torch2.11.3
	offer python cu13torch2.11.4
	offer needs cu13torch2.11.5
	offer torch cu13torch2.11.6
	offer whole torch2.11
	serve_wheels
	build -0 --index "prebuilt=$PREBUILT"
	tried
	[ "$(built '.cells[0].wheel')" = "tiny-1.0+torch2.11-$CP-$CP-linux_x86_64.whl" ]
	[ "$(built '.cells[0].tried | length')" -eq 8 ]
	tried | grep -q "cu13.0torch2.11-.*fails: .*torch 2.11.0 does not export: c10::Error::Error"
	tried | grep -q "cu130torch2.11-.*fails: "
	tried | grep -q "torch2.11.1-.*fails: .* is for another machine (aarch64), not for x86_64"
	tried | grep -q "torch2.11.2-.*fails: .*RECORD"
	tried | grep -q "torch2.11.3-.*fails: its METADATA is of not-tiny 1.0"
	tried | grep -q "torch2.11.4-.*fails: its WHEEL has the tag 'cp4"
	tried | grep -q "torch2.11.5-.*fails: its METADATA asks for Python >=4"
	tried | grep -q "torch2.11.6-.*fails: its METADATA asks for torch==2.9.*, which torch 2.11.0 is not"
	# Wheels that show the mistake in their metadata were never downloaded whole.
	[ "$(grep -c 'torch2.11.3.*"range": null' "$ASKED")" -eq 0 ]
	# One line each where a person asks.
	ws plan --matrix m.json --index "prebuilt=$PREBUILT" --why '*'
	[[ "$output" == *"its METADATA is of not-tiny 1.0"* ]]
	# Refused wheels stay refused without asking for them again.
	local asked
	asked=$(grep -c whl "$ASKED")
	rm m.lock.json
	cp "$BASE/m.lock.json" m.lock.json
	build -0 --index "prebuilt=$PREBUILT"
	[ "$(grep -c whl "$ASKED")" -eq "$asked" ]
}

@test "if none loads, the wheel is built, or the fallback of the matrix is used, or the cell is excluded" {
	offer module cu13torch2.11
	serve_wheels
	ws plan --matrix m.json --index "prebuilt=$PREBUILT" --resolve
	not grep -q "earlier run" <<< "$output"
	# If a build serves as well, newly published wheels are not looked for, and the output says so.
	ws plan --matrix m.json --index "prebuilt=$PREBUILT" --why '*'
	[[ "$output" == *"asked in an earlier run"*"to query them again:  wheelsmith lock --matrix m.json "*" --update tiny"* ]]
	build -0 --index "prebuilt=$PREBUILT"
	[ "$(built '.cells[0].decision')" = build ]
	tried | grep -q "prebuilt.*fails: "
	rm -r dist "$WHEELSMITH_STORE"
	from_base
	only_host
	matrix m.json '"fallback": {"tiny": "plain"}'
	build -0 --index "prebuilt=$PREBUILT" --policy prebuilt-only
	[ "$(built '.cells[0].decision')" = fallback ]
	[[ "$stderr" == *"falls back to plain: the wheel of 127.0.0.1: "*"does not export"* ]]
	tried | grep -q "prebuilt.*fails: "
	matrix m.json
	build -3 --index "prebuilt=$PREBUILT" --policy prebuilt-only
	[[ "$stderr" == *"every cell is excluded"*"does not export"* ]]
}

@test "other bytes than those that the lock pins are an error under every policy" {
	offer whole cu13torch2.11
	serve_wheels
	ws -0 lock --matrix m.json --index "prebuilt=$PREBUILT"
	[[ "$stderr" == *", 1 prebuilt wheels"* ]]
	offer record cu13torch2.11
	rm -r "$WHEELSMITH_STORE"
	local lock
	lock=$(cat m.lock.json)
	from_base
	only_host
	echo "$lock" > m.lock.json
	build -4 --index "prebuilt=$PREBUILT"
	[[ "$stderr" == *"is not the wheel that the lock pins"*"lock --matrix m.json "*"--update tiny"* ]]
	not ls dist/*.whl
	# Said with the right name, what is there now is judged.
	ws -0 lock --matrix m.json --index "prebuilt=$PREBUILT" --update tiny
	[ "$(jq '.prebuilt' m.lock.json)" = null ]
}

@test "a lock that pins no wheel admits none; what it pins and the store lacks is listed" {
	offer whole cu13torch2.11
	serve_wheels
	matrix m.json '"policy": "build-only"'
	ws -0 lock --matrix m.json
	matrix m.json
	build -0 --index "prebuilt=$PREBUILT" --locked
	[ "$(built '.cells[0].decision')" = build ]
	[ "$(requests)" -eq 0 ]
	cp m.lock.json locked.json
	rm -r dist "$WHEELSMITH_STORE"
	from_base
	only_host
	cp locked.json m.lock.json
	ws -0 fetch --matrix m.json --index "prebuilt=$PREBUILT"
	[[ "$stderr" == *"1 prebuilt wheel is in the store"* ]]
	cp m.lock.json pinned.json
	rm -r "$WHEELSMITH_STORE"
	from_base
	only_host
	cp pinned.json m.lock.json
	build -0 --index "prebuilt=$PREBUILT" --locked
	[ "$(built '.cells[0].decision')" = prebuilt ]
	rm -r "$WHEELSMITH_STORE"
	from_base
	only_host
	cp pinned.json m.lock.json
	# The names are the index's: a recipe's would be known without it.
	recipe 'r["prebuilt"] = [{"from": "us", "url": "'"http://127.0.0.1:$PORT"'/x/files/tiny-{version}+cu{cuda}torch{torch}-{python}-{python}-linux_x86_64.whl",
		"cuda": ["13"], "torch": ["2.11"], "python": ["'"$PY"'"]}]'
	build -4 --offline
	[[ "$stderr" == *"1 download is missing"*"prebuilt wheels: tiny-1.0+cu13torch2.11"* ]]
}

@test "a recipe's templates name what was published, and only that is asked for" {
	offer whole cu13torch2.11
	serve_wheels
	recipe 'r["prebuilt"] = [{"from": "us", "url": "'"http://127.0.0.1:$PORT"'/x/files/tiny-{version}+cu{cuda}torch{torch}-{python}-{python}-linux_x86_64.whl",
		"cuda": ["13"], "torch": ["2.10", "2.11"], "python": ["'"$PY"'"]}]'
	ws plan --matrix m.json
	[[ "$output" == *"prebuilt?"* ]]
	build -0
	[ "$(built '.cells[0].decision')" = prebuilt ]
	not grep -q 'torch2\.10' "$ASKED"
	ws plan --matrix m.json
	[[ "$output" == *" prebuilt "*"a wheel of us loads"* ]]
}

@test "with the window a wheel for another torch is a candidate, and pinned to the torch it was judged for" {
	offer torch cu13.0torch2.10
	offer anytorch cu13torch2.10
	serve_wheels
	build -0 --index "prebuilt=$PREBUILT"
	[ "$(built '.cells[0].decision')" = build ]
	rm -r dist "$WHEELSMITH_STORE"
	from_base
	only_host
	ws -0 fetch --matrix m.json --index "prebuilt=$PREBUILT" --torch-window
	[[ "$stderr" == *"1 prebuilt wheel is in the store"* ]]
	build -0 --index "prebuilt=$PREBUILT" --torch-window --locked --offline
	[ "$(built '.cells[0] | .decision, .version, .torch')" = $'prebuilt\n1.0+cu13torch2.10\n2.11.0' ]
	ws plan --matrix m.json --index "prebuilt=$PREBUILT" --torch-window --why '*'
	tr -s ' \n' ' ' <<< "$output" | grep -q "its METADATA asks for torch==2.9.*, which torch 2.11.0 is not"
	# pip holds it to that torch: what stands for torch here is its name and version alone.
	python3 -m venv venv
	local version
	for version in 2.10.0 "$TORCH"; do
		python3 "$WS_ROOT/tests/support/make_wheel.py" "torch-$version-py3-none-any.whl"
		venv/bin/pip install -q --no-index "./torch-$version-py3-none-any.whl"
		run venv/bin/pip install -q --no-index --find-links dist -r dist/requirements.txt
		grep -qF "tiny==1.0+cu13torch2.10 ; " dist/requirements.txt
		echo "$version: $output"
		if [ "$version" = "$TORCH" ]; then [ "$status" -eq 0 ]; else [ "$status" -ne 0 ]; fi
	done
}

@test "a server without ranges is asked once for the whole" {
	offer python cu13.0torch2.11
	offer whole cu13torch2.11
	serve_wheels norange
	build -0 --index "prebuilt=$PREBUILT"
	[ "$(built '.cells[0].decision')" = prebuilt ]
	tried | grep -q "its WHEEL has the tag 'cp4"
}

# nginx with what was offered: the first port serves parts of files and negotiates JSON, the second does neither.
serve_nginx() {
	mkdir -p www/simple/tiny tmp
	local file
	for file in www/x/files/*.whl; do
		echo "<a href=\"/x/files/${file##*/}#sha256=$(sha256sum < "$file" | cut -d' ' -f1)\">${file##*/}</a><br>"
	done > www/simple/tiny/index.html
	(cd www/x/files && sha256sum ./*.whl) | jq -R 'split("  ./") | {filename: .[1], url: ("/x/files/" + .[1]), hashes: {sha256: .[0]}}' |
		jq -s '{meta: {"api-version": "1.0"}, name: "tiny", files: .}' > www/simple/tiny/index.json
	read -r RANGES WHOLE < <(python3 -c '
import socket
s = [socket.socket() for _ in "ab"]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*(x.getsockname()[1] for x in s))')
	cat > nginx.conf <<- END
		daemon off; master_process off; pid nginx.pid; error_log error.log; worker_processes 1;
		events { worker_connections 64; }
		http {
			log_format short '\$status \$request_uri \$sent_http_content_type'; access_log access.log short;
			client_body_temp_path tmp/b; proxy_temp_path tmp/p; fastcgi_temp_path tmp/f; uwsgi_temp_path tmp/u; scgi_temp_path tmp/s;
			types { text/html html; } default_type application/octet-stream;
			map \$http_accept \$page { default index.html; "~vnd.pypi.simple.v1.json" index.json; }
			server {
				listen 127.0.0.1:$RANGES; root www;
				location ~ ^/simple/[^/]+/\$ {
					try_files \$uri\$page =404; types { text/html html; application/vnd.pypi.simple.v1+json json; } add_header Vary Accept;
				}
			}
			server { listen 127.0.0.1:$WHOLE; root www; max_ranges 0; }
		}
	END
	nginx -p "$PWD/" -c "$PWD/nginx.conf" -e "$PWD/error.log" 3>&- 9>&- &
	NGINX=$!
	wait_for 10 curl -sf -o page "http://127.0.0.1:$WHOLE/simple/tiny/"
}

@test "nginx serves wheels, by parts and whole" {
	needs nginx curl
	offer python cu13.0torch2.11
	offer whole cu13torch2.11
	serve_nginx
	local port name=tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl lying=cu13.0torch2.11-$CP
	for port in $RANGES $WHOLE; do
		build --index "prebuilt=http://127.0.0.1:$port/simple" --policy prebuilt-only
		[ "$status" -eq 0 ] && [ "$(built '.cells[0].decision')" = prebuilt ]
		cmp "dist/$name" "$WHEEL"
		tried | grep -q "its WHEEL has the tag 'cp4"
		cat access.log
		if [ "$port" = "$RANGES" ]; then
			# A wheel that contradicts its name is not downloaded.
			grep -q '^206 .*'"$lying" access.log
			not grep -q '^200 .*'"$lying" access.log
			grep -q '^200 /simple/tiny/ .*json' access.log
		fi
		rm -r dist "$WHEELSMITH_STORE"
		from_base
		only_host
	done
	kill "$NGINX"
	grep -q '^200 .*'"$lying" access.log
	grep -q '^200 /simple/tiny/ text/html' access.log
}

@test "a login in the URL of an index is used for its files and written into no record" {
	offer whole cu13torch2.11
	serve_wheels auth=me:secret
	build -0 --index "prebuilt=http://me:secret@${PREBUILT#http://}"
	[ "$(built '.cells[0].decision')" = prebuilt ]
	not grep -rq secret@ m.lock.json dist/build.json
	not grep -q secret@ <<< "$stderr"
}

@test "a folder of wheels serves like an index" {
	mkdir wheels
	offer module cu13.0torch2.11 wheels
	offer whole cu13torch2.11 wheels
	matrix m.json '"indexes": {"prebuilt": "wheels"}'
	build -0 --offline
	[ "$(built '.cells[0].decision')" = prebuilt ]
	[ "$(built '.cells[0].tried | length')" -eq 1 ]
	[ "$(jq -r '.prebuilt[0].from' m.lock.json)" = "$PWD/wheels/tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl" ]
	# A file that is replaced is judged anew, and is not what was pinned.
	offer module cu13torch2.11 wheels
	build -4 --offline
	[[ "$stderr" == *"is not the wheel that the lock pins"* ]]
}

@test "a wheel without what its recipe imports, or without code for GPUs, is not taken" {
	mkdir wheels
	tiny "$PWD" # with its kernel
	recipe 'r["check"] = {"import": ["tiny._C"]}'
	gcc -shared -fPIC -x c -o cpu.so - <<< 'void *PyInit__C(void) { return 0; }'
	OTHER=$PWD/cpu.so offer module cu13.0torch2.11 wheels
	echo 'answer = None' > pure.py
	python3 "$WS_ROOT/tests/support/make_wheel.py" "wheels/tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl" tiny/__init__.py=pure.py
	matrix m.json '"indexes": {"prebuilt": "wheels"}'
	build -0 --offline
	tried | grep -q "cu13.0torch2.11-.*fails: no module of it has GPU code; its recipe compiles kernels"
	tried | grep -q "cu13torch2.11-.*fails: it has no module 'tiny._C', which its recipe imports"
	[[ "$(built ".cells[0].wheel")" == tiny-1.0+cu.13.0.torch.2.11.sm.86-* ]]
}

@test "servers that do not answer cost a build six seconds in all, and one warning each" {
	serve_wheels silent
	local other began
	other=http://localhost:$PORT/~silent
	recipe 'r["prebuilt"] = [{"from": "us", "url": "'"$other"'/tiny-{version}+cu{cuda}torch{torch}-{python}-{python}-linux_x86_64.whl",
		"cuda": ["130", "13"], "torch": ["2.11"], "python": ["'"$PY"'"]}]'
	began=$(date +%s%N)
	ws -0 plan --matrix m.json --index "prebuilt=$PREBUILT" --resolve
	local took=$((($(date +%s%N) - began) / 1000000))
	echo "took $took ms"
	[ "$took" -ge 5000 ]
	[ "$took" -lt 7000 ]
	[ "$(grep -c warning <<< "$stderr")" -eq 2 ]
	[ "$(requests)" -eq 2 ]
	build -0 --index "prebuilt=$PREBUILT"
	[ "$(built '.cells[0].decision')" = build ]
}

@test "where nothing may be built a server that does not answer is exit 4, and no fallback" {
	matrix m.json '"fallback": {"tiny": "plain"}'
	build -4 --index prebuilt=http://127.0.0.1:9/simple --policy prebuilt-only
	[ "$(built '.cells[0].decision')" = failed ]
	ws -0 fetch --matrix m.json --index prebuilt=http://127.0.0.1:9/simple
}

@test "a build that fails is replaced by a wheel that loads, with a warning" {
	offer module cu13.0torch2.11
	offer whole cu13torch2.11
	serve_wheels
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -0 --index "prebuilt=$PREBUILT" --policy prefer-build
	[[ "$stderr" == *"warning: $CELL: the build failed; 'tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl' of 127.0.0.1 is taken"* ]]
	[ "$(built '.cells[0].decision')" = prebuilt ]
	tried
	[ "$(built '.cells[0].tried[].what' | tr '\n' ' ')" = "build prebuilt " ]
	cmp dist/*.whl "$WHEEL"
}

@test "two wheels of one name and other bytes are two candidates, run after run" {
	mkdir one two
	offer module cu13torch2.11 one
	offer whole cu13torch2.11 two
	local name=tiny-1.0+cu13torch2.11-$CP-$CP-linux_x86_64.whl
	cp m.lock.json pinned.json
	for _ in 1 2; do
		rm -rf dist "$WHEELSMITH_STORE"
		from_base
		only_host
		cp pinned.json m.lock.json
		matrix m.json '"indexes": {"prebuilt": ["one", "two"]}'
		build -0 --offline
		[ "$(built '.cells[0].decision')" = prebuilt ]
		cmp "dist/$name" "$WHEEL"
		[ "$(built '.cells[0].sha256')" = "$(jq -r '.prebuilt[0].sha256' m.lock.json)" ]
		[ "$(jq -r '.prebuilt[].from' m.lock.json)" = "$PWD/two/$name" ]
		cp m.lock.json pinned.json
	done
	# Once more without the lock: the verdict on one does not decide about the other.
	cp "$BASE/m.lock.json" m.lock.json
	rm -r dist
	build -0 --offline
	tried | grep -q "prebuilt.*fails: .*does not export"
	cmp "dist/$name" "$WHEEL"
}
