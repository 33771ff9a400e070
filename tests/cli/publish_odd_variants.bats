#!/usr/bin/env bats
# --variants of wheels that others packed, or packed again: what is inside stays what it is.

load publishing

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	wheels w "demo 1.0+cu.13.0.torch.2.11.sm.90 cp311-cp311-linux_x86_64 torch==2.11.*"
	whl=$PWD/w/demo-1.0+cu.13.0.torch.2.11.sm.90-cp311-cp311-linux_x86_64.whl
	variant=demo-1.0-cp311-cp311-linux_x86_64-cu13.0_torch2.11_sm90.whl
}

# The wheel after PYTHON has changed its members (name -> bytes), with a RECORD that is right.
edit() { # PYTHON
	python3 - "$whl" "$1" <<- 'END'
		import base64, hashlib, sys, zipfile
		old = zipfile.ZipFile(sys.argv[1])
		members = {n: old.read(n) for n in old.namelist()}
		info = "demo-1.0+cu.13.0.torch.2.11.sm.90.dist-info"
		unlisted, system, backwards = [], 3, False
		exec(sys.argv[2])
		record = members.pop(f"{info}/RECORD", b"") and f"{info}/RECORD"
		def line(name, data):
		    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
		    return f"{name},,\n" if name in unlisted else f"{name},sha256={digest},{len(data)}\n"
		members[record] = ("".join(line(*m) for m in members.items() if not m[0].endswith("/")) + f"{record},,\n").encode()
		with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as new:
		    for name, data in members.items():
		        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
		        entry.create_system = system
		        entry.external_attr = (0o40755 << 16 | 16 if name.endswith("/") else 0o100644 << 16) if system == 3 else 0
		        new.writestr(entry, data, zipfile.ZIP_STORED if name.endswith("/") else zipfile.ZIP_DEFLATED)
		    if backwards:
		        new.filelist.reverse()
	END
}

# The variant is published, its RECORD is right and lists all that it has, and it is unpacked in ./out.
sound() {
	run -0 "$WHEELSMITH" publish w --variants --to idx
	[[ $output == *"1 of them new"* ]]
	rm -rf out
	python3 - "idx/files/$variant" <<- 'END'
		import base64, csv, hashlib, io, sys, zipfile
		wheel = zipfile.ZipFile(sys.argv[1])
		names = wheel.namelist()
		assert len(names) == len(set(names)), names
		folder = [n for n in names if n.endswith(".dist-info/RECORD")]
		assert folder == ["demo-1.0.dist-info/RECORD"], folder
		rows = {r[0]: r for r in csv.reader(io.StringIO(wheel.read(folder[0]).decode()))}
		assert sorted(rows) == sorted(names), (rows, names)
		for name, digest, size in rows.values():
		    data = wheel.read(name)
		    right = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
		    assert name == folder[0] or (digest, int(size)) == (right, len(data)), name
		wheel.extractall("out")
	END
	run -0 "$WHEELSMITH" publish --verify --to idx
	cmp "idx/files/$variant.metadata" out/demo-1.0.dist-info/METADATA
	[ "$(grep -c '^Version' out/demo-1.0.dist-info/METADATA)" -eq 1 ]
	python3 - <<- 'END'
		import email
		assert email.message_from_file(open("out/demo-1.0.dist-info/METADATA"))["Version"] == "1.0"
	END
}

@test "a directory in another order than the files: each name keeps its bytes" {
	edit 'members["demo/other.py"] = b"other = 1\n"; backwards = True'
	sound
	grep -qx 'other = 1' out/demo/other.py
	grep -q print out/demo/__init__.py
}

@test "a name like RECORD's is a file; a signature of the old RECORD is left out" {
	edit 'members[f"{info}/RECORDS.txt"] = b"kept\n"; members[f"{info}/RECORD.jws"] = b"{}"; unlisted = [f"{info}/RECORD.jws"]'
	sound
	grep -qx kept out/demo-1.0.dist-info/RECORDS.txt
	[ ! -e out/demo-1.0.dist-info/RECORD.jws ]
}

@test "a variant.json that was there is replaced" {
	edit 'members[f"{info}/variant.json"] = b"{}"'
	sound
	grep -q cu13.0_torch2.11_sm90 out/demo-1.0.dist-info/variant.json
}

@test "no entries for folders, .data is kept, and modes of other systems become ours" {
	edit 'members = {"demo/": b"", **members}; members[info.replace("dist-info", "data/scripts/run")] = b"#!python\n"'
	sound
	[ -e out/demo-1.0.data/scripts/run ]
	rm -r idx
	edit 'system = 0; members.pop("demo/", 0)'
	sound
	[ -z "$(python3 -c 'import sys, zipfile
for i in zipfile.ZipFile(sys.argv[1]).infolist():
    if i.external_attr >> 16 != 0o100644: print(i.filename, oct(i.external_attr))' "idx/files/$variant")" ]
}

@test "a version that goes on in the next line, and one that only the description has" {
	edit 'members[f"{info}/METADATA"] = b"Metadata-Version: 2.1\r\nName: demo\r\nversion:\r\n " + info[5:-10].encode() + b"\r\nRequires-Dist: torch==2.11.*\r\n\r\nVersion notes\r\n"'
	run -0 "$WHEELSMITH" publish w --variants --to idx
	run -0 "$WHEELSMITH" publish --verify --to idx
	python3 - "idx/files/$variant.metadata" <<- 'END'
		import email, sys
		text = email.message_from_binary_file(open(sys.argv[1], "rb"))
		assert (text["Version"], text["Name"], text["Requires-Dist"]) == ("1.0", "demo", "torch==2.11.*"), text.items()
		assert text.get_payload() == "Version notes\n", text.get_payload()
	END
}

@test "a dist-info folder whose name has a dash" {
	rm -r w
	wheels w "de-mo 1.0+cu.13.0.torch.2.11.sm.90 cp311-cp311-linux_x86_64 torch==2.11.*"
	python3 - w/*.whl <<- 'END'
		import os, sys
		os.rename(sys.argv[1], sys.argv[1].replace("de-mo", "de_mo"))
	END
	run -0 "$WHEELSMITH" publish w --variants --to idx
	python3 -m zipfile -l "idx/files/de_$(echo "$variant" | cut -c3-)" > names
	grep -q '^de-mo-1.0.dist-info/METADATA ' names
	[ "$(grep -c dist-info names)" -eq "$(grep -c de-mo-1.0.dist-info names)" ]
}

@test "a label with more than the properties has no variant" {
	local tag=cp311-cp311-linux_x86_64
	wheels w "demo 1.0+cu.13.0.torch.2.11.sm.90.dbg.lines $tag torch==2.11.*" "demo 1.0+cu.13.0.torch.2.11.sm.90.mine $tag torch==2.11.*"
	run -0 "$WHEELSMITH" publish w --variants --to idx
	[ "$(ls idx/files/*_sm90.whl)" = "idx/files/$variant" ]
}

@test "beside a wheel of Python alone of the same version the list of variants is there" {
	wheels w "demo 1.0 py3-none-any"
	run -0 "$WHEELSMITH" publish w --variants --to idx
	[ "$(jq -r '.variants | keys[]' idx/variants/simple/demo/demo-1.0-variants.json)" = cu13.0_torch2.11_sm90 ]
	[ "$(grep -c '<a href' idx/variants/simple/demo/index.html)" -eq 3 ]
}

@test "no variant is made of a published wheel that was changed, or of an entry that cannot have one" {
	"$WHEELSMITH" publish w --to idx
	edit 'members["demo/__init__.py"] = b"evil = 1"'
	cp -f "$whl" idx/files/
	run -8 "$WHEELSMITH" publish --variants --to idx
	[[ $output == "error: '$(basename "$whl")' "*"is not what was published"* ]]
	[ ! -e "idx/files/$variant" ]
	rm -r idx
	"$WHEELSMITH" publish w --variants --to idx
	chmod -R u+w idx
	python3 - idx/@* <<- 'END'
		import hashlib, json, sys
		index, manifest = (f"{sys.argv[1]}/{n}.json" for n in ("index", "manifest"))
		text = open(index).read().replace('"forced": null', '"forced": "by hand"')
		old = hashlib.sha256(open(index, "rb").read()).hexdigest()
		open(index, "w").write(text)
		listed = open(manifest).read()
		assert old in listed
		open(manifest, "w").write(listed.replace(old, hashlib.sha256(text.encode()).hexdigest()))
	END
	wheels more "other 1.0+cu.13.0.torch.2.11.sm.90 cp311-cp311-linux_x86_64 torch==2.11.*"
	run -8 "$WHEELSMITH" publish more --to idx
	[[ $output == "error: "*"a variant that it cannot have"* ]]
}

@test "a variant is read-only, like every published wheel" {
	umask 002
	run -0 "$WHEELSMITH" publish w --variants --to idx
	[ -z "$(find idx/files -type f -perm /222)" ]
}

@test "a variant is yanked by its name, with the wheel that it was made of" {
	"$WHEELSMITH" publish w --variants --to idx
	run -0 "$WHEELSMITH" publish --to idx --yank "$variant" --reason "wrong answers"
	jq -e '.wheels | all(.yanked == "wrong answers")' idx/index.json
	jq -e --arg file "$variant" '.files[] | select(.filename == $file).yanked == "wrong answers"' idx/variants/simple/demo/index.json
}

@test "an index that names another file as a variant is not shown" {
	"$WHEELSMITH" publish w --variants --to idx
	chmod -R u+w idx
	cp -r idx sound
	wheels more "other 1.0+cu.13.0.torch.2.11.sm.90 cp311-cp311-linux_x86_64 torch==2.11.*"
	local name
	for name in x.whl ..; do
		rm -rf idx
		cp -r sound idx
		python3 - idx/@* "$variant" "$name" <<- 'END'
			import hashlib, sys
			index, manifest = (f"{sys.argv[1]}/{n}.json" for n in ("index", "manifest"))
			before = open(index).read()
			text = before.replace(f'"file": "{sys.argv[2]}"', f'"file": "{sys.argv[3]}"')
			assert text != before
			open(index, "w").write(text)
			sha256 = lambda text: hashlib.sha256(text.encode()).hexdigest()
			listed = open(manifest).read()
			open(manifest, "w").write(listed.replace(sha256(before), sha256(text)))
		END
		run -8 "$WHEELSMITH" publish more --to idx
		[[ $output == "error: 'idx' gives '$(basename "$whl")' a variant that it cannot have: '$name'" ]]
	done
}

@test "--variants is of what is published, not of what is only looked at" {
	"$WHEELSMITH" publish w --to idx
	run -2 "$WHEELSMITH" publish --verify --variants --to idx
	[[ $output == *"--verify and --rollback are separate tasks"* ]]
	run -2 "$WHEELSMITH" publish --rollback @2026-01-01.1 --variants --to idx
	[[ $output == *"--verify and --rollback are separate tasks"* ]]
}
