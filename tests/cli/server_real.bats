#!/usr/bin/env bats
# The example server on a CPU, with a real torch: tokens, bad requests, many at once, its end, and a flash_attn
# that does not load.
# labels: network real
# timeout: 1800

load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	python3 -m venv venv
	venv/bin/python3 -m pip install -q torch==2.11.0 numpy
	# Two that are installed and do not work: one raises, one ends the process.
	mkdir -p raises crashes
	echo 'raise ImportError("flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi")' > raises/flash_attn.py
	echo 'import os; os.kill(os.getpid(), 11)' > crashes/flash_attn.py
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	TOKEN=secret-0123456789abcdef
	unset SERVER_TOKEN SERVER_TOKEN_FILE WHEELSMITH_ATTENTION
	export OMP_NUM_THREADS=1 # on a host with other work, threads that wait for each other take minutes
	printf '%s\n' "$TOKEN" > token
	PYTHON=$BATS_FILE_TMPDIR/venv/bin/python3
	SERVER=
}

teardown() {
	[ -z "$SERVER" ] || kill -KILL "$SERVER" 2> /dev/null || true
}

# Starts the server; sets URL and SERVER. VAR=VALUE... come before its options.
serve() { # [VAR=VALUE...] [OPTIONS]
	local set=()
	while [[ ${1:-} == *=* ]]; do
		set+=("$1")
		shift
	done
	env SERVER_TOKEN_FILE="$PWD/token" "${set[@]}" "$PYTHON" "$WS_ROOT/examples/server/server.py" \
		--host 127.0.0.1 --port 0 "$@" > port 2> log 3>&- &
	SERVER=$!
	for _ in $(seq 600); do # torch is imported first
		[ -s port ] && break
		sleep 0.1
	done
	URL=http://127.0.0.1:$(sed -n 's/^port //p' port)
	for _ in $(seq 1500); do
		[ "$(curl -s -o /dev/null -w '%{http_code}' "$URL/health")" != 200 ] || return 0
		sleep 0.2
	done
	cat log
	return 1
}

# $status is HTTP's, $output the answer.
ask() { # CURL ARGUMENTS
	output=$(curl -s -w '\n%{http_code}' "$@")
	status=${output##*$'\n'}
	output=${output%$'\n'*}
	echo "$status $output"
}

complete() { # JSON [CURL ARGUMENTS]
	ask -H "Authorization: Bearer $TOKEN" -d "$1" "${@:2}" "$URL/v1/completions"
}

@test "completions, and what is not one" {
	serve
	ask "$URL/health"
	[ "$(jq -c '[.attn, .ready, .devices, .batch, .serving]' <<< "$output")" = '["sdpa",false,[],"padded",true]' ]
	complete '{"prompt": "hello", "max_tokens": 8}'
	[ "$status" -eq 200 ]
	[ "$(jq -c .usage <<< "$output")" = '{"prompt_tokens":5,"completion_tokens":8}' ]
	local text
	text=$(jq -r .text <<< "$output")
	complete '{"prompt": "hello", "max_tokens": 8}'
	[ "$(jq -r .text <<< "$output")" = "$text" ]
	ask -d '{"prompt": "hello"}' "$URL/v1/completions"
	[ "$status" -eq 401 ]
	local wrong
	for wrong in "Bearer secret" "Bearer ${TOKEN}x" "Basic $TOKEN" "$TOKEN" "Bearer " "Bearer é"; do
		ask -H "Authorization: $wrong" -d '{"prompt": "hello"}' "$URL/v1/completions"
		[ "$status" -eq 401 ]
	done
	for wrong in '{"prompt"' '[]' '{}' '{"prompt": ""}' '{"prompt": 1}' '{"prompt": "a", "max_tokens": 0}' \
		'{"prompt": "a", "max_tokens": true}' '{"prompt": "a", "max_tokens": 1.5}' '{"prompt": "a", "stream": 1}' \
		"{\"prompt\": \"a\", \"max_tokens\": 1$(printf '0%.0s' {1..5000})}" "$(printf '[%.0s' {1..20000})"; do
		complete "$wrong"
		[ "$status" -eq 400 ]
	done
	complete "{\"prompt\": \"$(printf 'a%.0s' {1..1020})\", \"max_tokens\": 16}"
	[ "$status" -eq 400 ]
	[[ $output == *"1020 bytes of prompt and 16 more are over the context of 1024"* ]]
	head -c 70000 /dev/zero > large
	ask -H "Authorization: Bearer $TOKEN" --data-binary @large "$URL/v1/completions"
	[ "$status" -eq 413 ]
	complete '{"prompt": "a"}' -H 'Transfer-Encoding: chunked'
	[ "$status" -eq 411 ]
	ask "$URL/"
	[ "$status" -eq 404 ]
	ask -X DELETE "$URL/health"
	[ "$status" -eq 501 ]
	# It serves still, and what it logged has neither tokens nor prompts.
	complete '{"prompt": "hello", "max_tokens": 8}'
	[ "$(jq -r .text <<< "$output")" = "$text" ]
	cat log
	run ! grep -e secret -e hello -e aaaa log
	run ! grep -z SERVER_TOKEN= "/proc/$SERVER/cmdline"
}

@test "no token, no server" {
	run -1 env -u SERVER_TOKEN "$PYTHON" "$WS_ROOT/examples/server/server.py" --port 0
	[[ $output == *"set SERVER_TOKEN_FILE or SERVER_TOKEN to a token of at least 16 characters"* ]]
	run -1 env SERVER_TOKEN=short "$PYTHON" "$WS_ROOT/examples/server/server.py" --port 0
}

@test "concurrent requests get the same answers as single ones; requests beyond the queue are refused" {
	serve --batch 8
	local i
	for i in $(seq 12); do
		complete "{\"prompt\": \"$(printf "$i%.0s" $(seq "$i"))\", \"max_tokens\": $((4 + i))}"
		jq -r .text <<< "$output" > "alone.$i"
	done
	local asked=()
	for i in $(seq 12); do
		curl -s -H "Authorization: Bearer $TOKEN" "$URL/v1/completions" \
			-d "{\"prompt\": \"$(printf "$i%.0s" $(seq "$i"))\", \"max_tokens\": $((4 + i))}" | jq -r .text > "together.$i" 3>&- &
		asked+=($!)
	done
	wait "${asked[@]}"
	for i in $(seq 12); do
		cmp "alone.$i" "together.$i"
	done
	SERVER_TOKEN=$TOKEN run -0 "$PYTHON" "$WS_ROOT/examples/server/load.py" "$URL" --requests 24 --concurrency 6 --tokens 8 --json
	[ "$(jq -c '[.attn, .requests, .failures, .tokens_per_s > 0, .latency_s.p50 <= .latency_s.p99]' <<< "$output")" = \
		'["sdpa",24,{},true,true]' ]
	SERVER_TOKEN=wrong run -1 "$PYTHON" "$WS_ROOT/examples/server/load.py" "$URL" --requests 2
	[[ $output == *"2 failures {'status 401': 2}"* ]]
	kill "$SERVER"
	wait "$SERVER"
	serve --batch 1 --waiting 1
	SERVER_TOKEN=$TOKEN run -1 "$PYTHON" "$WS_ROOT/examples/server/load.py" "$URL" --requests 16 --concurrency 8 --tokens 200 --json
	[ "$(jq '.failures["status 503"] > 0 and .requests > 0' <<< "$output")" = true ]
}

@test "a long prompt and a long answer in one batch are each within the context" {
	run -0 "$PYTHON" - "$WS_ROOT/examples/server" <<- 'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import attend, model, torch
		made = model.make("cpu", torch.float32, width=64, heads=2, layers=2)
		words = attend.functions({"attn": "sdpa", "problem": None, "devices": []})
		asked = [(list(range(200)) * 5, 24), ([7] * 10, 1014), ([8] * 3, 2)]
		alone = [made.complete([p], [n], *words)[0] for p, n in asked]
		together = made.complete([p for p, _ in asked], [n for _, n in asked], *words)
		assert [len(a) for a in together] == [24, 1014, 2]
		print([a == b for a, b in zip(alone, together)])
	END
	[ "$output" = "[True, True, True]" ]
}

@test "SIGTERM answers what was accepted, takes nothing more, and ends with 0" {
	serve --grace 300
	curl -s -o answer -w '%{http_code}' -H "Authorization: Bearer $TOKEN" "$URL/v1/completions" \
		-d '{"prompt": "hello", "max_tokens": 600}' > code 3>&- &
	local asked=$! ended=0
	sleep 1
	kill "$SERVER"
	sleep 0.3
	kill -0 "$asked" # it is still computed
	complete '{"prompt": "more"}'
	[ "$status" -eq 503 ]
	ask "$URL/health"
	[ "$status" -eq 503 ]
	[ "$(jq -c '[.serving, .draining]' <<< "$output")" = '[false,true]' ]
	ask "$URL/health?live"
	[ "$status" -eq 200 ]
	wait "$asked"
	[ "$(cat code)" = 200 ]
	[ "$(jq .usage.completion_tokens answer)" = 600 ]
	wait "$SERVER" || ended=$?
	SERVER=
	cat log
	[ "$ended" -eq 0 ]
	grep -q 'stopping: 1 requests were open, 0 are' log
}

@test "a request that outlasts the time after SIGTERM is cut off, and the server ends with 1" {
	local ended=0
	serve --grace 0.5
	curl -s -o answer -H "Authorization: Bearer $TOKEN" "$URL/v1/completions" -d '{"prompt": "hello", "max_tokens": 1000}' 3>&- &
	sleep 1
	kill "$SERVER"
	wait "$SERVER" || ended=$?
	SERVER=
	cat log
	grep -q 'stopping: 1 requests were open, 1 are' log
	[ "$ended" -eq 1 ]
}

@test "a flash_attn that does not load is passed over, and /health says so" {
	local text
	serve
	complete '{"prompt": "hello", "max_tokens": 8}'
	text=$(jq -r .text <<< "$output")
	kill "$SERVER"
	wait "$SERVER"
	serve PYTHONPATH="$BATS_FILE_TMPDIR/raises"
	ask "$URL/health"
	[ "$(jq -r '.attn + ": " + .problem' <<< "$output")" = \
		"sdpa: ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi" ]
	complete '{"prompt": "hello", "max_tokens": 8}'
	[ "$(jq -r .text <<< "$output")" = "$text" ]
	kill "$SERVER"
	wait "$SERVER"
	serve PYTHONPATH="$BATS_FILE_TMPDIR/crashes"
	ask "$URL/health"
	[ "$(jq -r '.attn + ": " + .problem' <<< "$output")" = \
		"sdpa: the attention that is installed ended its process with signal 11" ]
	kill "$SERVER"
	wait "$SERVER"
	# With our kernels beside it: their report, their call, and torch's own attention on a CPU.
	serve PYTHONPATH="$BATS_FILE_TMPDIR/raises:$WS_ROOT/kernels/python"
	ask "$URL/health"
	[ "$(jq -c '[.schema, .attn, .problem]' <<< "$output")" = '["wheelsmith.kernels-health/1","sdpa","no GPU"]' ]
	complete '{"prompt": "hello", "max_tokens": 8}'
	[ "$(jq -r .text <<< "$output")" = "$text" ]
}
