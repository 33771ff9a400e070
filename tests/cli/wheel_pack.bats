#!/usr/bin/env bats
# Wheels that we pack: the same bytes wherever they are packed, and what real readers say of them.
# labels: network
# timeout: 400

load helpers

driver="$WS_BINARY_DIR/tests/wheel_driver"
epoch=1700000000

make_sources() {
	mkdir -p "$1/demo/ops"
	echo 'from demo_cuda import answer' > "$1/demo/__init__.py"
	: > "$1/demo/ops/__init__.py"
	seq 1 20000 > "$1/demo/ops/table.txt"
	echo 'print("run me")' > "$1/demo/run.py"
	chmod +x "$1/demo/run.py"
	echo 'Do what you like.' > "$1/LICENSE"
	printf '# Demo\n\nGrüße, *markdown*.\n' > "$1/README.md"
	cat > "$1/demo_cuda.c" <<'C'
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { (void)self; (void)none; return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, "42"}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "demo_cuda", .m_size = -1, .m_methods = methods};
PyMODINIT_FUNC PyInit_demo_cuda(void) { return PyModule_Create(&module); }
C
	gcc -shared -fPIC -O1 -o "$1/demo_cuda.so" "$1/demo_cuda.c" \
		-I"$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')"
}

setup_file() {
	export VENV="$BATS_FILE_TMPDIR/venv" SOURCES="$BATS_FILE_TMPDIR/src" WHEELS="$BATS_FILE_TMPDIR/wheels"
	export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
	HOST="$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	export HOST
	python3 -m venv "$VENV"
	"$VENV/bin/pip" install --quiet packaging==26.3 twine==7.0.0 check-wheel-contents==0.6.3 \
		'cyclonedx-python-lib[json-validation]==11.12.0'
	make_sources "$SOURCES"
	mkdir "$WHEELS"
	"$driver" "$SOURCES" "$WHEELS" $epoch "$HOST"
	"$driver" "$SOURCES" "$WHEELS" $epoch any
}

digest() {
	sha256sum "$1"/*.whl | cut -d' ' -f1
}

@test "place, time zone, umask, order of input and mtimes do not change a byte" {
	want="$(digest "$WHEELS")"
	cp -r "$SOURCES" "$BATS_TEST_TMPDIR/elsewhere"
	find "$BATS_TEST_TMPDIR/elsewhere" -exec touch -d 2001-02-03 {} +
	find "$BATS_TEST_TMPDIR/elsewhere" -type f ! -perm -100 -exec chmod 600 {} +
	mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" "$BATS_TEST_TMPDIR/c"
	for python in "$HOST" any; do
		(umask 077; TZ=Asia/Tokyo "$driver" "$BATS_TEST_TMPDIR/elsewhere" "$BATS_TEST_TMPDIR/a" "$epoch" "$python" reverse)
		(umask 022; cd /; TZ=UTC LC_ALL=C "$driver" "$SOURCES" "$BATS_TEST_TMPDIR/b" "$epoch" "$python")
		TZ=America/St_Johns "$driver" "$SOURCES" "$BATS_TEST_TMPDIR/c" $((epoch + 1)) "$python" reverse
	done
	[ "$(digest "$BATS_TEST_TMPDIR/a")" = "$want" ]
	[ "$(digest "$BATS_TEST_TMPDIR/b")" = "$want" ]
	[ "$(digest "$BATS_TEST_TMPDIR/c")" = "$want" ] # zip counts two seconds
}

@test "another epoch or another content changes the bytes" {
	want="$(digest "$WHEELS")"
	cp -r "$SOURCES" "$BATS_TEST_TMPDIR/changed"
	echo >> "$BATS_TEST_TMPDIR/changed/demo/run.py"
	mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	"$driver" "$SOURCES" "$BATS_TEST_TMPDIR/a" $((epoch + 2)) "$HOST"
	"$driver" "$BATS_TEST_TMPDIR/changed" "$BATS_TEST_TMPDIR/b" $epoch "$HOST"
	[ "$(digest "$BATS_TEST_TMPDIR/a")" != "$(sha256sum "$WHEELS"/*-cp*.whl | cut -d' ' -f1)" ]
	[ "$(digest "$BATS_TEST_TMPDIR/b")" != "$(sha256sum "$WHEELS"/*-cp*.whl | cut -d' ' -f1)" ]
}

@test "the file names follow the binary distribution format" {
	tag="cp${HOST/./}"
	[ -f "$WHEELS/demo_kernels-1.0+cu.12.4.torch.2.5.sm.80.90ptx-$tag-$tag-manylinux_2_34_x86_64.manylinux_2_35_x86_64.whl" ]
	[ -f "$WHEELS/demo_kernels-1.0-py3-none-any.whl" ]
}

@test "no byte is out of place" {
	run -0 "$VENV/bin/python" "$WS_ROOT/tests/support/wheel_judge.py" "$WHEELS"/*.whl
}

@test "the judge sees one changed byte" {
	wheel="$(echo "$WHEELS"/*-any.whl)"
	mkdir "$BATS_TEST_TMPDIR/bad"
	size="$(stat -c %s "$wheel")"
	for at in 6 10 14 100 $((size - 30)) $((size - 22)) $((size - 1)); do
		cp "$wheel" "$BATS_TEST_TMPDIR/bad/"
		byte="$(od -An -tu1 -j "$at" -N 1 "$wheel")"
		printf '%b' "\\0$(printf %o $((byte ^ 8)))" |
			dd of="$BATS_TEST_TMPDIR/bad/${wheel##*/}" bs=1 seek="$at" conv=notrunc status=none
		run "$VENV/bin/python" "$WS_ROOT/tests/support/wheel_judge.py" "$BATS_TEST_TMPDIR/bad"/*.whl
		echo "$at: $output"
		[ "$status" -eq 1 ]
	done
}

@test "pip installs it and the module runs" {
	"$VENV/bin/pip" install --quiet --no-deps --no-index --target "$BATS_TEST_TMPDIR/site" "$WHEELS"/*-cp*.whl
	[ -x "$BATS_TEST_TMPDIR/site/demo/run.py" ]
	[ ! -x "$BATS_TEST_TMPDIR/site/demo/__init__.py" ]
	run env PYTHONPATH="$BATS_TEST_TMPDIR/site" python3 -c 'import demo; print(demo.answer())'
	[ "$output" = 42 ]
	run env PYTHONPATH="$BATS_TEST_TMPDIR/site" python3 -c '
from importlib.metadata import distribution
demo = distribution("demo-kernels")
assert demo.version == "1.0+cu.12.4.torch.2.5.sm.80.90ptx", demo.version
assert demo.metadata["Summary"] == "Straße, a demonstration"
assert demo.requires == ["torch==2.5.*", "packaging>=20 ; python_version >= \"3.8\"".replace("\"", "\x27"),
                         "pytest ; extra == \"test-all\""], demo.requires
assert demo.metadata.get_payload().startswith("# Demo")'
	[ "$status" -eq 0 ]
}

@test "pip's own resolver reads it and asks for torch" {
	run ! "$VENV/bin/pip" install --dry-run --no-index --find-links "$WHEELS" --target "$BATS_TEST_TMPDIR/t" \
		'demo-kernels==1.0+cu.12.4.torch.2.5.sm.80.90ptx'
	[[ "$output" == *"torch==2.5.*"* ]]
}

@test "twine finds nothing to say" {
	run -0 "$VENV/bin/twine" check --strict "$WHEELS"/*.whl
}

@test "check-wheel-contents finds nothing to say" {
	# W009: two names at the top, demo and its module, are on purpose.
	run -0 "$VENV/bin/check-wheel-contents" --ignore W009 "$WHEELS"/*.whl
}

@test "the bill of materials is valid CycloneDX 1.5" {
	run "$VENV/bin/python" - "$WHEELS"/*.whl <<'PYTHON'
import sys
import zipfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as wheel:
        [name] = [n for n in wheel.namelist() if n.endswith(".dist-info/sboms/wheelsmith.cdx.json")]
        error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(wheel.read(name).decode())
        assert error is None, error
PYTHON
	[ "$status" -eq 0 ]
}
