#!/usr/bin/env bats
# --variants: wheel variants of draft PEP 825, read by variantlib, and not seen by installers of today.
# labels: network
# timeout: 300

load publishing

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	python3 -m venv tools
	tools/bin/pip install --quiet --upgrade pip jsonschema variantlib==0.2.2
	local cp=cp311-cp311-linux_x86_64
	wheels w "demo 1.0+cu.12.4.torch.2.5.sm.86 $cp torch==2.5.*" "demo 1.0+cu.12.4.torch.2.5.sm.90 $cp torch==2.5.*" \
		"demo 1.0+cu.12.4.torch.2.6.sm.90 $cp torch==2.6.*" "demo 1.0+cu.12.8.torch.2.11.sm.80 $cp torch==2.11.*" \
		"demo 1.0+cu.12.8.torch.2.11.sm.90 $cp torch==2.11.*" "demo 1.0+cu.13.0.torch.2.11.sm.80 $cp torch==2.11.*" \
		"demo 1.0+cu.13.0.torch.2.11.sm.90 $cp torch==2.11.*" "demo 1.0+cu.13.0.torch.2.10.sm.90 $cp torch==2.10.*" \
		"demo 1.0+cu.13.0.torch.2.11.sm.75.90ptx $cp torch==2.11.*" \
		"demo 1.0+cu.13.0.torch.2.11.sm.100 cp312-cp312-linux_x86_64 torch==2.11.*"
	# The ABI is not what installers can ask for; no CUDA; nothing measured.
	wheels others "demo 1.0+cu.12.4.torch.2.5.cxx11abi.1.sm.86 $cp torch==2.5.*" "pure 1.0 py3-none-any METADATA:Requires-Python:_>=3.8" \
		"stranger 1.0+cu124torch2.5 $cp torch==2.5.* foreign"
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	ln -s "$BATS_FILE_TMPDIR"/{tools,w,others} .
	page=idx/variants/simple/demo
}

variants() {
	tools/bin/python "$WS_ROOT/tests/support/variants.py" "$@"
}

@test "ten wheels: each a variant with its properties, and variantlib picks for two hosts" {
	run -0 "$WHEELSMITH" publish w others --variants --to idx
	[[ $output == *"10 new wheel variants"* && $output == *"idx/variants/simple/"* ]]
	[ "$(find idx/files -name '*sm[0-9]*-cp31?-*_sm*.whl' | wc -l)" -eq 0 ]
	[ "$(find idx/files -name 'demo-1.0-cp31?-*_sm*.whl' | wc -l)" -eq 10 ]
	variants valid "$page/demo-1.0-variants.json"
	local cuda='nvidia :: cuda_version_lower_bound ::' arch='nvidia :: sm_arch ::'
	run -0 variants choose "$page/demo-1.0-variants.json" 2.11.0 "$cuda 13.0" "$cuda 12.8" "$cuda 12.4" \
		"$arch 90_real" "$arch 90_virtual" "$arch 80_real" "$arch 75_real"
	[ "$output" = "cu13.0_torch2.11_sm75.90ptx cu13.0_torch2.11_sm90 cu13.0_torch2.11_sm80 cu12.8_torch2.11_sm90 cu12.8_torch2.11_sm80" ]
	run -0 variants choose "$page/demo-1.0-variants.json" 2.5.1 "$cuda 12.4" "$arch 86_real" "$arch 80_real"
	[ "$output" = cu12.4_torch2.5_sm86 ]
	run -0 "$WHEELSMITH" publish --verify --to idx
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" idx/index.json
}

@test "a variant is the same wheel under the public version" {
	"$WHEELSMITH" publish w --variants --to idx
	local label=cu12.4_torch2.5_sm86
	local file=idx/files/demo-1.0-cp311-cp311-linux_x86_64-$label.whl
	python3 -m zipfile -e "$file" out
	variants valid out/demo-1.0.dist-info/variant.json
	cmp "$file.metadata" out/demo-1.0.dist-info/METADATA
	grep -qx 'Version: 1.0' out/demo-1.0.dist-info/METADATA
	grep -qx 'Requires-Dist: torch==2.5.\*' out/demo-1.0.dist-info/METADATA
	python3 -m zipfile -e w/demo-1.0+cu.12.4.torch.2.5.sm.86-*.whl old
	cmp out/demo/__init__.py old/demo/__init__.py
	cmp out/demo-1.0.dist-info/wheelsmith.json old/demo-1.0+*.dist-info/wheelsmith.json
	[ ! -e out/demo-1.0+cu.12.4.torch.2.5.sm.86.dist-info ]
	cp "$file" demo-1.0-cp311-cp311-linux_x86_64.whl # as installers of today can read it
	run -0 "$WHEELSMITH" publish demo-1.0-cp311-cp311-linux_x86_64.whl --to alone
	tools/bin/pip install --quiet --no-deps --no-index --target site --python-version 3.11 --only-binary :all: \
		demo-1.0-cp311-cp311-linux_x86_64.whl
	PYTHONPATH=site python3 -c 'import demo'
}

@test "the same again changes nothing; later wheels join, and the old path answers as before" {
	"$WHEELSMITH" publish w/*sm.86* w/*torch.2.6* --to idx
	before=$(cat idx/cu124-torch2.5/simple/demo/index.html)
	run -0 "$WHEELSMITH" publish --variants --to idx
	[[ $output == *"2 new wheel variants"* && $output == *"0 of them new"* ]]
	run -0 "$WHEELSMITH" publish w/*sm.86* --variants --to idx
	[[ $output == *"nothing to do"* ]]
	find idx/files -type f -exec sha256sum {} + | sort > first
	run -0 "$WHEELSMITH" publish w/*torch.2.11.sm.100* --to idx # without --variants those that are there stay
	run -0 "$WHEELSMITH" publish --variants --to idx
	[[ $output == *"1 new wheel variant "* ]]
	sha256sum --quiet --check first
	[ "$(grep -c _sm "$page/index.html")" -eq 3 ]
	[ "$before" = "$(cat idx/cu124-torch2.5/simple/demo/index.html)" ]
	run -1 grep -r _sm --include=index.html idx/cu*/simple/
	run -0 "$WHEELSMITH" publish --verify --to idx
}

@test "wheels without a variant: the other ABI, no CUDA, a foreign wheel" {
	run -0 "$WHEELSMITH" publish others --variants --to idx
	[[ $output == *"0 new wheel variants (draft PEP 825); only wheels that are bound"* ]]
	[ ! -e idx/variants ]
	run -2 "$WHEELSMITH" publish w --variants --to s3://bucket/x
	[[ $output == *"--variants"*"in a folder"* ]]
}

@test "pip sees no variant, and from the path of its torch the ordinary wheel" {
	"$WHEELSMITH" publish w others --variants --to idx
	plain_clients
	coproc python3 "$WS_ROOT/tests/support/index_server.py" idx "$BATS_TEST_TMPDIR/log" json
	read -r _ port <&"${COPROC[0]}"
	words=(--no-deps --target site --python-version 3.11 --only-binary :all:)
	run -1 tools/bin/pip install "${words[@]}" --index-url "http://127.0.0.1:$port/variants/simple/" demo
	[[ $output == *"No matching distribution"* ]]
	tools/bin/pip install --quiet "${words[@]}" --index-url "http://127.0.0.1:$port/variants/simple/" pure
	tools/bin/pip install --quiet "${words[@]}" --index-url "http://127.0.0.1:$port/cu124-torch2.6/simple/" demo
	ls -d site/demo-1.0+cu.12.4.torch.2.6.sm.90.dist-info
	kill "$COPROC_PID"
}

@test "1.0 and 1.0.0 are one release: one variant answers, as one wheel does, and all labels are in its list" {
	local cp=cp311-cp311-linux_x86_64
	wheels two "demo 1.0+cu.12.4.torch.2.5.sm.86 $cp torch==2.5.*" "demo 1.0.0+cu.12.4.torch.2.5.sm.86 $cp torch==2.5.*" \
		"demo 1.0.0+cu.12.4.torch.2.5.sm.90 $cp torch==2.5.*" "demo 1.0+cu.12.8.torch.2.11.sm.80 $cp torch==2.11.*" \
		"demo 1.0.0+cu.13.0.torch.2.11.sm.90 $cp torch==2.11.*" "demo 1.0.0+cu.13.0.torch.2.11.sm.90 cp312-cp312-linux_x86_64 torch==2.11.*"
	run -0 "$WHEELSMITH" publish two --variants --to idx
	run -0 "$WHEELSMITH" publish --verify --to idx
	# The same wheel answers here and in the paths.
	python3 - <<- 'END'
		import json
		def files(path):
		    return {f["filename"] for f in json.load(open(f"idx/{path}/simple/demo/index.json"))["files"]}
		wheels = {f for p in ("cu124-torch2.5-sm86", "cu124-torch2.5-sm90", "cu128-torch2.11", "cu130-torch2.11") for f in files(p)}
		shown = {f for f in files("variants") if f.endswith(".whl")}
		plain = sorted((f.split("+")[0], f.split("-")[2]) for f in wheels)
		assert len(shown) == 5 and sorted(("-".join(f.split("-")[:2]), f.split("-")[2]) for f in shown) == plain, (shown, plain)
		lists = [json.load(open(f"idx/variants/simple/demo/demo-{v}-variants.json")) for v in ("1.0", "1.0.0")]
		assert lists[0] == lists[1]
		assert {f[:-4].split("-")[5] for f in shown} == set(lists[0]["variants"])
		pages = [f["path"] for f in json.load(open("idx/manifest.json"))["files"]]
		assert len(pages) == len(set(pages))
	END
	variants valid "$page/demo-1.0-variants.json"
	grep -q 'href="demo-1.0-variants.json' "$page/index.html"
	grep -q 'href="demo-1.0.0-variants.json' "$page/index.html"
}

# The state of a publisher that was killed after its files and before its snapshot.
killed_before_current() {
	local snapshot
	snapshot=$(readlink idx/current)
	run -0 "$WHEELSMITH" publish --variants --to idx
	rm -r "idx/$(readlink idx/current)" idx/variants
	ln -sfn "$snapshot" idx/current
}

repack() { # FILE PYTHON
	python3 - "$1" "$2" <<- 'END'
		import os, sys, zipfile
		old = zipfile.ZipFile(sys.argv[1])
		members = [[info, old.read(info)] for info in old.infolist()]
		exec(sys.argv[2])
		os.remove(sys.argv[1])
		with zipfile.ZipFile(sys.argv[1], "w") as new:
		    for info, text in members:
		        new.writestr(info, text, compress_type=zipfile.ZIP_DEFLATED, compresslevel=1)
	END
}

@test "leftovers of a killed publisher stay, also if a different zlib packed them to other bytes" {
	local file=idx/files/demo-1.0-cp311-cp311-linux_x86_64-cu12.4_torch2.5_sm86.whl there
	"$WHEELSMITH" publish w/*sm.86* --to idx
	killed_before_current
	there=$(sha256sum < $file)
	repack $file 'members.reverse()'
	[ "$there" != "$(sha256sum < $file)" ]
	there=$(sha256sum $file)
	run -0 "$WHEELSMITH" publish --variants --to idx
	[[ $output == *"1 new wheel variant "* ]]
	[ "$there" = "$(sha256sum $file)" ]
	[ "${there%% *}" = "$(jq -r '.wheels[0].variant.sha256' idx/index.json)" ]
	run -0 "$WHEELSMITH" publish --verify --to idx
	# Other contents are refused as usual.
	local change
	for change in 'members[0][1] += b"x"' 'members.append([zipfile.ZipInfo("demo/more.py"), b""])' \
		'members[0][0].external_attr ^= 0o111 << 16'; do
		rm -r idx
		"$WHEELSMITH" publish w/*sm.86* --to idx
		killed_before_current
		repack $file "$change"
		there=$(sha256sum $file)
		run -8 "$WHEELSMITH" publish --variants --to idx
		[[ $output == *"is published with other contents"* ]]
		[ "$there" = "$(sha256sum $file)" ]
	done
}
