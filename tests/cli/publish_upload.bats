#!/usr/bin/env bats
# publish --to URL: the upload API against pypiserver and devpi, and against a server that misbehaves.
# labels: network
# timeout: 500

bats_require_minimum_version 1.5.0
load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export HOME="$PWD/home" PIP_DISABLE_PIP_VERSION_CHECK=1
	python3 -m venv tools
	tools/bin/pip install --quiet pypiserver passlib devpi-server h2
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	tools=$BATS_FILE_TMPDIR/tools/bin
	unset WHEELSMITH_UPLOAD_USER WHEELSMITH_UPLOAD_PASSWORD TWINE_USERNAME TWINE_PASSWORD NETRC
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*" \
		"demo 1.0+cu.12.4.torch.2.5.sm.90 cp311-cp311-linux_x86_64 torch==2.5.* size=2000000"
}

teardown() {
	[ -z "${server:-}" ] || kill "$server" 2> /dev/null || true
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" 2> /dev/null || true
}

publish() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "-$status" "$WHEELSMITH" publish "$@"
	echo "$output"
	[[ $output != *sesame* ]]
}

answers() { # URL
	local i
	for ((i = 0; i < 300; i++)); do
		! curl -s -o /dev/null "$1" || return 0
		sleep 0.1
	done
	return 1
}

pypiserver() {
	port=$(free_port)
	mkdir -p packages
	printf 'alice:%s\n' "$(openssl passwd -apr1 sesame)" > htpasswd
	"$tools/pypi-server" run -i 127.0.0.1 -p "$port" -P htpasswd -a update --disable-fallback --hash-algo sha256 packages \
		> server.log 2>&1 3>&- &
	server=$!
	answers "http://127.0.0.1:$port/"
}

devpi() {
	port=$(free_port)
	"$tools/devpi-init" --serverdir devpi --root-passwd rootpw --no-root-pypi > server.log 2>&1
	"$tools/devpi-server" --serverdir devpi --host 127.0.0.1 --port "$port" >> server.log 2>&1 3>&- &
	server=$!
	answers "http://127.0.0.1:$port/+api"
	python3 - "http://127.0.0.1:$port" <<- 'END'
		import base64, json, sys, urllib.request
		def call(method, path, data, token=None):
		    headers = {"Content-Type": "application/json", "Accept": "application/json"}
		    if token:
		        headers["X-Devpi-Auth"] = base64.b64encode(f"root:{token}".encode()).decode()
		    request = urllib.request.Request(sys.argv[1] + path, json.dumps(data).encode(), headers, method=method)
		    return json.load(urllib.request.urlopen(request))
		token = call("POST", "/+login", {"user": "root", "password": "rootpw"})["result"]["password"]
		call("PUT", "/ws", {"password": "sesame"}, token)
		call("PUT", "/ws/cu124", {"type": "stage", "bases": [], "volatile": False}, token)
	END
}

@test "pypiserver: sent, sent again, other contents, logins" {
	pypiserver
	local url=http://127.0.0.1:$port/
	publish 8 w --to "$url"
	[[ $output == *"requires a login (401)"*"netrc, environment or file"* ]]
	printf 'alice\nwrong\n' > login
	publish 8 w --to "$url" --login login
	[[ $output == *"denies access to this login (403)"*"the user or password that was given is not right"* ]]
	printf 'alice\nsesame\n' > login
	publish 0 w --to "$url" --login login
	[[ $output == *"2 uploaded, 0 there already"* ]]
	cmp w/*sm.86*.whl packages/*sm.86*.whl
	cmp w/*sm.90*.whl packages/*sm.90*.whl
	WHEELSMITH_UPLOAD_USER=alice WHEELSMITH_UPLOAD_PASSWORD=sesame publish 0 w --to "$url" --json
	jq -e '.sent == 0 and .there == 2' <<< "${output##*already}"
	# Its answer is 409 where the index to compare with is not known.
	TWINE_USERNAME=alice TWINE_PASSWORD=sesame publish 8 w --to "$url" --check-url "${url}nothing"
	[[ $output == *"has a file of this name already (409)"*"the server says: "*"Conflict"* ]]
	wheels v "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.* METADATA:Summary:_other"
	publish 8 v --to "$url" --login login
	[[ $output == *"is published with other contents"* ]]
	cmp w/*sm.86*.whl packages/*sm.86*.whl
	"$tools/pip" download --quiet --no-deps --dest got --index-url "${url}simple/" --only-binary :all: --python-version 3.11 \
		--platform linux_x86_64 "demo==1.0+cu.12.4.torch.2.5.sm.90"
	cmp w/*sm.90*.whl got/*.whl
}

@test "devpi: by netrc; sent, sent again, other contents" {
	devpi
	local url=http://127.0.0.1:$port/ws/cu124/
	publish 8 w --to "$url"
	[[ $output == *"requires a login (401)"* ]]
	printf 'machine 127.0.0.1 login ws password sesame\n' > netrc
	export NETRC=$PWD/netrc
	publish 0 w --to "$url"
	[[ $output == *"2 uploaded, 0 there already"* ]]
	publish 0 w --to "$url"
	[[ $output == *"0 uploaded, 2 there already"* ]]
	# It says so with a page, which is not believed where the index that was named does not have it.
	publish 8 w --to "$url" --check-url "$url+nowhere"
	[[ $output == *"with an HTML page (200)"*"the server says: 200 Upload of identical file"*"where its simple index is"* ]]
	wheels v "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.* METADATA:Summary:_other"
	publish 8 v --to "$url"
	[[ $output == *"is published with other contents"* ]]
	publish 8 v --to "$url" --check-url "$url+nowhere"
	[[ $output == *"has a file of this name already (409)"*"the server says: 409 demo-1.0"*"already exists"* ]]
}

# A server that does as it is told, at $url; its files at served/p/files.
faulty() {
	mkdir -p served
	# shellcheck disable=SC2034 # COPROC is read
	coproc python3 "$WS_ROOT/tests/support/fault_server.py" served log
	local word rest
	read -r word port rest <&"${COPROC[0]}"
	[ "$word" = ready ]
	url=http://127.0.0.1:$port
}

@test "the form: all fields of METADATA, the digest, what servers insist on" {
	faulty
	wheels x "full 2.0 py2.py3-none-any torch>=2 METADATA:Summary:_short METADATA:Classifier:_A METADATA:Classifier:_B
		METADATA:Project-URL:_Home,https://h.example METADATA:Requires-Python:_>=3.9"
	publish 0 x --to "$url/p/legacy/"
	cmp x/*.whl served/p/files/*.whl
	grep '"method": "POST"' log > posts
	jq -e '.fields | .[":action"] == ["file_upload"] and .protocol_version == ["1"] and .filetype == ["bdist_wheel"]
		and .pyversion == ["py2.py3"] and .name == ["full"] and .version == ["2.0"] and .metadata_version == ["2.1"]
		and .summary == ["short"] and .classifiers == ["A", "B"] and .project_urls == ["Home,https://h.example"]
		and .requires_python == [">=3.9"] and .requires_dist == ["torch>=2"] and (.sha256_digest[0] | length == 64)' posts
	publish 0 w --to "$url/p/legacy/"
	tail -1 log | jq -e '.fields.requires_python == [""]'
}

@test "an answer that is lost, a server that fails twice, somebody who was faster" {
	faulty
	publish 0 w --to "$url/~lost:1/p/legacy/"
	[[ $output == *"1 uploaded, 1 there already"* ]]
	[ "$(find served/p/files -name '*.whl' | wc -l)" -eq 2 ]
	publish 0 w --to "$url/~status=503:2/q/legacy/"
	[[ $output == *"2 uploaded, 0 there already"* ]]
	# What the index does not show yet when it is asked first.
	publish 0 w --to "$url/q/legacy/" --check-url "$url/~status=404:1/q/simple"
	[[ $output == *"0 uploaded, 2 there already"* ]]
	wheels v "demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.* METADATA:Summary:_other"
	publish 8 v --to "$url/q/legacy/" --check-url "$url/~status=404:1,json/q/simple"
	[[ $output == *"is published with other contents"* ]]
}

@test "refusals are one clear line each, and what was sent stays" {
	faulty
	local one
	for one in 403:"denies access" 413:"does not take a file of this size" 401:"requires a login" 507:"has no space left"; do
		publish 8 w --to "$url/~early=${one%%:*}/p/legacy/"
		[[ ${lines[0]} == "error: cannot upload 'demo-1.0+cu.12.4.torch.2.5.sm.86-"*"'127.0.0.1' ${one#*:} (${one%%:*})" ]]
		[ "$(grep -c '^error:' <<< "$output")" -eq 1 ]
	done
	[[ $(publish 8 w --to "$url/~early=413/p/legacy/") == *"the server says: no, thank you"* ]]
	publish 8 w --to "$url/~status=500/p/legacy/"
	[[ $output == *"failed (500)"*"it was tried 5 times"* ]]
	publish 8 w --to "$url/~redirect=1/p/legacy/"
	[[ $output == *"redirects, which is not followed"*"the address it names: $url/p/legacy/"* ]]
	publish 8 w --to "$url/~ftp/p/legacy/"
	[[ ${lines[0]} == "error: cannot upload 'demo-1.0"*"redirects to 'ftp://127.0.0.1/x', which is not an http(s) URL" ]]
	kill "$COPROC_PID"
	wait "$COPROC_PID" 2> /dev/null || true
	publish 8 w --to "$url/p/legacy/"
	[[ $output == *"cannot be reached"* ]]
	[ ! -e served/p ]
	publish 2 w --to "http://u:sesame@127.0.0.1:$port/legacy/"
	[[ $output == *"a login in the URL would be seen by others"* ]]
	publish 2 w --to "$url/" --check-url "http://u:sesame@127.0.0.1:$port/simple"
	[[ $output == *"a login in the URL would be seen by others"* ]]
	publish 2 w --to ftp://h/x
	publish 2 --to "$url/"
	publish 2 w --to "$url/" --key k
	publish 2 w --to idx --login l
	publish 3 w --to "$url/" --login /dev/null
	publish 8 nowhere --to "$url/"
}

@test "nothing is sent before all wheels are judged; logins of a file" {
	faulty
	mkdir bad
	cp w/*sm.86*.whl bad/
	head -c 300 w/*sm.90*.whl > bad/cut-1.0-py3-none-any.whl
	publish 8 w bad --to "$url/p/legacy/"
	run -1 grep '"method": "POST"' log
	printf 'ws\nopen\n' > login
	publish 0 w --to "$url/~auth=ws:open/p/legacy/" --login login
	printf 'open\n' > login
	publish 0 w --to "$url/~auth=__token__:open/r/legacy/" --login login
}

@test "a large wheel is not held in memory" {
	faulty
	wheels big "big 1.0 py3-none-any size=60000000"
	run_below_40_mb "$WHEELSMITH" publish big --to "$url/p/legacy/"
	cmp big/*.whl served/p/files/*.whl
}

# A server of packages, PYTHON: get(path) and post(path, body) answer (status, text). What is posted goes to ./posted.
told() { # PYTHON
	# shellcheck disable=SC2034 # COPROC is read
	coproc python3 -c '
import glob, http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def send(self, status, text, type="text/html"):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Content-Type", type)
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self): self.send(*get(self.path))
    def do_POST(self):
        wanted = int(self.headers["Content-Length"])
        body = self.rfile.read(wanted)
        open("posted", "ab").write(body)
        if len(body) == wanted: self.send(*post(self.path, body))
exec(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("ready", server.server_address[1], flush=True)
server.serve_forever()' "$1"
	local word
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	url=http://127.0.0.1:$port
}

@test "a wheel that is changed after it was read is not sent to its end" {
	# It is the same size still; the server is asked what it has after all wheels were hashed, and before any is sent.
	told '
def get(path):
    for wheel in glob.glob("w/*.whl"):
        with open(wheel, "r+b") as file:
            file.seek(40); file.write(b"changed")
    return 404, ""
def post(path, body): return 200, ""'
	publish 8 w --to "$url/legacy/"
	[[ $output == *"cannot upload 'demo-1.0"*"changed"* ]]
	# Without its last boundary a form is not one.
	run ! grep -aq -e '--$' <(tail -c 4 posted)
	[ "$(grep -c 'uploaded' <<< "$output")" -eq 0 ]
}

@test "a guess that cannot be read is not the last one; where none is answered, a refusal says so" {
	told '
def get(path):
    if "+simple" not in path: return 200, "{", "application/vnd.pypi.simple.v1+json"
    name = glob.glob("w/*86*.whl")[0][2:]
    return 200, f"<a href=../{name}#sha256={64 * chr(48)}>{name}</a>".replace("+", "%2B", 2)
def post(path, body): return 200, ""'
	publish 8 w --to "$url/p/"
	[[ $output == *"is published with other contents (sha256 000000000000..."* ]]
	[ ! -e posted ]
	kill "$COPROC_PID"
	wait "$COPROC_PID" 2> /dev/null || true
	told '
def get(path): return 200, "{", "application/vnd.pypi.simple.v1+json"
def post(path, body): return 409, "it exists"'
	publish 8 w --to "$url/p/"
	[[ $output == *"has a file of this name already (409)"*"the server says: it exists"* ]]
	[[ $output == *"could not compare with the published file: looking for 'demo' on an index: "* ]]
}

@test "an HTML page, such as that of a login, is no upload, unless the index has the wheel then" {
	told '
def get(path): return 404, ""
def post(path, body): return 200, "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please log in</body></html>"'
	publish 8 w --to "$url/p/"
	[[ ${lines[0]} == "error: '127.0.0.1' answered the upload of 'demo-1.0"*"' with an HTML page (200), and its index does not list that file" ]]
	[[ $output == *"the server says: Please log in"*"where its simple index is"* ]]
	[ "$(grep -c 'uploaded$' <<< "$output")" -eq 0 ]
	kill "$COPROC_PID"
	wait "$COPROC_PID" 2> /dev/null || true
	told '
import hashlib
def get(path):
    names = sorted(glob.glob("w/*.whl")) if glob.glob("posted") else []
    return 200, "".join(f"<a href=../{n[2:]}#sha256={hashlib.sha256(open(n, chr(114) + chr(98)).read()).hexdigest()}>{n[2:]}</a>" for n in names).replace("+", "%2B")
def post(path, body): return 200, "<html><body>Thank you</body></html>"'
	rm -f posted
	publish 0 w --to "$url/p/" --check-url "$url/simple"
}

@test "a login that a server sends back is not printed, in no spelling" {
	told '
import base64, html, urllib.parse
words = ["s<e&same", html.escape("s<e&same"), urllib.parse.quote("s<e&same"), base64.b64encode(b"alice:s<e&same").decode()]
def get(path): return 404, ""
def post(path, body): return 403, "this is not right: " + words.pop(0)'
	printf 'machine 127.0.0.1\nlogin alice\npassword s<e&same\n' > netrc
	local i
	for i in 1 2 3 4; do
		NETRC=$PWD/netrc publish 8 w --to "$url/p/"
		[[ $output == *"denies access to this login (403)"*"the server says something with the login in it, which is not shown"* ]]
		[[ $output != *"this is not right"* ]]
	done
}

@test "a password that goes over http is warned of, wherever it comes from" {
	local warning="warning: the password for 'wheels.invalid' goes over the network without encryption: use https"
	printf 'machine other.invalid login bob password open\nmachine wheels.invalid login alice password sesame\n' > netrc
	NETRC=$PWD/netrc publish 8 nowhere --to http://wheels.invalid/legacy/
	[[ $output == *"$warning"* ]]
	printf 'default login alice password sesame\n' > netrc
	NETRC=$PWD/netrc publish 8 nowhere --to http://wheels.invalid/legacy/
	[[ $output == *"$warning"* ]]
	printf 'machine other.invalid login bob password open\n' > netrc
	NETRC=$PWD/netrc publish 8 nowhere --to http://wheels.invalid/legacy/
	[[ $output != *warning* ]]
	WHEELSMITH_UPLOAD_USER=alice WHEELSMITH_UPLOAD_PASSWORD=sesame publish 8 nowhere --to http://wheels.invalid/legacy/
	[[ $output == *"$warning"* ]]
}

# libcurl before 8 loses such an answer where the stream is reset behind it, as HTTP/2 asks a server to do.
@test "an answer that comes before the wheel is sent is the answer, whatever the server speaks" {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out c.pem -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 2> openssl.log
	local word port
	coproc "$tools/python" "$WS_ROOT/tests/support/early_server.py" c.pem key.pem 403 early.log
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
	PIP_CERT=$PWD/c.pem publish 8 w --to "https://127.0.0.1:$port/"
	[[ $output == *"denies access"*"(403)"*"the server says: "*"decided early"* ]]
	[ "$(< early.log)" = http/1.1 ]
}

@test "an answer that does not end is not waited for" {
	coproc python3 "$WS_ROOT/tests/support/endless_server.py"
	local port
	read -r port <&"${COPROC[0]}"
	run -8 timeout 60 "$WHEELSMITH" publish w --to "http://127.0.0.1:$port/legacy/"
	[[ $output == *"error: the server's answer to 'demo-1.0+cu.12.4.torch.2.5.sm."*"' does not end"* ]]
}
