#!/usr/bin/env bats
# The committed answers about versions and tags are what `packaging` really says.
# labels: network
# timeout: 300

load helpers

setup_file() {
	python3 -m venv "$BATS_FILE_TMPDIR/venv"
	"$BATS_FILE_TMPDIR/venv/bin/pip" install --quiet --disable-pip-version-check packaging==26.3
	export ORACLE_PYTHON="$BATS_FILE_TMPDIR/venv/bin/python"
	export PYTHONDONTWRITEBYTECODE=1
}

@test "cases/version is what packaging answers" {
	run -0 "$ORACLE_PYTHON" "$WS_ROOT/tests/support/version_oracle.py" check
}

@test "cases/tag is what packaging answers" {
	run -0 "$ORACLE_PYTHON" "$WS_ROOT/tests/support/tag_oracle.py" check
}

@test "a wrong line is found" {
	printf 'version\t1.0-1\t1.0.post2\nin\t>=2\t1.0\tYY\n' > "$BATS_TEST_TMPDIR/wrong.txt"
	run -1 "$ORACLE_PYTHON" "$WS_ROOT/tests/support/version_oracle.py" verify "$BATS_TEST_TMPDIR/wrong.txt"
	[ "${#lines[@]}" -eq 2 ]
}
