#!/usr/bin/env bats
# fetch --bundle and build --bundle: all that a matrix needs in one file, for hosts without a network.
# labels: cuda
# timeout: 400

load building

setup_file() {
	make_base
	export BASE
	# Kits change the file's size, not what is said of it: most tests have one that names torch alone.
	cd "$BATS_FILE_TMPDIR" || return
	BATS_TEST_TMPDIR=$PWD in_place
	only_host
	"$WHEELSMITH" fetch --matrix m.json --bundle "$BATS_FILE_TMPDIR/tiny.bundle"
}

setup() {
	in_place
	only_host
	BUNDLE=$BATS_FILE_TMPDIR/tiny.bundle
	export WHEELSMITH_STORE=$PWD/empty
}

# In a namespace without any network, not even loopback.
apart() { # [-STATUS] ARGUMENTS
	local BELOW=(unshare -rn)
	ws "$@"
}

# The bundle, taken apart by PYTHON (members: name -> [info, bytes]) and put together again as ./edited.
edit() { # PYTHON
	zstd -qdf "$BUNDLE" -o b.tar
	python3 - "$1" <<- 'END'
		import hashlib, io, json, sys, tarfile
		old = tarfile.open("b.tar")
		members = {m.name: [m, old.extractfile(m).read() if m.isfile() else b""] for m in old}
		def head(change):
		    name = next(n for n in members if n.startswith("bundle/"))
		    value = json.loads(members[name][1])
		    change(value)
		    text = json.dumps(value).encode()
		    rest = {n: m for n, m in members.items() if n != name}
		    members.clear()
		    members[f"bundle/{hashlib.sha256(text).hexdigest()}.json"] = [tarfile.TarInfo(), text]
		    members.update(rest)
		def first(start):
		    return next(n for n in members if n.startswith(start))
		def renew(name):
		    """The tree with its members as they are now; its digest."""
		    sha256 = lambda data: hashlib.sha256(data).hexdigest()
		    old = first(f"trees/{name}-").split("/")[1]
		    parts = {n.split("/", 2)[2]: members[n] for n in members if n.startswith(f"trees/{old}/")}
		    lines = [f"l {i.linkname}\t{p}\n" if i.issym() else f"{'x' if i.mode & 64 else 'f'} {sha256(b)} {p}\n"
		             for p, (i, b) in sorted(parts.items(), key=lambda part: part[0].encode())]
		    digest = sha256("".join(lines).encode())
		    renamed = {n.replace(f"trees/{old}/", f"trees/{name}-{digest[:16]}/", 1): m for n, m in members.items()}
		    members.clear()
		    members.update(renamed)
		    def change(h):
		        next(t for t in h["trees"] if f"{t['name']}-{t['digest'][:16]}" == old)["digest"] = digest
		        if name == "bundle":
		            h["folder"] = digest
		    head(change)
		    return digest
		exec(sys.argv[1])
		with tarfile.open("edited.tar", "w", format=tarfile.PAX_FORMAT) as new:
		    for name, (info, text) in members.items():
		        info.name, info.size = name, len(text)
		        new.addfile(info, io.BytesIO(text))
	END
	zstd -qf edited.tar -o edited
}

refused() { # FILE WORDS
	rm -rf "$WHEELSMITH_STORE"
	apart -4 build --offline --bundle "$1"
	[[ "$stderr" == "error: "*"$2"* ]]
	[ ! -e dist ]
	# The entries of the store are unchanged, and it has no half-made file.
	[ -z "$(find "$WHEELSMITH_STORE/ac" "$WHEELSMITH_STORE/partial" -type f)" ]
}

@test "without a network, in another place and an empty store, the same bytes come out" {
	WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store build -0 --offline
	mkdir elsewhere
	cd elsewhere
	mv ../recipes ../gone
	apart -0 build --offline --bundle "$BUNDLE"
	cmp ../dist/*.whl dist/*.whl
	cmp ../dist/requirements.txt dist/requirements.txt
	# Again: all of it is in the store.
	apart -0 build --offline --bundle "$BUNDLE"
	[[ "$stderr" == "1 cell: 0 to build, 1 cached, 0 excluded"* ]]
	# And the matrix can be named, with its lock beside it.
	mv ../gone ../recipes
	cd ..
	rm -r dist "$WHEELSMITH_STORE"
	apart -0 build --offline --locked --matrix m.json --bundle "$BUNDLE"
	cmp dist/*.whl elsewhere/dist/*.whl
}

@test "the same selection gives the same file, whatever else the store has" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	build -0 --offline
	ws -0 fetch --matrix m.json --bundle again.bundle
	[[ "$stderr" == *"'again.bundle': "*"B, sha256 $(sha256sum < again.bundle | cut -d' ' -f1)" ]]
	cmp again.bundle "$BUNDLE"
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" <(zstd -qdc again.bundle | tar -xO --wildcards 'bundle/*')
}

@test "a bundle records its selection, and the reader uses it" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	other_package
	matrix m.json '"packages": ["tiny==1.0", "other==1.0"]'
	ws -0 fetch --matrix m.json --only 'other*' --policy build-only --bundle part.bundle
	export WHEELSMITH_STORE=$PWD/empty
	apart -0 build --offline --bundle part.bundle
	[ "$(basename dist/*.whl | cut -d- -f1)" = other ]
	# All of the matrix is more than it has.
	apart -3 build --offline --bundle part.bundle --matrix "$(echo "$PWD"/empty/trees/bundle-*/matrix.json)" --store third
	[[ "$stderr" == *"the source folder '"*"/recipes/tiny/src' does not exist"* ]]
}

@test "the policy is the one that held when it was written, not the reader's own" {
	mkdir -p "$HOME/.config/wheelsmith"
	echo '{"policy": "prebuilt-only"}' > "$HOME/.config/wheelsmith/config.json"
	apart -0 build --offline --bundle "$BUNDLE"
	[ "$(built '.cells[0].decision')" = build ]
}

@test "a version with an epoch is carried" {
	sed '/"version"/s/1\.0/1!2.0/' recipes/tiny/1.0.json > 'recipes/tiny/1!2.0.json'
	matrix m.json '"packages": ["tiny==1!2.0"]'
	WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store ws -0 fetch --matrix m.json --bundle epoch.bundle
	python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" \
		<(zstd -qdc epoch.bundle | tar -xO --wildcards 'bundle/*')
	apart -0 build --offline --bundle epoch.bundle
}

@test "a refused bundle does not change the trees of the store" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	edit 'head(lambda h: [t.update(digest=t["digest"][:16] + "0" * 48) for t in h["trees"] if t["name"].startswith("torch-")])'
	apart -4 build --offline --bundle edited
	[[ "$stderr" == "error: "*"these files are not 'torch-2.11.0-"* ]]
	build -0 --offline
}

@test "a bundle for a different selection: the build lists what is missing" {
	matrix other.json '"packages": ["tiny==1.0"], "cuda": ["12.4"], "torch": ["2.5.1"]'
	apart -4 build --offline --matrix other.json --kits archive --bundle "$BUNDLE"
	[[ "$stderr" == *"error: "*" downloads are missing, and this run is offline
       headers and libraries of torch: 2.5.1
       CUDA toolkits: 12.4"* ]]
}

@test "a prebuilt wheel that was accepted is in it, though its folder is not there" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	build --offline
	mkdir wheels
	mv dist/*.whl wheels/
	rm -r dist
	matrix m.json '"indexes": {"prebuilt": ["wheels"]}, "policy": "prebuilt-only"'
	ws -0 fetch --matrix m.json --bundle prebuilt.bundle
	[[ "$stderr" == *"1 prebuilt wheel is in the store"* ]]
	# No torch is needed to take it.
	[ "$(stat -c %s prebuilt.bundle)" -lt 100000 ]
	mv wheels gone
	mkdir elsewhere
	cd elsewhere
	export WHEELSMITH_STORE=$PWD/empty
	apart -0 build --offline --bundle ../prebuilt.bundle
	cmp dist/*.whl ../gone/*.whl
	[ "$(built '.cells[0].decision')" = prebuilt ]
}

@test "a truncated, edited or unrelated file is refused in one line and leaves no entry in the store" {
	head -c 1000 "$BUNDLE" > cut
	refused cut "'cut' is not a bundle of wheelsmith, or is cut"
	head -c $(($(stat -c %s "$BUNDLE") / 2)) "$BUNDLE" > cut
	refused cut "'cut' "
	: > nothing
	refused nothing "'nothing' is not a bundle of wheelsmith"
	echo text > text
	refused text "'text' is not a bundle of wheelsmith"
	tar -cf plain.tar m.json
	refused plain.tar "'plain.tar' is not a bundle of wheelsmith"
	edit 'members.popitem()'
	refused edited "these files are not 'torch-2.11.0-"
	edit 'for n in list(members): n.startswith("trees/bundle-") and members.pop(n)'
	refused edited "it lacks 'bundle-"
	edit 'members[first("trees/torch-")][1] += b"x"'
	refused edited "these files are not 'torch-2.11.0-"
	edit 'del members[first("trees/torch-")]'
	refused edited "these files are not 'torch-2.11.0-"
	edit 'members["trees/torch-2.11.0-0000000000000000/a"] = [tarfile.TarInfo(), b"x"]'
	refused edited "its list does not name 'trees/torch-2.11.0-0000000000000000/a'"
	local name
	for name in blobs texts; do
		edit "head(lambda h: h['blobs'].append('a' * 64)); members['$name'] = [tarfile.TarInfo(), b'x']"
		refused edited "its list does not name '$name'"
	done
	edit 'm = members[first("bundle/")]; m[1] = m[1].replace(b"bundle/1", b"bundle/2")'
	refused edited "its list is not '"
	edit 'head(lambda h: h.update(schema="wheelsmith.bundle/2"))'
	refused edited "'edited' has the schema 'wheelsmith.bundle/2', and this program reads wheelsmith.bundle/1"
	edit 'head(lambda h: h.update(schema="\x1b]0;x\x07\x9b31mred"))'
	refused edited "'edited' has the schema '?]0;x??31mred', and"
	edit 'members["texts/\x9b31mred"] = [tarfile.TarInfo(), b"x"]'
	refused edited "its list does not name 'texts/?31mred'"
	apart -5 build --offline --bundle missing
	[[ "$stderr" == "error: cannot open 'missing': No such file"* ]]
	apart -5 build --offline --bundle recipes
	[[ "$stderr" == "error: 'recipes' is a folder" ]]
}

@test "a pipe without a writer does not block, and a signal ends the wait for a matrix" {
	mkfifo pipe
	run -5 --separate-stderr timeout -k 1 20 "$WHEELSMITH" build --offline --bundle pipe
	[ "$stderr" = "error: 'pipe' is not a regular file" ]
	hears_signals "$WHEELSMITH" plan --matrix pipe &
	wait_for 20 waits_for_writer $!
	kill -INT $!
	local ended=0
	wait $! || ended=$?
	[ "$ended" -eq 130 ]
}

waits_for_writer() { # PID
	grep -q wait_for_partner "/proc/$1/wchan" || grep -q '^State:.S' "/proc/$1/status"
}

@test "the recorded selection is checked when the list is read" {
	local change
	while read -r change; do
		edit "head(lambda h: h.update(asked={**h['asked'], **$change}))"
		rm -rf "$WHEELSMITH_STORE"
		apart -4 build --offline --bundle edited
		[[ "$stderr" == "error: the bundle 'edited' cannot be used: asked.$(cut -d\" -f2 <<< "$change") "* ]]
		[ -z "$(find "$WHEELSMITH_STORE/cas" "$WHEELSMITH_STORE/trees" "$WHEELSMITH_STORE/ac" -type f)" ]
	done <<- 'END'
		{"policy": "whatever"}
		{"policy": 7}
		{"shard": "3/2"}
		{"shard": ["1/2"]}
		{"debug_info": "some"}
		{"kits": "none"}
		{"only": 1}
		{"only": ""}
		{"torch_window": "yes"}
	END
	edit "head(lambda h: h.update(asked=[]))"
	refused edited "the bundle 'edited' cannot be used: asked is not an object"
	# Errors that are only visible with the matrix.
	edit "head(lambda h: h.update(asked={**h['asked'], 'only': 'other*'}))"
	rm -rf "$WHEELSMITH_STORE"
	apart -2 build --offline --bundle edited
	[[ "$stderr" == "error: the bundle 'edited': no cell is called 'other*'"* ]]
}

@test "no name in it leads out of the store, and no result of a command comes in" {
	mkdir -p victim-0000000000000000
	touch victim-0000000000000000/kept
	edit 'head(lambda h: h["trees"].append({"name": "../../victim", "digest": "0" * 64}))'
	refused edited "a name or digest in its list is not allowed"
	edit 'head(lambda h: h["blobs"].append("../../../etc/passwd"))'
	refused edited "a name or digest in its list is not allowed"
	[ -e victim-0000000000000000/kept ]
	edit 'd = first("trees/torch-").split("/")[1]; members[f"trees/{d}/../../../x"] = [tarfile.TarInfo(), b"x"]'
	refused edited "breaks the archive rule 'name-path'"
	edit 'd = first("trees/torch-").split("/")[1]; link = tarfile.TarInfo(); link.type = tarfile.SYMTYPE
link.linkname = "../../../../x"; members[f"trees/{d}/include/evil"] = [link, b""]'
	refused edited "breaks the archive rule 'link'"
	[ -z "$(find . -name evil -o -name x)" ]
}

# The tiny package as an archive to download, with a patch.
patched_archive() {
	mkdir -p www/x/files
	serve www
	tar czf www/x/files/tiny-1.0.tar.gz -C recipes/tiny --transform 's/^src/tiny-1.0/' src
	export WHEELSMITH_INDEX=$INDEX
	printf '%s\n' '--- a/module.cpp' '+++ b/module.cpp' '@@ -3,1 +3,1 @@' \
		"-$(sed -n 3p recipes/tiny/src/module.cpp)" \
		"+$(sed -n 3p recipes/tiny/src/module.cpp | sed 's/PyLong_FromLong(42)/PyUnicode_FromString("patched")/')" \
		> recipes/tiny/answer.patch
	rm -r recipes/tiny/src
	recipe "import hashlib
sha256 = lambda path: hashlib.sha256(open(path, 'rb').read()).hexdigest()
r['source'] = [{'sdist': 'tiny-1.0.tar.gz', 'sha256': sha256('www/x/files/tiny-1.0.tar.gz')}]
r['patches'] = [{'file': 'answer.patch', 'sha256': sha256('recipes/tiny/answer.patch')}]"
}

is_patched() {
	python3 -m zipfile -e dist/tiny-*.whl opened
	grep -q patched opened/tiny/_C*.so
	not grep -q evil opened/tiny/_C*.so
	rm -r opened
}

@test "sources are those of the lock and are patched here: a bundle carries no results of definitions" {
	patched_archive
	WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store ws -0 fetch --matrix m.json --bundle patched.bundle
	# The sources once, before patches; the patch with its recipe.
	zstd -qdc patched.bundle | tar -t > names
	[ "$(grep -c '^trees/src-tiny.*/module.cpp$' names)" -eq 1 ]
	not grep -qvE '^(bundle|trees|blobs)/' names
	unserve
	apart -0 build --offline --bundle patched.bundle
	is_patched
	rm -r dist "$WHEELSMITH_STORE"
	apart -0 build --offline --locked --matrix m.json --bundle patched.bundle
	is_patched
	# Another recipe's sources are not those that the lock pins, though the archive is the same.
	rm -r dist "$WHEELSMITH_STORE"
	recipe 'r["source"][0]["strip"] = "tiny-1.0/src"'
	apart -4 build --offline --matrix m.json --bundle patched.bundle
	[[ "$stderr" == *"sources: tiny 1.0"* ]]
}

@test "a bundle with different sources is not used with the user's lock, and its entries are not trusted later" {
	patched_archive
	WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store ws -0 fetch --matrix m.json --bundle "$BATS_TEST_TMPDIR/b"
	# The bundle itself is consistent: its trees match its list, its lock pins them.
	BUNDLE=b edit 'old = first("trees/src-tiny").split("-")[-1].split("/")[0]
members[first("trees/src-tiny").rsplit("/", 1)[0] + "/kernel.cpp"][1] += b"extern \"C\" { int evil; }\n"
new = renew("src-tiny-1.0")
for n in members:
    if n.startswith("trees/bundle-") and n.endswith(".lock.json"):
        lock = json.loads(members[n][1])
        lock["sources"][0]["tree"] = new
        members[n][1] = json.dumps(lock).encode()
renew("bundle")'
	apart -4 build --offline --locked --matrix m.json --bundle edited
	[[ "$stderr" == *"sources: tiny 1.0"* ]]
	# Its own matrix it may build.
	apart -0 build --offline --bundle edited -o theirs
	python3 -m zipfile -e theirs/tiny-*.whl opened
	grep -q evil opened/tiny/_C*.so
	rm -r opened
	# Also with its trees and their results in the store, the sources still follow from the recipe.
	build -0 --locked
	[ "$(built '.cells[0].decision')" = build ]
	is_patched
	rm -r dist
	jq 'del(.sources)' m.lock.json > shorter && mv shorter m.lock.json
	build -0
	is_patched
}

@test "a bundle adds no remembered results to the store" {
	local key
	key=$(printf 'a%.0s' {1..64})
	edit "h = json.loads(members[first('bundle/')][1])
head(lambda h: h.update(texts=['$key']))
members['texts/$key'] = [tarfile.TarInfo(), f'wheelsmith.tree/1\n{h[\"folder\"]} bundle\n'.encode()]"
	refused edited "its list does not name 'texts/$key'"
}

@test "the export list of a torch that ships with none is found by the lock" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	mkdir -p www/x/files
	fake_torch www/x/files version=2.99.0 all=1
	serve www
	matrix m.json '"torch": ["2.99.0"]'
	WHEELSMITH_INDEX=$INDEX ws -0 fetch --matrix m.json --bundle listed.bundle
	unserve
	[ "$(jq -r '.exports[].torch' m.lock.json)" = 2.99.0 ]
	export WHEELSMITH_STORE=$PWD/empty
	apart -0 build --offline --locked --matrix m.json --bundle listed.bundle
	# A lock without that pin does not cover the list: then the bundle's own list must not decide.
	rm -r "$WHEELSMITH_STORE"
	jq 'del(.exports)' m.lock.json > shorter && mv shorter m.lock.json
	apart -4 build --offline --locked --matrix m.json --bundle listed.bundle
	[[ "$stderr" == *"export lists of torch: 2.99.0"* ]]
}

@test "two folders of recipes that would lie over each other are refused" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	mkdir -p more/tiny
	cp -r recipes/tiny/src more/tiny/
	sed '/"version"/s/1\.0/2.0/' recipes/tiny/1.0.json > more/tiny/2.0.json
	matrix m.json '"packages": ["tiny==1.0", "tiny==2.0"]'
	ws -0 fetch --matrix m.json --recipes more --bundle same.bundle
	echo 'more = True' >> more/tiny/src/tiny/__init__.py
	ws -3 fetch --matrix m.json --recipes more --bundle other.bundle
	[[ "$stderr" == *"'recipes/tiny/src/tiny/__init__.py'"* ]]
	[ ! -e other.bundle ]
}

@test "Ctrl-C while it is written leaves no half file" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	mkdir out recipes/tiny/src/large
	head -c 300000000 /dev/urandom | split -b 1000000 - recipes/tiny/src/large/
	hears_signals "$WHEELSMITH" fetch --matrix m.json --bundle out/b &
	wait_for 100 has_part out
	kill -INT $!
	local ended=0
	wait $! || ended=$?
	[ "$ended" -eq 130 ]
	[ -z "$(ls -A out)" ]
}

# A bundle whose one file takes a while to be read.
large() { # FILE
	python3 - "$1" <<- 'END'
		import hashlib, json, sys, tarfile
		text = json.dumps({"schema": "wheelsmith.bundle/1", "folder": "0" * 64, "asked": {}, "blobs": ["a" * 64],
		                   "trees": [{"name": "bundle", "digest": "0" * 64}]}).encode()
		name = f"bundle/{hashlib.sha256(text).hexdigest()}.json"
		with open(sys.argv[1], "wb") as out:
		    for name, size in ((name, len(text)), ("blobs/" + "a" * 64, 1 << 33)):
		        info = tarfile.TarInfo(name)
		        info.size = size
		        out.write(info.tobuf() + (text + bytes(-size % 512) if size < 1 << 20 else b""))
		    out.truncate(1 << 33)
	END
}

@test "Ctrl-C in the middle of a file that is read is heard" {
	large file
	hears_signals "$WHEELSMITH" build --offline --bundle file --store other &
	wait_for 100 grows other
	kill -INT $!
	local ended=0
	wait $! || ended=$?
	[ "$ended" -eq 130 ]
	[ -z "$(find other/partial -type f)" ]
}

grows() {
	[ -n "$(find "$1/partial" -name blob -size +1000k 2> /dev/null)" ]
}

has_part() {
	[ -n "$(find "$1" -name '.b.part-*')" ]
}

@test "a bundle is of a matrix, and of what it can carry" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	ws -2 fetch tiny==1.0 --torch $TORCH --arch 8.6 --recipes recipes --bundle b
	[[ "$stderr" == "error: --bundle needs --matrix FILE"* ]]
	cp -r recipes/tiny/src elsewhere
	recipe 'r["source"] = [{"folder": "../../elsewhere"}]'
	ws -3 fetch --matrix m.json --bundle b
	[[ "$stderr" == *"its source folder '$PWD/elsewhere' cannot be in a bundle: it is not below '$PWD/recipes/tiny'"* ]]
	in_place
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	ws -2 fetch --matrix m.json --bundle missing/b
	[ "$stderr" = "error: cannot write the bundle 'missing/b': no folder 'missing'" ]
	ws -2 fetch --matrix m.json --bundle m.json/b
	[[ "$stderr" == *"no folder 'm.json'"* ]]
	ws -2 fetch --matrix m.json --bundle ''
	[ "$stderr" = "error: --bundle needs a value; '' is empty" ]
	[ ! -e b ]
	[ -z "$(find . -name '.b.part-*')" ]
}

@test "only a bundle is written over: no folder, no file of the matrix, nothing that is not a file" {
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
	unchanged() { # FILE WORDS
		ws -2 fetch --matrix m.json --bundle "$1"
		[[ "$stderr" == *"error: '$1' $2"* ]]
	}
	ln -s recipes/tiny linked
	mkfifo pipe
	local before
	before=$(find . -path ./store -prune -o -type f -exec sha256sum {} +)
	unchanged . "is a folder, and a bundle is one file"
	unchanged linked "is a folder"
	unchanged pipe "is not a file"
	unchanged m.json "is not a bundle, and would be overwritten"
	unchanged recipes/tiny/1.0.json "is not a bundle, and would be overwritten"
	unchanged recipes/tiny/src/kernel.cpp "is not a bundle"
	unchanged m.lock.json "is not a bundle"
	sha256sum --quiet --check <<< "$before"
	# A bundle that this run creates.
	serve "$BASE/www"
	rm m.lock.json
	WHEELSMITH_INDEX=$INDEX unchanged m.lock.json "is not a bundle"
	unserve
	jq -e .torch m.lock.json
	# A bundle is replaced, also one that is cut, and so is an empty file.
	head -c 100000 "$BUNDLE" > b
	ws -0 fetch --matrix m.json --bundle b
	: > e
	ws -0 fetch --matrix m.json --bundle e
	cmp b e
}
