#!/usr/bin/env bats
# publish: what an index consists of, what is refused, and that whatever happens the old one stays.
# timeout: 400

load publishing

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
}

d86="demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*"
d90="demo 1.0+cu.12.4.torch.2.5.sm.90 cp311-cp311-linux_x86_64 torch==2.5.*"
pure="pure 1.0 py3-none-any METADATA:Requires-Python:_>=3.8"

publish() { # STATUS ARGUMENT...
	local status=$1
	shift
	run "-$status" "$WHEELSMITH" publish "$@"
}

# Refused with exactly one line that has TEXT, and nothing of the index changed.
refused() { # TEXT DIR [ARGUMENT...]
	local text=$1 before
	shift
	before=$(find idx -printf '%P %s %i %l\n' | sort)
	publish 8 "$@" --to idx
	[[ ${lines[0]} == error:*"$text"* ]] || { echo "not said: $text"; echo "$output"; return 1; }
	[ "$(grep -c '^error:' <<< "$output")" -eq 1 ]
	diff <(echo "$before") <(find idx -printf '%P %s %i %l\n' | sort)
	publish 0 --verify --to idx
}

valid() { # FILE...
	python3 -c 'import jsonschema' 2> /dev/null || return 0
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" "$@"
}

# A server reads it as a different user; only owner and group may write.
@test "an index and a store under any umask" {
	local mask
	wheels w "$d86" "$pure"
	for mask in 000 002 077; do
		echo "umask $mask"
		(umask $mask && "$WHEELSMITH" publish w --to "idx$mask" --store "store$mask")
		[ -z "$(find "idx$mask" "store$mask" ! -type l -perm -o+w)" ]
		[ -z "$(find "idx$mask" -name '.*' -prune -o ! -type l ! -perm -o+r -print -o -type d ! -perm -o+x -print)" ]
	done
	[ -z "$(find store077 -perm /077 ! -name ledger.db ! -name VERSION)" ] # as its owner wants it
	[ -z "$(find idx002 store002 -type d ! -perm -g+w)" ]
}

@test "a tree: paths, files beside their METADATA, digests; and again nothing to do" {
	wheels w "$d86" "$pure"
	publish 0 w --to idx --json
	jq -e '.changed and .added == 2 and .paths == ["cu124-torch2.5", "cu124-torch2.5-sm86"]' <<< "$output"
	valid idx/index.json idx/manifest.json - <<< "$output" || valid idx/index.json idx/manifest.json
	local file
	for file in idx/files/*.whl; do
		unzip -p "$file" '*.dist-info/METADATA' | cmp - "$file.metadata"
		jq -e --arg name "${file##*/}" --arg sum "$(sha256sum < "$file" | cut -d' ' -f1)" \
			'.wheels[] | select(.file == $name) | .sha256 == $sum' idx/index.json
	done
	jq -e '.files[0]["requires-python"] == ">=3.8" and .files[0].yanked == false' idx/all/simple/pure/index.json
	grep -q 'data-requires-python="&gt;=3.8"' idx/cu124-torch2.5/simple/pure/index.html
	grep -q '/demo-1.0%2Bcu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl#sha256=' \
		idx/cu124-torch2.5/simple/demo/index.html
	local before
	before=$(find idx -printf '%P %s %i %l\n' | sort)
	publish 0 w --to idx
	[[ $output == *"nothing to do"* ]]
	diff <(echo "$before") <(find idx -printf '%P %s %i %l\n' | sort)
	publish 0 --verify --to idx
	[[ $output == *"2 wheels are as published; not signed"* ]]
}

@test "a wheel more touches its own pages alone; the old snapshot stays" {
	wheels w "$d86" "$pure" "other 1.0+cu.12.4.torch.2.6.sm.86 cp311-cp311-linux_x86_64 torch==2.6.*"
	publish 0 w --to idx
	local first page
	first=$(readlink idx/current)
	wheels w "demo 1.1+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*"
	publish 0 w --to idx
	[ "$(readlink idx/current)" != "$first" ]
	for page in all cu124-torch2.5; do
		[ ! "idx/$first/$page/simple/demo/index.json" -ef "idx/$page/simple/demo/index.json" ]
		[ "idx/$first/$page/simple/pure/index.json" -ef "idx/$page/simple/pure/index.json" ]
	done
	[ "idx/$first/cu124-torch2.6/simple/index.html" -ef idx/cu124-torch2.6/simple/index.html ]
	jq -e '.files | length == 1' "idx/$first/cu124-torch2.5/simple/demo/index.json"
	[ -f "idx/$first/cu124-torch2.5/simple/demo/../../../files/${d86%% *}-1.0+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl" ]
}

@test "snapshots: back to one, on from there, and how many stay" {
	wheels one "$d86"
	wheels two "$d90"
	publish 0 one --to idx
	local first
	first=$(readlink idx/current)
	publish 0 two --to idx
	[ -d idx/cu124-torch2.5-sm90 ]
	publish 0 --rollback "$first" --to idx
	[ "$(readlink idx/current)" = "$first" ]
	[ ! -e idx/cu124-torch2.5-sm90 ] && [ ! -L idx/cu124-torch2.5-sm90 ]
	jq -e '.wheels | length == 1' idx/index.json
	publish 0 --verify --to idx
	refused "has no snapshot '@2020-01-01.1'" --rollback 2020-01-01.1
	refused "has no snapshot '$first/../..'" --rollback "$first/../.."
	publish 0 two --to idx --snapshots 2
	[ "$(find idx -maxdepth 1 -name '@*' | wc -l)" -eq 2 ]
	[ "$(basename "$(readlink idx/current)")" = "${first%.1}.3" ]
	publish 0 --verify --to idx
}

@test "a link 'current' that names no snapshot does not begin a new index" {
	wheels one "$d86"
	wheels two "$d90"
	publish 0 one --to idx
	publish 0 two --to idx
	local last before to
	last=$(readlink idx/current)
	before=$(find idx -not -name current -printf '%P %s %i %l\n' | sort)
	for to in /etc current @2026-11-22 "@2026-11-22.18446744073709551615" "../idx/$last" "$(printf '%0300d' 0)" ""; do
		rm -f idx/current
		[ -z "$to" ] || ln -s "$to" idx/current
		for action in one --verify; do
			publish 8 "$action" --to idx
			[[ ${lines[0]} == "error: 'idx'"*"'current'"* && $output == *"roll back to the one that is meant; the last one is '$last'"* ]] || { echo "$to: $output"; return 1; }
		done
		diff <(echo "$before") <(find idx -not -name current -printf '%P %s %i %l\n' | sort)
		publish 0 --rollback "$last" --to idx
		[ "$(readlink idx/current)" = "$last" ]
		publish 0 --verify --to idx
	done
	# Other spellings of the same lead there, and publishing goes on from there.
	ln -sfn "./$last/" idx/current
	publish 0 one --to idx
	[[ $output == *"nothing to do"* ]]
	wheels three "$pure"
	publish 0 three --to idx
	jq -e '.wheels | length == 3' idx/index.json
	# A first publish that was killed before its end left one snapshot: there is nothing to lose.
	publish 0 one --to other
	rm other/current
	publish 0 one --to other
	jq -e '.wheels | length == 1' other/index.json
	# A hand may use up the numbers of a day.
	mkdir "other/@$(date -u +%F).999999999"
	publish 8 three --to other
	[[ $output == *"'other' has no number left for a snapshot of this day"* ]]
	publish 0 --verify --to other
}

@test "the printed paths have code for one architecture" {
	wheels w "$d86" "other 1.0+cu.12.4.torch.2.5.sm.90 cp311-cp311-linux_x86_64 torch==2.5.*" "$pure"
	publish 0 w --to idx
	[ "$(grep -v ^@ <<< "$output")" = "idx/cu124-torch2.5-sm86/simple/
idx/cu124-torch2.5-sm90/simple/" ]
	[ -d idx/cu124-torch2.5-sm86/simple/demo ] && [ ! -d idx/cu124-torch2.5-sm86/simple/other ] && [ -d idx/cu124-torch2.5-sm86/simple/pure ]
	[ -d idx/cu124-torch2.5-sm90/simple/other ] && [ ! -d idx/cu124-torch2.5-sm90/simple/demo ]
}

@test "a wheel that was there first keeps the plain path" {
	wheels one "$d90"
	wheels two "$d86"
	publish 0 one --to idx
	publish 0 two --to idx --json
	jq -e '.paths == ["cu124-torch2.5", "cu124-torch2.5-sm86", "cu124-torch2.5-sm90"]' <<< "$output"
	jq -e '.files[0].filename | contains("sm.90")' idx/cu124-torch2.5/simple/demo/index.json
	jq -e '.files[0].filename | contains("sm.86")' idx/cu124-torch2.5-sm86/simple/demo/index.json
	jq -e '[.files[].filename] | length == 2' idx/all/simple/demo/index.json
}

@test "yanks, with a reason, and back" {
	wheels w "$d86" "$d90"
	publish 0 w --to idx
	publish 0 --to idx --yank demo==1.0+cu.12.4.torch.2.5.sm.86 --reason 'wrong <results>'
	grep -q 'data-yanked="wrong &lt;results&gt;"' idx/cu124-torch2.5-sm86/simple/demo/index.html
	jq -e '[.files[].yanked] == ["wrong <results>", false]' idx/all/simple/demo/index.json
	publish 0 --to idx --yank demo==1.0 --reason ''
	jq -e '[.files[].yanked] == [true, true]' idx/all/simple/demo/index.json
	publish 0 --to idx --unyank demo==1.0
	jq -e '[.files[].yanked] == [false, false]' idx/all/simple/demo/index.json
	refused "has no wheel 'demo==2.0'" --yank demo==2.0 --reason x
	publish 2 --to idx --yank demo==1.0
}

@test "strangers stand where a build.json says that they were judged, else in all/" {
	local name=alien-1.0+cu12torch2.5cxx11abiFALSE-cp311-cp311-linux_x86_64.whl
	wheels w "alien 1.0+cu12torch2.5cxx11abiFALSE cp311-cp311-linux_x86_64 foreign"
	publish 0 w --to idx
	[[ $output == *"1 new wheel in all/ only, as no build.json lists where it loads: '"* ]]
	[ -z "$(compgen -G 'idx/cu[0-9]*')" ]
	cat > w/build.json <<- END
		{"schema": "wheelsmith.build/1", "cells": [
		  {"cell": "alien-1.0/torch2.5.1/cu12.4/cp311/sm80+90ptx", "wheel": "$name", "decision": "prebuilt",
		   "sha256": "$(sha256sum < "w/$name" | cut -d' ' -f1)"},
		  {"cell": "alien-1.0/torch2.5.1+cu121/cu12.1/cp311/sm86/abi1", "wheel": "$name", "decision": "prebuilt",
		   "sha256": "$(sha256sum < "w/$name" | cut -d' ' -f1)"},
		  {"cell": "alien-1.0/torch2.5.1/cu12.6/cp311/sm90/x", "wheel": "$name", "decision": "prebuilt",
		   "sha256": "$(sha256sum < "w/$name" | cut -d' ' -f1)"}]}
	END
	publish 0 w --to other
	jq -e '.wheels[0].places == ["cu.12.4.torch.2.5.sm.80.90ptx", "cu.12.1.torch.2.5.sm.86.cxx11abi.1.tcu.12.1",
		"cu.12.6.torch.2.5.sm.90"]' \
		other/index.json
	grep -q "$name" other/cu124-torch2.5/simple/alien/index.html
	grep -q "$name" other/cu121-torch2.5-abi1-tcu121/simple/alien/index.html
	valid other/index.json
	printf '{"schema": "wheelsmith.build/9"}' > w/build.json
	publish 8 w --to third
	[[ $output == *"is not a report of this version"* ]]
}

@test "refused: other contents under a name, other spellings of it" {
	wheels w "$d86"
	publish 0 w --to idx
	wheels v "$d86 METADATA:Summary:_other"
	refused "is published with other contents" v
	wheels x "Demo 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.*"
	refused "differs from 'demo-1.0+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl' by its spelling alone" x
	wheels y "demo 1.0+cu.12.4.torch.2.5.SM.86 cp311-cp311-linux_x86_64 torch==2.5.*"
	refused "by its spelling alone" y
	# A good one beside it is not taken either.
	wheels x "$pure"
	refused "by its spelling alone" x
	[ ! -e idx/files/pure-1.0-py3-none-any.whl ]
}

@test "refused: a name that leaves no room for .metadata; the longest that does is published" {
	local name
	name=$(printf 'n%.0s' {1..225})
	wheels fits "$name 1.0 py3-none-any"
	wheels long "${name}n 1.0 py3-none-any"
	[ "$(basename fits/*.whl | tr -d '\n' | wc -c)" -eq 246 ]
	publish 0 fits --to idx
	refused "'${name}n-1.0-py3-none-any.whl': its name is too long: with '.metadata' it has 256 bytes, and a file name has at most 255" long
}

# The wheel w/demo... packed anew after an edit of its unpacked folder.
edited() { # COMMAND...
	local name
	name=$(basename w/demo*.whl)
	rm -rf e out
	mkdir e out
	(cd e && python3 -m zipfile -e ../w/demo*.whl . && "$@")
	(cd e && python3 - ../out/"$name") <<- 'END'
		import pathlib, sys, zipfile
		with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as wheel:
		    for path in sorted(p for p in pathlib.Path().rglob("*") if p.is_file()):
		        entry = zipfile.ZipInfo(str(path), (1980, 1, 1, 0, 0, 0))
		        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
		        wheel.writestr(entry, path.read_bytes())
	END
}

@test "refused: a wrong RECORD, names that disagree, a label that differs from the measurement" {
	wheels w "$d86"
	wheels good "$pure"
	publish 0 good --to idx
	edited sh -c 'echo evil >> demo/__init__.py'
	refused "'demo/__init__.py' has " out
	# A build.json beside it, whoever wrote it, does not speak for what is inside.
	jq -n --arg wheel "$(basename out/demo*)" --arg sum "$(sha256sum < out/demo*.whl | cut -d' ' -f1)" '{schema: "wheelsmith.build/1",
		cells: [{cell: "demo-1.0/torch2.5.1/cu12.4/cp311/sm86", wheel: $wheel, decision: "built", sha256: $sum}]}' > out/build.json
	refused "'demo/__init__.py' has " out
	edited sh -c 'echo evil > demo/more.py'
	refused "'demo/more.py' is in the wheel and not in RECORD" out
	edited sh -c 'rm demo/__init__.py'
	refused "'demo/__init__.py' is in RECORD and not in the wheel" out
	edited sh -c 'rm *.dist-info/RECORD'
	refused "the wheel has no RECORD" out
	edited python3 -c '
import base64, glob, hashlib, pathlib
facts, record = pathlib.Path(glob.glob("*/wheelsmith.json")[0]), pathlib.Path(glob.glob("*/RECORD")[0])
old, new = facts.read_bytes(), facts.read_bytes().replace(b"8.6", b"9.0")
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
facts.write_bytes(new)
record.write_text(record.read_text().replace(digest(old), digest(new)))'
	refused "the label says 'cu.12.4.torch.2.5.sm.86', its wheelsmith.json architectures 9.0" out
	mkdir renamed
	cp w/demo*.whl renamed/demo-1.1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl
	refused "the file name has '1.1+cu.12.4.torch.2.5.sm.86'" renamed
	edited sh -c 'echo evil >> demo/__init__.py'
	publish 0 out --to idx --force
	[[ $output == *"warning: published with --force although "*" failed a check: "*" as in RECORD"* ]]
	jq -e '[.wheels[] | .forced] | (.[0] | contains("as in RECORD")) and .[1] == null' idx/index.json
	valid idx/index.json
}

@test "refused: what is not a wheel, not an index, not there" {
	wheels w "$d86"
	publish 0 w --to idx
	mkdir bad empty
	head -c 300 w/demo*.whl > bad/cut-1.0-py3-none-any.whl
	refused "'cut-1.0-py3-none-any.whl'" bad --force
	mv bad/cut-1.0-py3-none-any.whl bad/cut.whl
	refused "'cut.whl' is not a wheel's name" bad
	refused "has no wheels" empty
	refused "cannot read 'nowhere'" nowhere
	publish 8 w --to w
	[[ $output == *"'w' is not an index, and not empty"* ]]
	publish 8 --verify --to empty
	[[ $output == *"'empty' is not an index"* ]]
	publish 2 w
	publish 2 w --to ftp://localhost/x
	publish 2 --to idx
	# A missing folder makes no index.
	publish 8 nowhere --to new
	publish 8 w empty --to new
	[ ! -e new ]
}

@test "refused: a newer list, a damaged one, a target that cannot be written" {
	wheels w "$d86"
	wheels v "$pure"
	publish 0 w --to idx
	local list=idx/current/index.json
	cp $list kept
	chmod u+w $list
	sed 's,wheelsmith.index/1,wheelsmith.index/2,' kept > $list
	publish 8 v --to idx
	[[ $output == *"was written by a newer wheelsmith (wheelsmith.index/2)"* ]]
	head -c 200 kept > $list
	publish 8 v --to idx
	sed 's/"sha256": "./"sha256": "x/' kept > $list
	publish 8 v --to idx
	[[ $output == *"index.json:"*": error: "*"is damaged: 'x"*"is not a sha256"* ]]
	cat kept > $list
	publish 0 --verify --to idx
	if [ "$(id -u)" -eq 0 ] && unshare -m true 2> /dev/null; then
		# shellcheck disable=SC2016 # that shell's
		run -8 unshare -m bash -euc 'mount --bind idx idx; mount -o remount,ro,bind idx; exec "$WHEELSMITH" publish v --to idx'
		[[ $output == *"Read-only file system"* ]]
	else
		chmod 555 idx
		publish 8 v --to idx
		[[ $output == *"Permission denied"* ]]
		chmod 755 idx
	fi
	publish 0 --verify --to idx
}

check() { # WHEEL RIGHT... of its cases: true, false; as `python -m wheelsmith_kernels check` writes it, on stdout
	local wheel=$1
	shift
	jq -n --arg sum "$(sha256sum < "$wheel" | cut -d' ' -f1)" '{schema: "wheelsmith.kernels-check/1",
		verdict: (if all($ARGS.positional[]; . == "true") then "right" else "wrong" end), problem: null, package: "demo", version: "1.0",
		wheel_sha256: $sum, device: {name: "NVIDIA Test 9000", capability: "9.0", memory: 1}, largest: {},
		cases: [$ARGS.positional[] | {case: "varlen", head_dim: 64, dtype: "float16", batch: 1, queries: 1, keys: 1, heads: 1, heads_k: 1,
			left: -1, right: (. == "true"), lengths: [], differences: {}, error: null}]}' --args "$@"
}

@test "a wheel without a GPU check is refused if the check is required" {
	wheels w "$d86" "$pure"
	wheels v "$d90"
	check w/demo*.whl true true > good
	check v/demo*.whl true false > bad
	publish 0 w --to idx --require-gpu-check good
	refused "no result of a GPU check names this wheel" v --require-gpu-check good
	refused "the GPU check on NVIDIA Test 9000 did not pass: its case 'varlen' is wrong" v --require-gpu-check good --require-gpu-check bad
	# A failed check decides against all others; so do failed cases, whatever the verdict of the file.
	check v/demo*.whl true > later
	refused "its case 'varlen' is wrong" v --require-gpu-check bad --require-gpu-check later
	refused "its case 'varlen' is wrong" v --require-gpu-check later --require-gpu-check bad
	sed 's/"verdict": "wrong"/"verdict": "right"/' bad > lies
	refused "its case 'varlen' is wrong" v --require-gpu-check lies
	check v/demo*.whl > none
	refused "it has no cases" v --require-gpu-check none
	jq '.verdict = "not checked" | .problem = "torch sees no GPU" | .device = null' later > undone
	refused "the GPU check did not pass: torch sees no GPU" v --require-gpu-check undone
	jq '.wheel_sha256 = null' later > anonymous
	refused "'wheel_sha256' does not say which wheel was checked" v --require-gpu-check anonymous
	refused "is not a result of a GPU check" v --require-gpu-check idx/index.json
	refused "cannot open 'nowhere'" v --require-gpu-check nowhere
	publish 0 v --to idx --require-gpu-check bad --force
	jq -e '[.wheels[].forced] == [null, "the GPU check on NVIDIA Test 9000 did not pass: its case '"'varlen'"' is wrong", null]' idx/index.json
}

@test "the page for people: all wheels inside, hostile texts as text, nothing loaded from elsewhere" {
	wheels w "$d86" "$d90" "$pure" "other 1.0+x py3-none-linux_x86_64 foreign"
	publish 0 w --to idx
	publish 0 --to idx --yank pure==1.0 --reason '</script><img src=x onerror=alert(1)><!-- &amp; "'
	publish 0 --verify --to idx
	[ "$(grep -c '</script>' idx/index.html)" -eq 2 ]
	run -1 grep -E '<img|(src|href) *= *"?(https?:)?//|@import|url\(|fetch\(|innerHTML' idx/index.html
	python3 - <<- 'END'
		import html.parser, json
		class Page(html.parser.HTMLParser):
		    data, inside, tags = "", False, []
		    def handle_starttag(self, tag, attrs):
		        self.tags.append(tag)
		        self.inside = tag == "script" and dict(attrs).get("id") == "data"
		    def handle_data(self, text):
		        self.data += text if self.inside else ""
		    def handle_endtag(self, tag):
		        self.inside = False
		page = Page()
		page.feed(open("idx/index.html").read())
		assert "img" not in page.tags
		data, index = json.loads(page.data), json.load(open("idx/index.json"))
		assert data["snapshot"] == index["snapshot"] and data["paths"] == ["cu124-torch2.5", "cu124-torch2.5-sm86", "cu124-torch2.5-sm90"]
		assert [(w["file"], w["yanked"]) for w in data["wheels"]] == [(w["file"], w["yanked"]) for w in index["wheels"]]
		assert [w["in"] for w in data["wheels"]] == [[1], [2], [], [0, 1, 2]], data
		assert [w["archs"] for w in data["wheels"]] == ["8.6", "9.0", None, None]
		assert [w["pythons"] for w in data["wheels"]] == [["3.11"], ["3.11"], None, None]
	END
}

@test "a full disk leaves the old index" {
	[ "$(id -u)" -eq 0 ] || cannot_run "mounting needs root"
	unshare -m true 2> /dev/null || cannot_run "no mount namespaces here"
	wheels w "$d86"
	wheels big "big 1.0 py3-none-any size=3000000"
	mkdir small
	# shellcheck disable=SC2016 # that shell's
	unshare -m bash -euc '
		mount -t tmpfs -o size=2m tmpfs small
		"$WHEELSMITH" publish w --to small/idx
		status=0
		"$WHEELSMITH" publish big --to small/idx 2> said || status=$?
		[ $status = 8 ]
		grep -q "No space left" said
		"$WHEELSMITH" publish --verify --to small/idx
		[ ! -e small/idx/files/big* ] && ! ls -d small/idx/.new-*'
}

@test "signed: by this key alone, checked, expired, changed, taken over" {
	wheels w "$d86"
	wheels v "$pure"
	publish 0 --new-key key
	publish 0 --new-key foreign
	publish 0 w --to idx --key key
	openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in idx/manifest.json -sigfile idx/manifest.json.sig
	publish 0 --verify --to idx --trust key.pub
	[[ $output == *"the signature holds"* ]]
	publish 8 --verify --to idx --trust foreign.pub
	[[ $output == *"is signed by another key"* ]]
	refused "is signed, and no key was given" v
	refused "is signed by another key" v --key foreign
	publish 0 w --to idx --key key
	[[ $output == *"nothing to do"* ]]
	publish 0 v --to idx --key foreign --trust key.pub
	publish 0 --verify --to idx --trust foreign.pub
	jq -e --arg key "$(openssl pkey -pubin -in foreign.pub -outform DER | tail -c 32 | sha256sum | cut -d' ' -f1)" \
		'.key == $key' idx/manifest.json
	valid idx/manifest.json
	# Somebody edits a page, and the manifest with it.
	local page=idx/current/all/simple/pure/index.html
	chmod u+w $page idx/current/manifest.json
	sed -i 's/pure/evil/' $page
	publish 8 --verify --to idx --trust foreign.pub
	[[ $output == *"all/simple/pure/index.html' is not what was published"* ]]
	sed -i "s/\"created\": \"2/\"created\": \"3/" idx/current/manifest.json
	publish 8 --verify --to idx --trust foreign.pub
	[[ $output == *"its manifest was changed"* ]]
}

@test "an index that is not what its signature covers is not signed again" {
	wheels w "$d86"
	wheels v "$pure"
	publish 0 --new-key key
	publish 0 w --to idx --key key
	cp -a idx edited
	chmod u+w edited/current/index.json
	sed -i "s/\"sha256\": \"./\"sha256\": \"0/" edited/current/index.json
	publish 8 v --to edited --key key
	[[ ${lines[0]} == *"index.json' is not the one that the manifest lists" ]]
	rm idx/current/manifest.json.sig
	publish 8 v --to idx --key key --trust key.pub
	[[ ${lines[0]} == *"'idx' is not signed" ]]
	# Also if the caller does not mention the signature.
	publish 8 v --to idx --key key
	[[ ${lines[0]} == "error: 'idx' is not signed: it never was, or somebody removed its signature" ]]
	[[ $output == *--sign-unsigned* ]]
	[ ! -e idx/current/manifest.json.sig ]
	publish 2 v --to idx --sign-unsigned
	publish 0 v --to idx --key key --sign-unsigned
	publish 0 --verify --to idx --trust key.pub
}

# After the printed command the index is whole again.
@test "a damaged list is refused with its cure, which heals the index" {
	local first last damage task
	wheels w "$d86"
	wheels v "$pure"
	publish 0 w --to idx
	first=$(readlink idx/current)
	publish 8 --verify --to idx/..
	[[ $output != *"roll back"* ]]
	cp -a idx one
	publish 0 v --to idx
	last=$(readlink idx/current)
	cp -a idx clean
	for damage in 'echo {} >' 'echo [ >' 'sed -i s/demo-1.0/demo-1,0/' 'sed -i s/86/90/' 'rm -f'; do
		for task in "v --to idx" "--verify --to idx"; do
			rm -rf idx && cp -a clean idx
			chmod u+w idx/index.json
			bash -c "$damage idx/$last/index.json"
			# shellcheck disable=SC2086 # words
			publish 8 $task
			echo "$damage: $output"
			[[ $output == *"roll back to '$first', whose lists hold, and remove 'idx/$last/'"*"then publish and yank again what came since"* ]]
			publish 0 --rollback "$first" --to idx
			rm -rf "idx/$last"
			publish 0 v --to idx
			publish 0 --verify --to idx
			[[ $output == *" 2 wheels "* ]]
		done
	done
	rm -rf idx && cp -a clean idx
	chmod u+w idx/manifest.json && echo '{}' > idx/manifest.json
	publish 8 v --to idx
	[[ $output == *"roll back to '$first'"* ]]
	# The only one there is.
	chmod u+w one/index.json && echo '{}' > one/index.json
	publish 8 v --to one
	[[ $output == *"no other snapshot holds: publish the wheels of 'one/files' to a new folder"* ]]
	publish 0 one/files v --to new
	publish 0 --verify --to new
	# A snapshot that is not current, after a rollback.
	rm -rf idx && cp -a clean idx
	publish 0 --rollback "$first" --to idx
	chmod u+w "idx/$last/index.json" && echo '{}' > "idx/$last/index.json"
	publish 8 --verify --to idx
	[[ $output == *"remove 'idx/$last', a snapshot that is not shown"* ]]
	sed 's/"binding": "[a-z]*"/"binding": "bond"/' "clean/$last/index.json" > "idx/$last/index.json"
	publish 8 --verify --to idx
	[[ $output == *"'bond' is not a value of 'binding'"*"remove 'idx/$last', a snapshot that is not shown"* ]]
	rm -rf "idx/$last"
	publish 0 v --to idx
	publish 0 --verify --to idx
}

@test "a page with other bytes of the same size is made again when it is removed, as --verify says" {
	wheels w "$d86"
	publish 0 w --to idx
	chmod u+w idx/all/simple/demo/index.html
	sed -i 's/demo/dema/' idx/all/simple/demo/index.html
	publish 8 --verify --to idx
	[[ $output == *"remove it and publish again: it is made anew"* ]]
	rm -f idx/all/simple/demo/index.html
	publish 0 w --to idx
	publish 0 --verify --to idx
}

@test "a folder that is not an index is not changed" {
	local task
	wheels w "$d86"
	mkdir empty
	for task in "NOSUCH --to none" "empty --to none" "--rollback @2026-11-21.1 --to none" "--yank x --reason y --to none" \
		"--title x --to none" "--variants --to none" "--rollback @2026-11-21.1 --to empty" "--unyank x --to empty"; do
		# shellcheck disable=SC2086 # words
		publish 8 $task
		[ ! -e none ] && [ -z "$(ls -A empty)" ]
	done
	[[ $output == "error: 'empty' is not an index: it has no snapshot" ]]
	publish 2 '' --to none
	[ "${lines[0]}" = "error: argument 1 is empty" ]
	publish 2 w --to ''
	[ "${lines[0]}" = "error: --to needs a value; '' is empty" ]
	[ ! -e none ]
	publish 0 w --to idx
	publish 0 --title '' --to idx
}

@test "a signature expires, and is made again in its second half" {
	command -v faketime > /dev/null || cannot_run "needs faketime (./dev setup)"
	wheels w "$d86"
	publish 0 --new-key key
	publish 0 w --to idx --key key --valid 10
	run -0 faketime '+4 days' "$WHEELSMITH" publish --to idx --key key --valid 10
	[[ $output == *"nothing to do"* ]]
	run -8 faketime '+11 days' "$WHEELSMITH" publish --verify --to idx --trust key.pub
	[[ $output == *"the signature of 'idx' expired at 2"* ]]
	run -0 faketime '+6 days' "$WHEELSMITH" publish --to idx --key key --valid 10
	run -0 faketime '+11 days' "$WHEELSMITH" publish --verify --to idx --trust key.pub
}

@test "verify finds what was changed, added or removed" {
	wheels w "$d86"
	publish 0 w --to idx
	cp -a idx clean
	local wheel
	wheel=$(basename w/*.whl)
	again() { rm -rf idx && cp -a clean idx; }
	chmod u+w idx/files/"$wheel" && printf x >> idx/files/"$wheel"
	publish 8 --verify --to idx
	[[ $output == *"$wheel' is not what was published"* ]]
	again
	chmod u+w idx/files/"$wheel.metadata" && printf x >> idx/files/"$wheel.metadata"
	publish 8 --verify --to idx
	[[ $output == *"$wheel.metadata' is not METADATA of"* ]]
	again
	mkdir idx/current/all/simple/evil && touch idx/current/all/simple/evil/index.html
	publish 8 --verify --to idx
	[[ $output == *"evil/index.html' was not put there by publishing"* ]]
	again
	rm idx/current/all/simple/index.json
	publish 8 --verify --to idx
	again
	rm idx/files/"$wheel"
	publish 8 --verify --to idx
}

# Each is found, publishing again moves it away, and then the index is what was published.
@test "a published wheel that is damaged or gone comes back with its next publishing" {
	wheels w "$d86"
	publish 0 w --to idx
	local wheel round
	wheel=$(basename w/*.whl)
	for round in longer gone metadata link bytes; do
		chmod -R u+w idx/files
		case $round in
			longer) printf x >> "idx/files/$wheel" ;;
			gone) rm "idx/files/$wheel" ;;
			metadata) rm "idx/files/$wheel.metadata" ;;
			link) mv "idx/files/$wheel" away.whl && ln -s ../../away.whl "idx/files/$wheel" ;;
			bytes) printf x | dd of="idx/files/$wheel" conv=notrunc status=none ;;
		esac
		publish 8 --verify --to idx
		[[ $round == link || $output == *"remove it and publish its wheel again"* ]]
		[ $round != bytes ] || rm "idx/files/$wheel"
		publish 0 w --to idx --json
		[ "$(jq .restored <<< "$output")" = 1 ]
		publish 0 --verify --to idx
		cmp w/*.whl "idx/files/$wheel"
		publish 0 w --to idx
		[[ $output == *"nothing to do"* ]]
	done
}

@test "a page that misleads installers is found, and publishing again repairs it" {
	wheels w "$d86"
	wheels evil "$d86 size=100"
	publish 0 w --to idx
	"$WHEELSMITH" publish evil --to other
	local snapshot wheel round
	snapshot=$(readlink idx/current)
	wheel=$(basename w/*.whl)
	for round in path path-folder page pinned new-path alias-outside beside beside-link page-file damaged gone; do
		case $round in
			path) ln -sfn ../other/all idx/all ;;
			path-folder) rm idx/all && cp -rL other/all idx/all ;;
			page) rm idx/index.html && echo evil > idx/index.html ;;
			pinned) ln -sfn ../../other/files "idx/$snapshot/files" ;;
			new-path) cp -rL other/all idx/cu130-torch2.11-sm90 ;;
			alias-outside) ln -s ../other/all idx/latest ;;
			beside) cp evil/*.whl "idx/files/${wheel/-cp311/-1-cp311}" ;;
			beside-link) ln -s "../../evil/$wheel" idx/files/evil-1.0-py3-none-any.whl ;;
			page-file) mkdir idx/current/all/simple/evil && echo evil > idx/current/all/simple/evil/index.html ;;
			damaged) chmod u+w idx/current/all/simple/index.html && echo evil >> idx/current/all/simple/index.html ;;
			gone) rm idx/current/all/simple/demo/index.json ;;
		esac
		publish 8 --verify --to idx
		[[ $output == *"was not put there by publishing"*"publish again"* || $round == damaged || $round == gone ]]
		publish 0 w --to idx
		[[ $output == *"moved to 'idx/.stray'"* || $round == damaged || $round == gone ]]
		publish 0 --verify --to idx
	done
	grep -rq evil idx/.stray
	# The owner's own.
	echo 'User-agent: *' > idx/robots.txt
	ln -s all idx/latest
	ln -s "$snapshot" idx/stable
	publish 0 --verify --to idx
	publish 0 w --to idx
	[[ $output == *"nothing to do"* && $output != *stray* ]]
	[ -e idx/robots.txt ] && [ -L idx/latest ] && [ -L idx/stable ]
	# Wheels of a snapshot that is not current stay.
	wheels v "$pure"
	snapshot=$(readlink idx/current)
	publish 0 v --to idx
	publish 0 --rollback "$snapshot" --to idx
	publish 0 --verify --to idx
	publish 0 w --to idx
	[ -e idx/files/pure-1.0-py3-none-any.whl ]
	# A file that no snapshot lists does not keep a wheel of its name out.
	wheels x "x 1.0 py3-none-any"
	echo evil > idx/files/x-1.0-py3-none-any.whl
	publish 0 x --to idx
	cmp x/*.whl idx/files/x-1.0-py3-none-any.whl
	publish 0 --verify --to idx
}

@test "killed at any moment, the index is the old one or the new one" {
	local i names=() kills=${WS_KILLS:-20}
	for ((i = 0; i <= kills; i++)); do
		names+=("p$i 1.0+cu.12.4.torch.2.5.sm.86 cp311-cp311-linux_x86_64 torch==2.5.* size=20000")
	done
	wheels w "${names[@]}"
	run -0 python3 "$WS_ROOT/tests/support/kill_publish.py" "$WHEELSMITH" w idx "$kills"
	publish 0 --verify --to idx
	[[ $output == *" $((kills + 1)) wheels"* ]]
	[ -z "$(find idx -maxdepth 1 -name '.new-*')" ]
}

@test "two publishers at once lose nothing" {
	local i pids=()
	for i in 1 2 3 4 5 6; do
		wheels "w$i" "p$i 1.0 py3-none-any size=50000"
	done
	for i in 1 2 3 4 5 6; do
		"$WHEELSMITH" publish "w$i" --to idx > /dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	jq -e '.wheels | length == 6' idx/index.json
	publish 0 --verify --to idx
	[ "$(find idx -maxdepth 1 -name '@*' | wc -l)" -eq 6 ]
}

@test "a restricted licence is reported, once" {
	wheels w "free 1.0 py3-none-any METADATA:License:_MIT" "nc 1.0 py3-none-any METADATA:License:_CC_BY-NC_4.0" \
		"kept 1.0 py3-none-any METADATA:Classifier:_License_::_Other/Proprietary_License" \
		"bsd 1.0 py3-none-any METADATA:License:_BSD-3-Clause,_all_rights_reserved"
	publish 0 w --to idx
	[ "$(grep -c "its licence restricts who may use it or hand it on" <<< "$output")" -eq 2 ]
	[[ $output == *"warning: 'nc-1.0-py3-none-any.whl': its licence restricts who may use it or hand it on: CC BY-NC 4.0"* ]]
	[[ $output == *"'kept-1.0-py3-none-any.whl': its licence restricts"*": License :: Other/Proprietary License"* ]]
	publish 0 w --to idx
	[[ $output != *licence* ]]
}

@test "the commands of docs/publish.md, Signed, in the order of the page" {
	wheels dist "$pure"
	publish 0 dist --to idx
	sed -n '/^## Signed/,/^## For/p' "$WS_ROOT/docs/publish.md" | sed -n '/^```$/,/^```$/{/^```/d;s/^\$ //;p}' > page
	[ "$(grep -c '^wheelsmith publish' page)" -eq 3 ]
	sed -e "s,^wheelsmith,'$WHEELSMITH'," -e 's,/srv/wheels,idx,g' page > commands
	cat commands
	bash -e commands
}
