#!/usr/bin/env bats
# The example server beside a torch that computes nothing: errors that stay, logs, which attention is tried, and the
# load generator. With a real torch it is server_real.bats's.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	export SERVER_TOKEN=secret-0123456789abcdef
	unset SERVER_TOKEN_FILE WHEELSMITH_ATTENTION
	SERVER=
	mkdir stub
	cat > stub/torch.py <<- 'END'
		import os

		class Anything:
		    """Takes every call; differs from nothing."""
		    def __getattr__(self, name):
		        return self
		    def __call__(self, *words, **named):
		        return self
		    def __sub__(self, other):
		        return self
		    def __gt__(self, other):
		        return False

		class cuda:
		    is_available = staticmethod(lambda: False)
		    device_count = staticmethod(lambda: int(os.environ.get("GPUS", "0")))
		    get_device_name = staticmethod("GPU {}".format)

		class device(str):
		    type = property(str)

		__getattr__ = lambda name: Anything()
	END
}

teardown() {
	[ -z "$SERVER" ] || kill -KILL "$SERVER" 2> /dev/null || true
}

# ---- the server ----

# server.py beside a model that fails once for the prompt "!", and for ever after the prompt "?".
serve() { # [SERVER.PY]
	cp "$WS_ROOT"/examples/server/{server,attend}.py stub
	[ $# -eq 0 ] || cp "$1" stub/server.py
	cat > stub/model.py <<- 'END'
		class Model:
		    context, gone = 1024, False
		    def complete(self, prompts, most, prefill, decode):
		        self.gone = self.gone or [63] in prompts
		        if self.gone or [33] in prompts:
		            raise RuntimeError("CUDA error")
		        return [[97] * n for n in most]

		make = lambda device, dtype: Model()
	END
	PYTHONPATH=$PWD/stub python3 stub/server.py --host 127.0.0.1 --port 0 > port 2> log 3>&- &
	SERVER=$!
	for _ in $(seq 100); do
		[ -s port ] && break
		sleep 0.1
	done
	URL=http://127.0.0.1:$(sed -n 's/^port //p' port)
	for _ in $(seq 100); do
		[ "$(code "$URL/health")" != 200 ] || return 0
		sleep 0.1
	done
	cat log
	return 1
}

code() { # CURL ARGUMENTS
	curl -s -o /dev/null -w '%{http_code}' "$@"
}

complete() { # PROMPT
	code -H "Authorization: Bearer $SERVER_TOKEN" -d "{\"prompt\": \"$1\"}" "$URL/v1/completions"
}

raw() { # what is sent, as printf takes it
	local to
	exec {to}<> "/dev/tcp/127.0.0.1/${URL##*:}"
	# shellcheck disable=SC2059
	printf "$1" > sent
	cat sent >&"$to" # at once: bash writes line by line, and the server may have ended the connection by then
	# A body that the server leaves unread resets the connection, behind the answer.
	timeout 5 cat <&"$to" > answer || [ $? -ne 124 ]
	exec {to}>&-
}

@test "an error of one batch is that batch's; one that stays ends the server with 1" {
	local ended=0
	serve
	[ "$(complete 'hello')" = 200 ]
	[ "$(complete '!')" = 500 ]
	[ "$(complete 'hello')" = 200 ]
	[ "$(complete '?')" = 500 ]
	for _ in $(seq 100); do
		kill -0 "$SERVER" 2> /dev/null || break
		[ "$(code "$URL/health")" != 200 ]
		sleep 0.1
	done
	run ! kill -0 "$SERVER"
	wait "$SERVER" || ended=$?
	SERVER=
	cat log
	[ "$ended" -eq 1 ]
	grep -q 'nothing can be computed any more: RuntimeError: CUDA error' log
}

@test "the log has no byte that a client sent" {
	serve
	# A method with an escape sequence in it, and what is not HTTP.
	raw 'G\033[2JET /health HTTP/1.1\r\nHost: a\r\n\r\n'
	raw 'secret\033]0;x\007 /\033[1m HTTP/1.1\r\nHost: a\r\n\r\n'
	[ "$(code -I "$URL/health")" = 200 ]
	[ "$(code -X DELETE "$URL/health")" = 501 ]
	cat -v log
	run ! grep -q -e $'\033' -e secret log
	grep -qx "HEAD '/health' 200" log
	[ "$(grep -c "^- .* 501$" log)" -eq 3 ]
}

@test "an unread body is not parsed as the next request, and a second length is refused" {
	local head='Host: a\r\nContent-Length: 38\r\n\r\n' next='GET /next HTTP/1.1\r\nHost: a\r\nX-A: 12\r\n\r\n'
	serve
	raw "GET /health HTTP/1.1\r\n$head$next"
	[ "$(grep -c '^HTTP/1.1' answer)" -eq 1 ]
	raw "HEAD /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n$next"
	[ "$(grep -c '^HTTP/1.1' answer)" -eq 1 ]
	raw "POST /v1/completions HTTP/1.1\r\nAuthorization: Bearer $SERVER_TOKEN\r\nContent-Length: 15\r\nContent-Length: 90\r\n\r\n{\"prompt\": \"a\"}"
	grep -q '^HTTP/1.1 400' answer
	run ! grep /next log
}

@test "a request that comes a byte now and then has its time, and no more" {
	sed 's/^    timeout = 30 /    timeout = 1 /' "$WS_ROOT/examples/server/server.py" > slow.py
	run ! cmp -s slow.py "$WS_ROOT/examples/server/server.py"
	serve slow.py
	run -0 timeout 30 python3 - "${URL##*:}" <<- 'END'
		import socket, sys, time
		for start in b"GET /health HTTP/1.1\r\nX-A: ", b"P":
		    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
		        client.sendall(start)
		        client.settimeout(0.2)
		        for _ in range(50):
		            try:
		                client.sendall(b"x")
		                assert client.recv(1) == b""
		                break
		            except TimeoutError:
		                pass
		            except ConnectionError:
		                break
		        else:
		            sys.exit("it is still open")
	END
	[ "$(complete hello)" = 200 ]
	cat log
	run ! grep -q 'Error in a request' log
}

@test "as many half requests as it takes connections leave /health an answer" {
	serve
	run -0 timeout 60 python3 - "${URL##*:}" <<- 'END'
		import re, socket, sys
		most = int(re.search(r"^CONNECTIONS = (\d+)", open("stub/server.py").read(), re.M)[1])
		begin = lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10)
		half = []
		for i in range(most + 40):
		    half.append(begin())
		    half[-1].sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n")
		for i in range(20):
		    with begin() as client:
		        client.sendall(b"GET /health?live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		        assert client.recv(100).startswith(b"HTTP/1.1 200"), i
		# The last that began is finished, and answered.
		half[-1].sendall(b"\r\n")
		assert half[-1].recv(100).startswith(b"HTTP/1.1 200")
	END
	[ "$(complete hello)" = 200 ]
	cat log
	run ! grep -q 'Error in a request' log
}

@test "a line of the log is one write" {
	run -0 python3 - "$WS_ROOT/examples/server" <<- 'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import server
		writes = []
		class Log:
		    write, flush = writes.append, lambda self: None
		handler = server.Handler.__new__(server.Handler)
		handler.command, handler.path = "GET", "/health?live"
		sys.stderr = Log()
		handler.log_request(200)
		sys.stderr = sys.__stderr__
		print(writes)
	END
	[ "$output" = "[\"GET '/health' 200\\n\"]" ]
}

@test "a token that cannot be read is one line" {
	run -1 env SERVER_TOKEN_FILE="$PWD/none" python3 "$WS_ROOT/examples/server/server.py" --port 0
	[ "$output" = "SERVER_TOKEN_FILE '$PWD/none': No such file or directory" ]
	run -1 env SERVER_TOKEN_FILE="$PWD" python3 "$WS_ROOT/examples/server/server.py" --port 0
	[ "$output" = "SERVER_TOKEN_FILE '$PWD': Is a directory" ]
}

# ---- which attention ----

wheel_of() { # NAME PYTHON
	mkdir -p "stub/$1"
	printf '%s\n' "$2" > "stub/$1/__init__.py"
}

# The result of attend.report(), as JSON.
report() { # [VAR=VALUE...]
	run -0 env PYTHONPATH="$PWD/stub:$WS_ROOT/examples/server" "$@" \
		python3 -c 'import attend, json; print(json.dumps(attend.report()))'
	echo "$output"
}

@test "output of flash_attn at import and exit is not the report" {
	wheel_of flash_attn 'import atexit
print("{note}: triton is old")
atexit.register(print, "{bye}")'
	report
	[ "$(jq -c '[.attn, .problem]' <<< "$output")" = '["sdpa","RuntimeError: no GPU"]' ]
	wheel_of flash_attn 'print("{}"); raise SystemExit(3)'
	report
	[ "$(jq -c '[.attn, .problem]' <<< "$output")" = '["sdpa","SystemExit: 3"]' ]
	wheel_of flash_attn 'import os; print("{}", flush=True); os._exit(3)'
	report
	[ "$(jq -r .problem <<< "$output")" = "the attention that is installed ended its process with status 3" ]
}

@test "where wheelsmith_kernels does not load, a flash_attn that does is taken" {
	wheel_of wheelsmith_kernels 'import os; os.kill(os.getpid(), 11)'
	report GPUS=1
	[ "$(jq -r '.attn + ": " + .problem' <<< "$output")" = \
		"sdpa: the attention that is installed ended its process with signal 11" ]
	wheel_of flash_attn 'from torch import flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache'
	report GPUS=1
	[ "$(jq -r '[.attn, .ready, .problem] | join(" ")' <<< "$output")" = \
		"flash_attention_2 true the attention that is installed ended its process with signal 11" ]
	# It is flash_attn that is called, and the other one is not imported again.
	run -0 env PYTHONPATH="$PWD/stub:$WS_ROOT/examples/server" GPUS=1 python3 -c 'import attend
print(attend.functions(attend.report())[0].__module__, "flash_attn" in __import__("sys").modules)'
	[ "$output" = "attend True" ]
	# A named backend is never replaced.
	report GPUS=1 WHEELSMITH_ATTENTION=wsk
	[ "$(jq -r .attn <<< "$output")" = sdpa ]
}

@test "attention that hangs is passed over before a startup probe ends" {
	local seconds budget
	wheel_of wheelsmith_kernels 'import time; time.sleep(60)'
	wheel_of flash_attn 'import time; time.sleep(60)'
	run -0 timeout 20 env PYTHONPATH="$PWD/stub:$WS_ROOT/examples/server" python3 -c 'import attend
attend.TRIAL_S = 1
print(attend.report()["problem"])'
	[ "$output" = "the attention that is installed did not answer in 1 s" ]
	seconds=$(PYTHONPATH="$PWD/stub:$WS_ROOT/examples/server" python3 -c 'import attend; print(attend.TRIAL_S)')
	budget=$(($(sed -n '/startupProbe/,/failureThreshold/s/.*\(periodSeconds\|failureThreshold\): //p' \
		"$WS_ROOT/examples/server/deploy.yaml" | paste -sd '*')))
	# Two trials, and a minute for torch and the model.
	[ $((2 * seconds + 60)) -le "$budget" ]
	[ $((2 * seconds + 60)) -le "$(PYTHONPATH="$WS_ROOT/tools" python3 -c 'import verify_image; print(verify_image.PATIENCE_S)')" ]
}

# ---- the load ----

# A server whose /health is HEALTH, and whose completions are ANSWERS in turn: bytes, or a status and where it sends.
odd() { # HEALTH ANSWERS
	cat > odd.py <<- END
		import http.server
		ANSWERS = iter([$2])
		class Handler(http.server.BaseHTTPRequestHandler):
		    def answer(self, body):
		        self.send_response(200 if isinstance(body, bytes) else 302)
		        if not isinstance(body, bytes):
		            self.send_header("Location", body)
		            body = b""
		        self.send_header("Content-Length", str(100 if body.endswith(b" ") else len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def do_GET(self):
		        if "elsewhere" in self.path:
		            print(self.headers["Authorization"], flush=True)
		        self.answer($1)
		    def do_POST(self):
		        self.rfile.read(int(self.headers["Content-Length"]))
		        self.answer(next(ANSWERS))
		server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	[ -z "$SERVER" ] || kill -KILL "$SERVER"
	: > port
	python3 odd.py > port 2> /dev/null 3>&- &
	SERVER=$!
	for _ in $(seq 100); do
		[ -s port ] && break
		sleep 0.1
	done
	URL=http://127.0.0.1:$(head -1 port)
}

load() { # ARGUMENT...
	run --separate-stderr timeout 60 python3 "$WS_ROOT/examples/server/load.py" "$@"
	printf '%s\n' "$status" "$output" "$stderr"
}

@test "load: an answer that is cut or is something else is a failure" {
	odd 'b"{}"' "b'{\"usage\": ', b'[1]', b'{\"usage\": null}', b'{\"usage\": {\"completion_tokens\": \"many\"}}',
		b'{\"usage\": {\"completion_tokens\": 1e999}}', b'{\"usage\": {\"completion_tokens\": 1%s}}' % (b'0' * 400),
		b'[' * 100000, b'{\"usage\": {\"completion_tokens\": 4}}'"
	load "$URL" --requests 8 --concurrency 1 --json
	[ "$status" -eq 1 ]
	[ "$(jq -Sc '[.requests, .failures]' <<< "$output")" = \
		'[1,{"IncompleteRead":1,"OverflowError":1,"RecursionError":1,"TypeError":2,"ValueError":2}]' ]
	[ -z "$stderr" ]
	kill -KILL "$SERVER"
	SERVER=
	load "$URL"
	[ "$status" -eq 2 ]
	[[ $stderr == "error: '$URL' does not serve: "*"Connection refused"* ]]
	load 127.0.0.1:8000
	[ "$status" -eq 2 ]
	[[ $stderr == "error: '127.0.0.1:8000' does not serve: "*"unknown url type"* ]]
}

@test "load: the token goes to no server that another one names" {
	odd 'b"{}"' "'/elsewhere'"
	load "$URL" --requests 1
	[ "$status" -eq 1 ]
	[ "$output" = "attn None, batch None
0 answers, 1 failures {'status 302': 1}
0.0 tokens/s" ]
	[ "$(cat port)" = "${URL##*:}" ]
}

@test "load: a /health that is something else is one line, and a number is 1 or more" {
	local health option
	for health in 'b"[1]"' 'b"x"' 'b"[" * 100000' 'b"\377"' '"/health"'; do
		odd "$health" ''
		load "$URL"
		[ "$status" -eq 2 ]
		[[ $stderr == "error: '$URL' does not serve: "* && $stderr != *$'\n'* ]]
	done
	odd "b'{\"attn\": \"\\\\u001b[2J\"}'" "b'{\"usage\": {\"completion_tokens\": 4}}'"
	load "$URL" --requests 1
	[[ $output == 'attn \x1b[2J, batch None'$'\n'"1 answers, 0 failures"* ]]
	for option in "--requests -1" "--requests 0" "--concurrency 0" "--concurrency -3" "--tokens 0" "--timeout -1"; do
		# shellcheck disable=SC2086
		load "$URL" $option
		[ "$status" -eq 2 ]
		[[ $stderr == *"argument ${option% *}: '${option#* }' is not 1 or more" ]]
	done
}
