#!/usr/bin/env bats
# Indexes that publish made, served on loopback: pip and uv take the right wheel of each path.
# labels: network
# timeout: 500

load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	export HOME="$PWD/home" WHEELSMITH_STORE="$PWD/store" PIP_DISABLE_PIP_VERSION_CHECK=1
	python3 -m venv tools
	tools/bin/pip install --quiet --upgrade pip uv packaging
	wheels w \
		"demo 1.0+cu.12.4.torch.2.5.sm.86 $(tag)" "demo 1.0+cu.12.4.torch.2.5.sm.90 $(tag)" \
		"demo 1.0+cu.12.4.torch.2.6.sm.90 $(tag)" "demo 1.0+cu.13.0.torch.2.11.sm.90 $(tag)" \
		"demo 1.0+cu.12.sm.80 py3-none-linux_x86_64" "demo 1.0 py3-none-any" \
		"wide 2.0+cu.12.4.torch.2.5.sm.80 py3-none-linux_x86_64 demo==1.0 torch>=2.5;python_version<'3'"
	"$WHEELSMITH" publish w --to idx
}

tag() {
	python3 -c 'import sys; v = "cp%d%d" % sys.version_info[:2]; print(f"{v}-{v}-linux_x86_64")'
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	plain_clients
}

teardown() {
	[ -z "${COPROC_PID:-}" ] || kill "$COPROC_PID" 2> /dev/null || true
}

serve() { # html|json
	# shellcheck disable=SC2034 # COPROC is read
	coproc python3 "$WS_ROOT/tests/support/index_server.py" idx "$BATS_TEST_TMPDIR/log" "$1"
	local word
	read -r word port <&"${COPROC[0]}"
	[ "$word" = ready ]
}

installed() { # the version that demo has in site
	find site -name 'demo-*.dist-info' | sed 's,.*/demo-\(.*\).dist-info,\1,'
}

pip_takes() { # PATH REQUIREMENT VERSION
	rm -rf site
	echo "pip: $1 $2"
	tools/bin/pip install --quiet --no-deps --target site --index-url "http://127.0.0.1:$port/$1/simple/" "$2"
	[ "$(installed)" = "$3" ]
}

uv_takes() { # PATH REQUIREMENT VERSION
	rm -rf site
	echo "uv: $1 $2"
	tools/bin/uv pip install --quiet --no-deps --python tools/bin/python --target site \
		--index-url "http://127.0.0.1:$port/$1/simple/" "$2"
	[ "$(installed)" = "$3" ]
}

each_path() { # pip_takes|uv_takes
	$1 cu124-torch2.5-sm86 demo==1.0 1.0+cu.12.4.torch.2.5.sm.86
	$1 cu124-torch2.5-sm90 demo==1.0 1.0+cu.12.4.torch.2.5.sm.90
	$1 cu124-torch2.6 demo==1.0 1.0+cu.12.4.torch.2.6.sm.90
	$1 cu130-torch2.11 demo==1.0 1.0+cu.13.0.torch.2.11.sm.90
	$1 cu12 demo 1.0+cu.12.sm.80
	$1 all demo==1.0+cu.12.4.torch.2.5.sm.86 1.0+cu.12.4.torch.2.5.sm.86
	$1 "$(readlink idx/current)/cu124-torch2.6" demo==1.0 1.0+cu.12.4.torch.2.6.sm.90
}

@test "pip, from each path, by JSON" {
	serve json
	each_path pip_takes
	grep -q '^200 /cu124-torch2.6/simple/demo/ JSON' "$BATS_TEST_TMPDIR/log"
}

@test "pip, by HTML alone" {
	serve html
	pip_takes cu124-torch2.5-sm86 demo==1.0 1.0+cu.12.4.torch.2.5.sm.86
	pip_takes cu130-torch2.11 demo==1.0 1.0+cu.13.0.torch.2.11.sm.90
}

@test "uv, from each path, by JSON and by HTML" {
	serve json
	each_path uv_takes
	grep -q '^200 /cu124-torch2.6/simple/demo/ JSON' "$BATS_TEST_TMPDIR/log"
	kill "$COPROC_PID"
	wait "$COPROC_PID" 2> /dev/null || true
	serve html
	each_path uv_takes
}

@test "resolving reads METADATA beside the wheels, and no wheel" {
	serve json
	local path=cu124-torch2.5-sm86
	tools/bin/pip install --quiet --dry-run --ignore-installed --target site \
		--index-url "http://127.0.0.1:$port/$path/simple/" wide
	echo wide | tools/bin/uv pip compile --quiet --generate-hashes --python tools/bin/python \
		--index-url "http://127.0.0.1:$port/$path/simple/" - > locked.txt
	cat locked.txt "$BATS_TEST_TMPDIR/log"
	grep -qF 'demo==1.0+cu.12.4.torch.2.5.sm.86' locked.txt
	[ "$(grep -c '\.whl\.metadata -' "$BATS_TEST_TMPDIR/log")" -ge 4 ]
	run -1 grep '\.whl -' "$BATS_TEST_TMPDIR/log"
	# the resolved files install, checked by their hashes.
	rm -rf site
	tools/bin/pip install --quiet --require-hashes --target site \
		--index-url "http://127.0.0.1:$port/$path/simple/" -r locked.txt
	[ "$(installed)" = 1.0+cu.12.4.torch.2.5.sm.86 ]
}

@test "both refuse a wheel that differs from the page" {
	rm -rf kept
	cp -a idx kept
	local wheel
	wheel=$(basename idx/files/demo-1.0+cu.12.4.torch.2.6*.whl)
	serve json
	chmod u+w "idx/files/$wheel"
	cp w/demo-1.0-py3-none-any.whl "idx/files/$wheel"
	run ! pip_takes cu124-torch2.6 demo==1.0 x
	[[ $output == *"DO NOT MATCH THE HASHES"* ]]
	run ! uv_takes cu124-torch2.6 demo==1.0 x
	[[ $output == *"ash mismatch"* ]]
	rm -rf idx
	mv kept idx
}

@test "from file://, and by the strict parsers" {
	rm -rf site
	tools/bin/pip install --quiet --no-deps --target site --index-url "file://$PWD/idx/cu124-torch2.6/simple/" demo==1.0
	[ "$(installed)" = 1.0+cu.12.4.torch.2.6.sm.90 ]
	tools/bin/python - idx <<- 'END'
		import hashlib, html.parser, json, pathlib, sys, urllib.parse
		from packaging.metadata import Metadata
		from packaging.utils import canonicalize_name, parse_wheel_filename

		class Links(html.parser.HTMLParser):
		    def __init__(self):
		        super().__init__()
		        self.links = []
		    def handle_starttag(self, tag, attrs):
		        if tag == "a":
		            self.links.append(dict(attrs))

		pages = 0
		root = pathlib.Path(sys.argv[1])
		for page in root.glob("*/simple/*/index.json"):
		    data, links = json.loads(page.read_text()), Links()
		    links.feed((page.parent / "index.html").read_text())
		    assert data["meta"] == {"api-version": "1.1"} and data["name"] == canonicalize_name(data["name"])
		    assert len(links.links) == len(data["files"]) > 0
		    versions = set()
		    for file, link in zip(data["files"], links.links):
		        name, version, _, tags = parse_wheel_filename(file["filename"])
		        versions.add(str(version))
		        wheel = (page.parent / urllib.parse.unquote(file["url"])).resolve()
		        assert name == data["name"] and hashlib.sha256(wheel.read_bytes()).hexdigest() == file["hashes"]["sha256"]
		        assert wheel.stat().st_size == file["size"]
		        beside = wheel.with_name(wheel.name + ".metadata").read_bytes()
		        assert hashlib.sha256(beside).hexdigest() == file["core-metadata"]["sha256"]
		        metadata = Metadata.from_email(beside, validate=True)
		        assert canonicalize_name(metadata.name) == name and metadata.version == version
		        assert link["href"] == file["url"] + "#sha256=" + file["hashes"]["sha256"]
		        assert link["data-core-metadata"] == "sha256=" + file["core-metadata"]["sha256"]
		    assert versions == set(data["versions"])
		    pages += 1
		assert pages == 14, pages
	END
}
