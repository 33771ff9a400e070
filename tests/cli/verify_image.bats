#!/usr/bin/env bats
# verify_image.py's half that runs inside an image. Whole images are docker_real.bats's.

bats_require_minimum_version 1.5.0
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

@test "a server that says nothing has its time, and no more" {
	echo 'import time; time.sleep(60)' > silent.py
	look 'verify_image.try_server(findings, "silent.py", 0.5)'
	[[ $output == "fails   'silent.py' does not serve /health: it said nothing" ]]
	echo 'raise SystemExit("no model")' > ends.py
	look 'verify_image.try_server(findings, "ends.py", 10)'
	[[ $output == "fails   'ends.py' does not serve /health: no model" ]]
}

@test "a package whose RECORD is gone is not one whose files are right" {
	mkdir -p demo-1.0.dist-info
	printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n' > demo-1.0.dist-info/METADATA
	echo '{}' > demo-1.0.dist-info/wheelsmith.json
	look 'sys.path.insert(0, "."); verify_image.compare(findings, "none", None, "")'
	[[ $output == *"fails   demo 1.0: it has no RECORD"* ]]
}

# An engine that answers as docker and buildah do, but for one word at which it hangs, as its children do.
engine() { # NAME HANGS_AT
	mkdir -p bin prefix/bin
	printf '#!/bin/sh\n' > prefix/bin/wheelsmith
	cat > "bin/$1" <<- END
		#!/bin/sh
		echo "\$*" >> asked
		case \$1 in
		$2)
			sleep 3 2> /dev/null 3>&- &
			wait
			;;
		from) echo a-container ;;
		run) exit 1 ;;
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
	# What was found stands, and what is left is named.
	engine buildah rm
	verify_image --engine buildah --timeout 0.5
	[ "$status" -eq 1 ]
	[ "$stderr" = "warning: the container a-container is left: 'buildah rm a-container' did not end within 0.5 s" ]
	# Where nobody was named, the next one is asked.
	engine docker info
	engine podman nothing
	verify_image --timeout 1
	[ "$status" -eq 1 ]
	[ "$output" = "an-image, by podman" ]
}

@test "an engine that cannot be run is one line, too" {
	engine docker nothing
	echo 'not a program' > bin/docker
	run --separate-stderr env PATH="$PWD/bin" "$(python3 -c 'import sys; print(sys.executable)')" \
		"$WS_ROOT/tools/verify_image.py" an-image --prefix prefix --engine docker
	[ "$status" -eq 2 ]
	[ "$stderr" = "error: 'docker' cannot be run: Exec format error" ]
}
