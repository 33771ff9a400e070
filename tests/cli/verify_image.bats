#!/usr/bin/env bats
# verify_image.py's half that runs inside an image. Whole images are docker_real.bats's.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

look() { # PYTHON
	run -0 timeout 20 python3 - "$WS_ROOT/tools" "$1" <<- 'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import verify_image
		findings = verify_image.Findings()
		exec(sys.argv[2])
	END
	echo "$output"
}

@test "a silent server is stopped at its time limit" {
	echo 'import time; time.sleep(60)' > silent.py
	look 'verify_image.try_server(findings, "silent.py", 0.5)'
	[[ $output == "fails   'silent.py' does not serve /health: it said nothing" ]]
	echo 'raise SystemExit("no model")' > ends.py
	look 'verify_image.try_server(findings, "ends.py", 10)'
	[[ $output == "fails   'ends.py' does not serve /health: no model" ]]
}

# A server that logs SAYS, prints its port, and answers with BODY.
server() { # SAYS BODY
	cat > odd.py <<- END
		import http.server, signal, sys
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_GET(self):
		        self.send_response(200)
		        self.end_headers()
		        self.wfile.write(b'$2')
		server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
		signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
		sys.stdout.write("$1".format(server.server_port))
		sys.stdout.flush()
		server.serve_forever()
	END
}

@test "a server may print before its port; what is not a server's ends in a line, too" {
	server 'loading model\nport {}\n' '{"attn": "sdpa", "batch": "padded"}'
	look 'verify_image.try_server(findings, "odd.py", 10)'
	[ "$output" = "ok      'odd.py' serves: attn sdpa, batch padded
ok      'odd.py' ends with 0 on SIGTERM" ]
	local says
	for says in 'loading model\n' 'port 99999\n' 'port' 'port x\n'; do
		server "$says" '{}'
		look 'verify_image.try_server(findings, "odd.py", 1)'
		[ "$output" = "fails   'odd.py' does not serve /health: it said nothing" ]
	done
	server 'port {}\n' '[1]'
	look 'verify_image.try_server(findings, "odd.py", 1)'
	[[ $output == "fails   'odd.py' does not serve /health: "* ]]
	# A port at which something else answers.
	cat > other.py <<- 'END'
		import socket
		server = socket.create_server(("127.0.0.1", 0))
		print("port", server.getsockname()[1], flush=True)
		while True:
		    client = server.accept()[0]
		    client.sendall(b"SSH-2.0-x\r\n")
		    client.close()
	END
	look 'verify_image.try_server(findings, "other.py", 1)'
	[ "$output" = "fails   'other.py' does not serve /health: it said nothing" ]
	# A server that does not end is killed.
	printf 'import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\nsignal.pause()\n' > stays.py
	look 'import subprocess
wait = subprocess.Popen.wait
subprocess.Popen.wait = lambda child, timeout=None: wait(child, timeout and 0.5)
verify_image.try_server(findings, "stays.py", 1)'
	[ "$output" = "fails   'stays.py' does not serve /health: it said nothing" ]
}

# verify_image.py --inside beside a torch that is FILE, and a doctor that does as SCRIPT says; its lines but the first.
inside() { # TORCH SCRIPT [ARGUMENT...]
	mkdir -p fake
	printf '%s\n' "$1" > fake/torch.py
	printf '#!/bin/sh\n%s\n' "$2" > doctor
	chmod +x doctor
	run env PYTHONPATH="$PWD/fake" timeout 40 python3 -c "import sys; sys.path.insert(0, '$WS_ROOT/tools')
import verify_image; verify_image.CHILD_S = ${CHILD_S:-20}; sys.exit(verify_image.main())" \
		x --inside --wheelsmith ./doctor --build-json build.json "${@:3}"
	echo "$output"
	[[ $output != *Traceback* ]]
}

TORCH='__version__ = "2.5.1+cu124"
class cuda:
    device_count = staticmethod(lambda: 0)'
DOCTOR="echo '{\"extensions\": []}'"

@test "a build.json that is something else is a finding" {
	local text
	for text in '[]' x '{}' '{"cells": [{}]}' null '"a"' '{"cells": [{"cell": "a", "package": null}]}' '\377\376' \
		'{"cells": [{"cell": "a", "package": "a", "decision": null, "wheel": null}]}' \
		'{"cells": [{"cell": "a", "package": "a", "decision": "build", "version": null, "wheel": "a-1-py3-none-any.whl"}]}' \
		'{"cells": [{"cell": "a", "package": "a", "decision": "build", "version": "1", "wheel": "a-b"}]}' \
		"$(printf '[%.0s' $(seq 20000))"; do
		# shellcheck disable=SC2059
		printf "$text" > build.json
		inside "$TORCH" "$DOCTOR" --decision a
		[ "$status" -eq 1 ]
		[[ $output == *"fails   "* && $output == *"ok      no extension of torch is installed"* ]]
	done
	rm build.json
	mkdir build.json
	inside "$TORCH" "$DOCTOR"
	[[ $output == *"fails   'build.json' against what is installed: it is not a regular file"* ]]
	rmdir build.json
	mkfifo build.json
	inside "$TORCH" "$DOCTOR"
	[[ $output == *"fails   'build.json' against what is installed: it is not a regular file"* ]]
}

@test "a doctor and a torch that do something else are findings, and have their time" {
	local text CHILD_S=3
	for text in "echo '[]'" "echo '{\"extensions\": [{}]}'" "echo '{\"extensions\": null}'" "echo null" "printf '\\377'" \
		"sleep 30" "sleep 30 & echo no; exit 1"; do
		inside "$TORCH" "$text"
		[ "$status" -eq 1 ]
		[[ $output == *"fails   wheelsmith doctor"* && $output == *"no GPU is seen" ]]
	done
	inside "$TORCH" "$DOCTOR" --wheelsmith ./none
	[[ $output == *"fails   wheelsmith doctor: No such file or directory"* ]]
	inside 'import time; time.sleep(30)' "$DOCTOR"
	[ "$output" = "fails   torch: it did not end within 3 s" ]
	inside 'raise SystemExit(0)' "$DOCTOR"
	[[ $output == "fails   torch: "* ]]
	inside "$TORCH
import atexit
atexit.register(print, 'bye')" "$DOCTOR"
	[[ $output == "ok      Python "*", torch 2.5.1+cu124
"*"no GPU is seen" ]]
}

@test "no control character of an image is printed" {
	printf 'raise SystemExit("\\x1b[2J\\x07\\x9b31m")\n' > ends.py
	look 'verify_image.try_server(findings, "ends.py", 10)'
	[ "$output" = "fails   'ends.py' does not serve /health: ?[2J??31m" ]
	server 'port {}\n' '{"attn": "\\u001b[2J", "batch": "\\ud800", "problem": "a\\nok b"}'
	look 'verify_image.try_server(findings, "odd.py", 10)'
	[[ $output == "ok      'odd.py' serves: attn ?[2J, batch ? (a?ok b)"$'\n'* ]]
}

@test "a /health that is deep, endless or slow is not one" {
	server 'port {}\n' '[1]'
	sed -i "s/self.wfile.write(.*/self.wfile.write(b'[' * 200000)/" odd.py
	look 'verify_image.try_server(findings, "odd.py", 1)'
	[[ $output == "fails   'odd.py' does not serve /health: "* ]]
	sed -i "s/self.wfile.write(.*/__import__('time').sleep([self.wfile.write(b' '), 0.2][1]) or self.do_GET()/" odd.py
	look 'verify_image.try_server(findings, "odd.py", 1)'
	[[ $output == "fails   'odd.py' does not serve /health: "* ]]
}

@test "a server may print much before its port" {
	server 'port {}\n' '{"attn": "sdpa", "batch": "padded"}'
	sed -i 's/^sys.stdout.write/sys.stdout.write("loading\\n" * 20000)\n&/' odd.py
	look 'verify_image.try_server(findings, "odd.py", 10)'
	[[ $output == "ok      'odd.py' serves: attn sdpa, batch padded"$'\n'* ]]
}

@test "a package whose RECORD is gone is not one whose files are right" {
	mkdir -p demo-1.0.dist-info
	printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n' > demo-1.0.dist-info/METADATA
	echo '{}' > demo-1.0.dist-info/wheelsmith.json
	look 'sys.path.insert(0, "."); verify_image.compare(findings, "none", None, "")'
	[[ $output == *"fails   demo 1.0: it has no RECORD"* ]]
}

# The installed files: one file, and METADATA with VERSION.
installed() { # NAME VERSION
	rm -rf site/"${1//-/_}"*
	mkdir -p "site/${1//-/_}-$2.dist-info"
	echo "x = 1" > "site/${1//-/_}.py"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" > "site/${1//-/_}-$2.dist-info/METADATA"
	printf '%s.py,sha256=%s,6\n' "${1//-/_}" \
		"$(openssl dgst -sha256 -binary "site/${1//-/_}.py" | base64 | tr '+/' '-_' | tr -d '=')" > "site/${1//-/_}-$2.dist-info/RECORD"
}

# The build.json: CELL DECISION VERSION WHEEL [METADATA VERSION] a line; VERSION and WHEEL "-": none.
cells() {
	jq -Rn '{cells: [inputs | split(" ") | {cell: .[0], package: (.[0] | split("/")[0] | sub("-[^-]*$"; "")), decision: .[1],
		version: (if .[2] == "-" then null else .[2] end), wheel: (if .[3] == "-" then null else .[3] end),
		reason: "it was so"} + if .[4] then {metadata_version: .[4]} else {} end]}' > build.json
}

# The verdict on it beside torch 2.5.1 and this Python.
compared() {
	look 'import os; os.makedirs("site", exist_ok=True)
sys.path = [p for p in sys.path if "-packages" not in p]
sys.path.insert(0, "site")
verify_image.compare(findings, "build.json", {"version": "2.5.1+cu124", "gpus": []}, "")'
}

@test "a prebuilt wheel is known by METADATA's version, and its files are held against RECORD" {
	local CP
	CP=$(python3 -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
	installed flash-attn 2.6.1
	cells <<< "flash-attn-2.6.1/torch2.5.1/cu12.4/$CP/sm90 prebuilt 2.6.1+cu123torch2.4cxx11abifalse flash_attn-2.6.1+cu123torch2.4cxx11abiFALSE-$CP-$CP-linux_x86_64.whl 2.6.1"
	compared
	[ "$output" = "ok      flash-attn 2.6.1: every file is what RECORD lists
ok      flash-attn: prebuilt, installed" ]
	echo 'x = 2' > site/flash_attn.py
	compared
	[[ $output == "fails   flash-attn 2.6.1: 'flash_attn.py' is not the file that RECORD lists"* ]]
	# METADATA is written by hand, a version in build.json is PEP 440's normal form.
	installed flash-attn 2.6.01-1+CU12_Torch2
	cells <<< "flash-attn-2.6.1/torch2.5.1/cu12.4/$CP/sm90 prebuilt 2.6.1.post1+cu12.torch2 flash_attn-2.6.1.post1+cu12.torch2-$CP-$CP-linux_x86_64.whl"
	compared
	[[ $output == *"ok      flash-attn: prebuilt, installed" ]]
	installed flash-attn 2.7.0
	compared
	[[ $output == *"fails   flash-attn: 2.7.0 is installed, not 2.6.1.post1+cu12.torch2 (prebuilt)" ]]
	rm -r site/flash_attn*
	compared
	[ "$output" = "fails   flash-attn is not installed, and was delivered: 2.6.1.post1+cu12.torch2 (prebuilt)" ]
}

@test "versions compare as PEP 440 says, in the many ways that they are written" {
	python3 -c 'from pip._vendor.packaging import version' || cannot_run "no pip beside this Python"
	look 'from pip._vendor.packaging.version import Version
for text in "1 v1.0 01!1.0 0!1 1.0a 1.0-alpha.1 1.0beta2 1.0c3 1.0-preview_4 1.0rc 1.0-1 1.0.post 1.0-r7 1.0rev8 1.0dev 1.0-dev9 1.0.A1.POST2.DEV3+Ab-01_x 2.8.3+cu.12.4.torch.2.5.sm.90".split():
    if verify_image.normal_version(text) != str(Version(text)):
        print(text, verify_image.normal_version(text), Version(text))'
	[ -z "$output" ]
}

@test "a package whose name begins with torch is of the torch that its cell says" {
	local CP
	CP=$(python3 -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
	installed torch-scatter 2.1.2
	cells <<- END
		torch-scatter-2.1.2/torch2.5.1/cu12.4/$CP/sm90 build 2.1.2 torch_scatter-2.1.2-$CP-$CP-linux_x86_64.whl
		torch-scatter-2.1.2/torch2.4.0/cu12.4/$CP/sm90 build 2.1.9 torch_scatter-2.1.9-$CP-$CP-linux_x86_64.whl
	END
	compared
	[ "$output" = "ok      torch-scatter 2.1.2: every file is what RECORD lists
ok      torch-scatter: build, installed" ]
}

@test "one of several wheels is installed, and cells of another Python are not this image's" {
	local CP
	CP=$(python3 -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
	installed demo 1.0+sm.90
	cells <<- END
		demo-1.0/torch2.5.1/cu12.4/$CP/sm86 build 1.0+sm.86 demo-1.0+sm.86-$CP-$CP-linux_x86_64.whl
		demo-1.0/torch2.5.1/cu12.4/$CP/sm90 cached 1.0+sm.90 demo-1.0+sm.90-$CP-$CP-linux_x86_64.whl
		demo-1.0/torch2.5.1/cu12.1/$CP/sm90 failed - -
		demo-1.0/torch2.5.1/cu12.4/cp37/sm90 failed - -
		demo-1.0/torch2.5.1/cu12.4/${CP}t/sm90 failed - -
		only-1.0/torch2.5.1/cu12.4/cp37/sm90 failed - -
		free-1.0/torch2.5.1/cu12.4/${CP}t/sm90 build 1.0 free-1.0-$CP-${CP}t-linux_x86_64.whl
	END
	compared
	[ "$output" = "ok      demo 1.0+sm.90: every file is what RECORD lists
ok      demo: build, installed" ]
	installed demo 1.0+sm.80
	compared
	[[ $output == *"fails   demo: 1.0+sm.80 is installed, not 1.0+sm.86 (build) or 1.0+sm.90 (build)" ]]
	# No wheel for this Python: each cell must be excluded on purpose.
	cells <<- END
		demo-1.0/torch2.5.1/cu12.4/$CP/sm86 fallback - -
		demo-1.0/torch2.5.1/cu12.4/$CP/sm90 failed - -
		other-1.0/torch2.5.1/cu12.4/$CP/sm90 excluded - -
	END
	compared
	[ "$output" = "fails   demo: failed: it was so
ok      other: excluded: it was so" ]
}

@test "no engine is one line that names them" {
	mkdir none prefix prefix/bin
	printf '#!/bin/sh\n' > prefix/bin/wheelsmith
	chmod +x prefix/bin/wheelsmith
	run -2 env PATH="$PWD/none" "$(python3 -c 'import sys; print(sys.executable)')" "$WS_ROOT/tools/verify_image.py" an-image --prefix prefix
	[ "$output" = "error: no container engine answers: docker, podman, buildah" ]
}

# An engine that answers like docker and buildah, and hangs with its children at one command.
engine() { # NAME HANGS_AT
	mkdir -p bin prefix/bin
	printf '#!/bin/sh\n' > prefix/bin/wheelsmith
	cat > "bin/$1" <<- END
		#!/bin/sh
		echo "\$*" >> asked
		case \$1 in
		$2)
			sleep 8 2> /dev/null 3>&- &
			wait
			;;
		from) echo a-container ;;
		run) [ "\${*%-c pass}" = "\$*" ] || exit "\${NO_PYTHON:-0}"; exit 1 ;;
		esac
	END
	chmod +x "bin/$1" prefix/bin/wheelsmith
}

verify_image() { # ARGUMENT...
	: > asked
	run --separate-stderr env PATH="$PWD/bin:$PATH" timeout 10 python3 "$WS_ROOT/tools/verify_image.py" an-image --prefix prefix --patience 0 "$@"
	printf '%s\n' "$output" "$stderr"
}

@test "an engine that hangs ends in one line, and in no container that is left" {
	local words
	for words in "docker info" "docker image inspect" "docker run" "buildah inspect" "buildah from" "buildah run"; do
		read -r name at rest <<< "$words"
		engine "$name" "$at"
		verify_image --engine "$name" --timeout 0.5
		[ "$status" -eq 2 ]
		[ "$stderr" = "error: '$words' did not end within 0.5 s" ]
		case $words in
		"docker run") grep -qx "rm --force $(grep -o 'wheelsmith-[0-9a-f]*' asked | head -1)" asked ;;
		"buildah run") grep -qx "rm a-container" asked ;;
		esac
	done
	# findings are kept, and the remaining checks are named.
	engine buildah rm
	verify_image --engine buildah --timeout 0.5
	[ "$status" -eq 1 ]
	[ "$stderr" = "warning: the container a-container is left: 'buildah rm a-container' did not end within 0.5 s" ]
	# buildah alone, and an unreadable image: that is not a finding.
	engine buildah nothing
	NO_PYTHON=1 verify_image --engine buildah
	[ "$status" -eq 2 ]
	[ "$stderr" = "error: python3 does not start in 'an-image', and it is what looks inside" ]
	grep -qx "rm a-container" asked
	# without a named engine the next one is tried.
	engine docker info
	engine podman nothing
	verify_image --timeout 2
	[ "$status" -eq 1 ]
	[ "$output" = "an-image, by podman" ]
}

@test "an engine that cannot be run is one line, too" {
	engine docker nothing
	echo 'not a program' > bin/docker
	run -2 --separate-stderr env PATH="$PWD/bin" "$(python3 -c 'import sys; print(sys.executable)')" \
		"$WS_ROOT/tools/verify_image.py" an-image --prefix prefix --engine docker
	[ "$stderr" = "error: 'docker' cannot be run: Exec format error" ]
}
