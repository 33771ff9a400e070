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
